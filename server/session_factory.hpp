#pragma once
#include <memory>
#include <string>

#include "common/client/endpoints.hpp"
#include "common/client/session_control.hpp"
#include "common/log/session.hpp"
#include "common/memory/ledger.hpp"
#include "protocol/doorkeeper.hpp"

namespace ouzel::server {

struct ClientInfo {
   Endpoints endpoints;
   int32_t processId = 0;
   LogSession* log = nullptr; ///< of the connection, which outlives the session
};

/// The server's interface to a database: main() passes the engine's, tests a small fake. Thread-safe.
class SessionFactory {
public:
   virtual ~SessionFactory() = default;
   /// SCRAM verifier from the catalog; empty when the role has none. Throws 28000 when there is no such role.
   virtual std::string passwordVerifier(const std::string& user) = 0;
   /// Whether VALID UNTIL ended the role's password. False also when there is no such role.
   virtual bool isPasswordExpired(const std::string& user) = 0;
   /// False also when there is no such role.
   virtual bool isSuperuser(const std::string& user) = 0;
   /// Whether `user` is `role` or its member; superusers are not thereby members. False also when there is no such
   /// role.
   virtual bool isMember(const std::string& user, const std::string& role) = 0;
   virtual std::unique_ptr<Backend> open(const protocol::StartupRequest& request, const ClientInfo& client,
                                         NoticeSink& notices) = 0;
   /// The account to which the input of connections is charged.
   virtual MemoryLedger& ledger() = 0;
   /// What sessions call to end statements and sessions of others. Null, before the server ends: nothing any more.
   virtual void setSessionControl(SessionControl* control) = 0;
};

} // namespace ouzel::server
