#pragma once
// Opens the fake backend of the protocol tests for the server.
#include "server/session_factory.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

namespace ouzel::server {

class FakeFactory : public SessionFactory {
public:
   std::string passwordVerifier(const std::string&) override { return verifier; }
   bool isPasswordExpired(const std::string&) override { return false; }
   bool isSuperuser(const std::string&) override { return true; }
   bool isMember(const std::string& user, const std::string& role) override { return user == role; }
   std::unique_ptr<Backend> open(const protocol::StartupRequest&, const ClientInfo&, NoticeSink& notices) override {
      return std::make_unique<protocol::test::FakeBackend>(notices);
   }
   std::string verifier;
   MemoryLedger& ledger() override { return ledger_; }
   void setSessionControl(SessionControl* control) override { sessionControl = control; }

   std::atomic<SessionControl*> sessionControl{nullptr};
   MemoryLedger ledger_{SIZE_MAX};
};

} // namespace ouzel::server
