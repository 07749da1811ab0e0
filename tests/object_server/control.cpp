#include "tests/object_server/control.hpp"

#include <ctime>
#include <map>
#include <stdexcept>

#include "tests/object_server/digest.hpp"
#include "tests/object_server/s3_error.hpp"

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
   void consume(std::string_view bytes) override { body_ += bytes; }
   void finish(Responder respond) override { respond(service_.answer(request_, body_)); }
   const char* kind() const override { return "Control"; }

private:
   ControlService& service_;
   HttpRequest request_;
   std::string body_;
};

namespace {
/// No request of S3 is a POST without bucket and query.
bool isSts(const HttpRequest& request) {
   return request.method == "POST" && request.target == "/";
}
} // namespace

bool ControlService::isControl(const HttpRequest& request) {
   return request.path == "/_control" || request.path == "/latest/api/token" ||
          request.path.starts_with("/latest/meta-data/") || request.path == "/_credentials" || isSts(request);
}

std::unique_ptr<Exchange> ControlService::begin(const HttpRequest& request) {
   return std::make_unique<ControlExchange>(*this, request);
}

HttpResponse ControlService::answer(const HttpRequest& request, std::string_view body) {
   if (isSts(request)) return answerSts(body);
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

/// Makes new credentials for each request.
ControlService::Minted ControlService::mintCredentials() {
   const int64_t end = time(nullptr) + role_.seconds;
   const std::string number = std::to_string(++minted_);
   const std::string secret = toHex(Digest::of("xxh128", "secret" + number + std::to_string(end)));
   const std::string token = toHex(Digest::of("xxh128", "token" + number + std::to_string(end)));
   const std::string key = "ASIA" + toHex(Digest::of("xxh128", number)).substr(0, 16);
   credentials_.add(key, secret, token, end);
   std::string date = isoDate(end);
   return {key, secret, token, date.replace(date.find('.'), 4, "")};
}

/// Answers AssumeRoleWithWebIdentity, for any role whose ARN ends in the name of --instance-role.
HttpResponse ControlService::answerSts(std::string_view form) {
   std::map<std::string, std::string> fields;
   for (auto& [name, value] : parseQuery(form))
      fields[name] = value;
   const auto refuse = [](int status, const char* code, const char* message) {
      return plain(status,
                   "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type>" +
                       xmlElement("Code", code) + xmlElement("Message", message) +
                       "</Error><RequestId>1</RequestId></ErrorResponse>",
                   "text/xml");
   };
   if (fields["Action"] != "AssumeRoleWithWebIdentity" || fields["Version"] != "2011-06-15")
      return refuse(400, "InvalidAction", "Could not find operation for this version");
   if (fields["RoleSessionName"].size() < 2) return refuse(400, "ValidationError", "roleSessionName is too short");
   if (role_.name.empty() || !fields["RoleArn"].ends_with("/" + role_.name))
      return refuse(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
   if (settings_.webIdentity.empty() || fields["WebIdentityToken"] != settings_.webIdentity)
      return refuse(400, "InvalidIdentityToken", "The ID Token provided is not a valid JWT.");
   const Minted minted = mintCredentials();
   return plain(200,
                "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n"
                "<AssumeRoleWithWebIdentityResult>\n" +
                    xmlElement("Audience", "sts.amazonaws.com") + "<AssumedRoleUser>" +
                    xmlElement("Arn", fields["RoleArn"]) + "</AssumedRoleUser>\n<Credentials>" +
                    xmlElement("AccessKeyId", minted.key) + xmlElement("SecretAccessKey", minted.secret) +
                    xmlElement("SessionToken", minted.token) + xmlElement("Expiration", minted.end) +
                    "</Credentials>\n</AssumeRoleWithWebIdentityResult>\n"
                    "<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>"
                    "</AssumeRoleWithWebIdentityResponse>",
                "text/xml");
}

/// Answers as version 2 of the instance metadata service, which requires its token in each request, and as the
/// credentials service of a container at /_credentials, without a token.
HttpResponse ControlService::answerMetadata(const HttpRequest& request) {
   if (role_.name.empty()) return plain(404, "no role: see --instance-role\n");
   const auto credentials = [this] {
      const Minted minted = mintCredentials();
      return plain(200,
                   "{\"Code\": \"Success\", \"Type\": \"AWS-HMAC\", \"LastUpdated\": \"" + isoDate(time(nullptr)) +
                       "\", \"AccessKeyId\": \"" + minted.key + "\", \"SecretAccessKey\": \"" + minted.secret +
                       "\", \"Token\": \"" + minted.token + "\", \"Expiration\": \"" + minted.end + "\"}",
                   "application/json");
   };
   if (request.path == "/_credentials") return credentials();
   if (request.path == "/latest/api/token")
      return request.method == "PUT" && request.header("x-aws-ec2-metadata-token-ttl-seconds")
                 ? plain(200, metadataToken)
                 : plain(400, "");
   if (request.headerOr("x-aws-ec2-metadata-token") != metadataToken) return plain(401, "");
   const std::string role = std::string(rolePath) + role_.name;
   if (request.path == role) return credentials();
   if (request.path + "/" == rolePath || request.path == rolePath) return plain(200, role_.name);
   return plain(404, "");
}

} // namespace ouzel::object_server
