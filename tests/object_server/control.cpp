#include "tests/object_server/control.hpp"

#include <ctime>
#include <stdexcept>

#include "tests/object_server/digest.hpp"

namespace ouzel::object_server {

namespace {

constexpr const char* metadataToken = "metadata-token";
constexpr const char* rolePath = "/latest/meta-data/iam/security-credentials/";

HttpResponse plain(int status, std::string text, const char* type = "text/plain") {
   HttpResponse response;
   response.status = status;
   response.headers = {{"Content-Type", type}};
   response.body = std::move(text);
   return response;
}

} // namespace

class ControlExchange final : public Exchange {
public:
   ControlExchange(ControlService& service, HttpRequest request) : service_(service), request_(std::move(request)) {}
   void consume(std::string_view) override {}
   void finish(Responder respond) override { respond(service_.answer(request_)); }
   const char* kind() const override { return "Control"; }

private:
   ControlService& service_;
   HttpRequest request_;
};

bool ControlService::isControl(const HttpRequest& request) {
   return request.path == "/_control" || request.path == "/latest/api/token" ||
          request.path.starts_with("/latest/meta-data/") || request.path == "/_credentials";
}

std::unique_ptr<Exchange> ControlService::begin(const HttpRequest& request) {
   return std::make_unique<ControlExchange>(*this, request);
}

HttpResponse ControlService::answer(const HttpRequest& request) {
   if (request.path != "/_control") return answerMetadata(request);
   if (request.method == "POST") {
      try {
         Settings changed = settings_;
         bool isReset = false;
         for (const auto& [name, value] : request.query)
            if (name == "reset")
               isReset = true;
            else
               changed.set(name, value);
         isReset |= changed.faults.seed != settings_.faults.seed;
         settings_ = changed;
         if (isReset) {
            counters_.reset();
            faults_.reset();
            credentials_.resetCounts();
         }
      } catch (const std::invalid_argument& error) {
         return plain(400, std::string(error.what()) + "\n");
      }
   }
   counters_.expired = credentials_.expiredCount();
   return plain(200, "{\"settings\": " + settings_.json() + ",\n \"counters\": " + counters_.json() + "}\n",
                "application/json");
}

/// Credentials of their own for each who asks.
std::string ControlService::mintCredentials() {
   const int64_t end = time(nullptr) + role_.seconds;
   const std::string number = std::to_string(++minted_);
   const std::string secret = toHex(Digest::of("xxh128", "secret" + number + std::to_string(end)));
   const std::string token = toHex(Digest::of("xxh128", "token" + number + std::to_string(end)));
   const std::string key = "ASIA" + toHex(Digest::of("xxh128", number)).substr(0, 16);
   credentials_.add(key, secret, token, end);
   std::string date = isoDate(end);
   return "{\"Code\": \"Success\", \"Type\": \"AWS-HMAC\", \"LastUpdated\": \"" + isoDate(time(nullptr)) +
          "\", \"AccessKeyId\": \"" + key + "\", \"SecretAccessKey\": \"" + secret + "\", \"Token\": \"" + token +
          "\", \"Expiration\": \"" + date.replace(date.find('.'), 4, "") + "\"}";
}

/// Version 2 of the instance metadata service, which wants its token with each question; and, without a token, the
/// credentials of a container at /_credentials.
HttpResponse ControlService::answerMetadata(const HttpRequest& request) {
   if (role_.name.empty()) return plain(404, "no role: see --instance-role\n");
   if (request.path == "/_credentials") return plain(200, mintCredentials(), "application/json");
   if (request.path == "/latest/api/token")
      return request.method == "PUT" && request.header("x-aws-ec2-metadata-token-ttl-seconds")
                 ? plain(200, metadataToken)
                 : plain(400, "");
   if (request.headerOr("x-aws-ec2-metadata-token") != metadataToken) return plain(401, "");
   const std::string role = std::string(rolePath) + role_.name;
   if (request.path == role) return plain(200, mintCredentials(), "application/json");
   if (request.path + "/" == rolePath || request.path == rolePath) return plain(200, role_.name);
   return plain(404, "");
}

} // namespace ouzel::object_server
