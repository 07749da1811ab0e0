#pragma once
// The control URL, /_control. GET returns settings and counters as JSON; POST /_control?name=value&... changes
// settings; reset=1 also sets the counters to zero and restarts the faults. With --instance-role the service also
// answers as the metadata service of a cloud's machine (a token, and credentials that expire) and as STS
// (AssumeRoleWithWebIdentity, POST /).
#include <functional>
#include <string>

#include "tests/object_server/counters.hpp"
#include "tests/object_server/credentials.hpp"
#include "tests/object_server/service.hpp"
#include "tests/object_server/settings.hpp"

namespace ouzel::object_server {

class ControlService final : public Service {
public:
   struct Role {
      std::string name; ///< empty: no metadata service
      int64_t seconds = 900;
   };
   ControlService(Settings& settings, Counters& counters, FaultPlan& faults, Credentials& credentials, Role role)
      : settings_(settings), counters_(counters), faults_(faults), credentials_(credentials), role_(std::move(role)) {}
   std::unique_ptr<Exchange> begin(const HttpRequest& request) override;
   static bool isControl(const HttpRequest& request);

private:
   friend class ControlExchange;
   /// Credentials that expire after the role's seconds.
   struct Minted {
      std::string key, secret, token, end;
   };
   HttpResponse answer(const HttpRequest& request, std::string_view body);
   HttpResponse answerMetadata(const HttpRequest& request);
   HttpResponse answerSts(std::string_view form);
   Minted mintCredentials();

   Settings& settings_;
   Counters& counters_;
   FaultPlan& faults_;
   Credentials& credentials_;
   const Role role_;
   uint64_t minted_ = 0;
};

} // namespace ouzel::object_server
