#pragma once
#include "engine/core/database.hpp"
#include "engine/core/session.hpp"
#include "server/session_factory.hpp"

namespace ouzel::server {

/// Opens sessions of the engine's database. Thread-safe. The database outlives the factory and its sessions.
class EngineFactory final : public SessionFactory {
public:
   explicit EngineFactory(engine::Database& database) : database_(database) {}

   std::string passwordVerifier(const std::string& user) override { return database_.passwordVerifier(user); }
   bool isPasswordExpired(const std::string& user) override { return database_.isPasswordExpired(user); }
   bool isSuperuser(const std::string& user) override { return database_.isSuperuser(user); }
   bool isMember(const std::string& user, const std::string& role) override { return database_.isMember(user, role); }
   std::unique_ptr<Backend> open(const protocol::StartupRequest& request, const ClientInfo& client,
                                 NoticeSink& notices) override {
      return engine::openSession(
          database_, {request.user, request.database, request.settings, client.processId, client.endpoints, client.log},
          notices);
   }
   MemoryLedger& ledger() override { return database_.ledger(); }
   void setSessionControl(SessionControl* control) override { database_.setSessionControl(control); }

private:
   engine::Database& database_;
};

} // namespace ouzel::server
