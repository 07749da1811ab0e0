#include "common/error/sql_error.hpp"
#include "io/s3/answers.hpp"
#include "io/s3/credentials_chain.hpp"
#include "io/s3/s3_location.hpp"

// Credentials of a role for a web identity. An identity provider other than AWS issues a token: on EKS the kubelet
// writes one for the pod's service account to a file and replaces it before it expires. STS exchanges the token for
// credentials by AssumeRoleWithWebIdentity, a request without a signature.

namespace ouzel::io {

namespace {

constexpr int stsTimeoutMs = 5000;
constexpr size_t messageSizeMax = 300;

HttpCall callToSts() {
   for (const char* name : {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"})
      if (const std::string url = environment(name); !url.empty()) return callTo(url, name);
   for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
      const std::string region = environment(name);
      if (region.empty()) continue;
      if (!isRegionName(region))
         throw SqlError(sqlstate::invalidParameterValue, std::string(name) + " is not the name of a region");
      return callTo("https://" + awsHost("sts", region), name);
   }
   return callTo("https://sts.amazonaws.com", "");
}

std::string readIdentity(const std::string& path) {
   std::string token;
   try {
      token = readToken(path);
   } catch (const SqlError& error) {
      throw SqlError(error.state(), std::string("could not read AWS_WEB_IDENTITY_TOKEN_FILE: ") + error.what());
   }
   if (token.empty())
      throw SqlError(sqlstate::ioError, "file \"" + path + "\" of AWS_WEB_IDENTITY_TOKEN_FILE has no token");
   return token;
}

/// Whether STS refuses for good, until a setting is changed. Overload, time-outs and an unreachable identity provider
/// are not refusals.
bool isRefusal(int status, const std::string& code) {
   return status >= 400 && status < 500 && status != 408 && status != 429 && code != "IDPCommunicationError" &&
          code.find("Throttl") == std::string::npos;
}

/// Parses STS's reply or throws its error. `what` names role and endpoint for messages.
Credentials credentialsOf(const HttpReply& reply, const std::string& what) {
   if (reply.status == 200)
      if (auto result = parseAssumedRole(reply.body)) return *std::move(result);
   const auto error = parseStsError(reply.body);
   if (!error)
      throw SqlError(sqlstate::ioError,
                     what + ": the answer with status " + std::to_string(reply.status) + " has no credentials");
   throw SqlError(isRefusal(reply.status, error->code) ? sqlstate::insufficientPrivilege : sqlstate::ioError,
                  what + ": " + error->code.substr(0, messageSizeMax) + ": " +
                      error->message.substr(0, messageSizeMax));
}

} // namespace

std::optional<Credentials> fromWebIdentity() {
   const std::string path = environment("AWS_WEB_IDENTITY_TOKEN_FILE"), role = environment("AWS_ROLE_ARN");
   if (path.empty()) return std::nullopt;
   if (role.empty())
      throw SqlError(sqlstate::insufficientPrivilege, "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
   std::string session = environment("AWS_ROLE_SESSION_NAME");
   if (session.empty()) session = "ouzel";

   HttpCall call = callToSts();
   call.method = "POST";
   call.headers = {{"accept", "application/xml"}, {"content-type", "application/x-www-form-urlencoded"}};
   call.body = "Action=AssumeRoleWithWebIdentity&DurationSeconds=3600&RoleArn=" + percentEncode(role) +
               "&RoleSessionName=" + percentEncode(session) +
               "&Version=2011-06-15&WebIdentityToken=" + percentEncode(readIdentity(path));
   const std::string what = "could not assume role \"" + role + "\" by web identity at " + call.displayServer();
   HttpReply reply;
   try {
      reply = callHttp(call, stsTimeoutMs);
   } catch (const SqlError& error) {
      throw SqlError(error.state(), what + ": " + error.what());
   }
   return credentialsOf(reply, what);
}

} // namespace ouzel::io
