#pragma once
#include "server/session_factory.hpp"
#include "server/statement_counters.hpp"

namespace ouzel::engine {
class Database;
}

namespace ouzel::server {

/// Makes sessions of the engine's database. Thread-safe. The database outlives the factory and its sessions.
class EngineFactory : public SessionFactory {
public:
   explicit EngineFactory(engine::Database& database) : database_(database) {}

   std::string passwordVerifier(const std::string& user) override;
   std::unique_ptr<protocol::Backend> open(const protocol::StartupRequest& request, const ClientInfo& client,
                                           protocol::ClientVoice& voice) override;
   const StatementCounters& counters() const { return counters_; }

private:
   engine::Database& database_;
   StatementCounters counters_;
};

} // namespace ouzel::server
