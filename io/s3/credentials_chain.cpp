#include "io/s3/credentials_chain.hpp"

#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "io/file/file.hpp"
#include "io/s3/credentials.hpp"

// The sources of credentials: each function returns credentials, or none when its source has none.

namespace ouzel::io {

std::string environment(const char* name) {
   const char* value = std::getenv(name);
   return value == nullptr ? "" : value;
}

std::string readToken(const std::string& path) {
   const File file(path, File::Mode::Read);
   std::string text(64 << 10, '\0');
   text.resize(file.readSome(text.data(), text.size(), 0));
   return std::string(trimBlanks(text));
}

HttpCall callTo(const std::string& url, const std::string& setting) {
   auto call = HttpCall::to(url);
   if (!call)
      throw SqlError(sqlstate::invalidParameterValue,
                     setting + " must be an address that begins with http:// or https://");
   return *std::move(call);
}

namespace {

constexpr int metadataTimeoutMs = 2000;

std::optional<Credentials> fromEnvironment() {
   Credentials result{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                      environment("AWS_SESSION_TOKEN")};
   if (result.accessKeyId.empty() || result.secretAccessKey.empty()) return std::nullopt;
   return result;
}

std::optional<Credentials> fromProfileFile() {
   std::string path = environment("AWS_SHARED_CREDENTIALS_FILE");
   if (path.empty()) path = environment("HOME") + "/.aws/credentials";
   if (!exists(path)) return std::nullopt;
   const File file(path, File::Mode::Read);
   std::string text(std::min<uint64_t>(file.size(), 1 << 20), '\0');
   file.readAt(text.data(), text.size(), 0);
   const std::string profile = environment("AWS_PROFILE");
   auto found = parseProfile(text, profile.empty() ? "default" : profile);
   if (!found && !profile.empty())
      throw SqlError(sqlstate::insufficientPrivilege,
                     "profile \"" + profile + "\" has no credentials in file \"" + path + "\"");
   return found;
}

Credentials roleCredentials(const HttpReply& reply, const char* whose) {
   auto result = reply.status == 200 ? parseRoleCredentials(reply.body) : std::nullopt;
   if (!result)
      throw SqlError(sqlstate::ioError, std::string("the ") + whose + " credentials' service answers with status " +
                                            std::to_string(reply.status) + " and no credentials");
   return *std::move(result);
}

std::optional<Credentials> fromContainer() {
   const std::string full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
   const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
   if (full.empty() && relative.empty()) return std::nullopt;
   HttpCall call = relative.empty()
                       ? callTo(full, "AWS_CONTAINER_CREDENTIALS_FULL_URI")
                       : callTo("http://169.254.170.2" + relative, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
   std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
   if (const std::string path = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !path.empty())
      token = readToken(path);
   if (!token.empty()) call.headers.emplace_back("authorization", token);
   return roleCredentials(callHttp(call, metadataTimeoutMs), "container's");
}

std::optional<Credentials> fromInstance() {
   if (environment("AWS_EC2_METADATA_DISABLED") == "true") return std::nullopt;
   std::string service = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
   if (service.empty()) service = "http://169.254.169.254";
   HttpCall call = callTo(service, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
   const std::string base = call.path == "/" ? "" : call.path;
   call.method = "PUT";
   call.path = base + "/latest/api/token";
   call.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
   HttpReply reply;
   try {
      reply = callHttp(call, metadataTimeoutMs);
   } catch (const SqlError&) {
      return std::nullopt; // no answer: not on an AWS instance
   }
   if (reply.status != 200) return std::nullopt;
   call.method = "GET";
   call.headers = {{"x-aws-ec2-metadata-token", std::string(trimBlanks(reply.body))}};
   call.path = base + "/latest/meta-data/iam/security-credentials/";
   reply = callHttp(call, metadataTimeoutMs);
   if (reply.status != 200) return std::nullopt; // the instance has no role
   const std::string_view role = trimBlanks(reply.body);
   call.path += role.substr(0, role.find('\n'));
   return roleCredentials(callHttp(call, metadataTimeoutMs), "instance's");
}

/// The string value of a key in a flat JSON object; empty when the key is absent.
std::string jsonString(std::string_view json, std::string_view key) {
   const std::string quoted = "\"" + std::string(key) + "\"";
   size_t at = json.find(quoted);
   if (at == std::string_view::npos) return {};
   std::string_view rest = trimBlanks(json.substr(at + quoted.size()));
   if (!rest.starts_with(':')) return {};
   rest = trimBlanks(rest.substr(1));
   if (!rest.starts_with('"')) return {};
   std::string result;
   for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"') return result;
      if (rest[i] == '\\' && ++i == rest.size()) return {};
      result += rest[i]; // keys and tokens are base64: the only escape is "\/"
   }
   return {};
}

} // namespace

std::optional<Credentials> parseProfile(std::string_view text, std::string_view profile) {
   Credentials result;
   bool isInside = false;
   while (!text.empty()) {
      const std::string_view rawLine = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), rawLine.size() + 1));
      const std::string_view line = trimBlanks(rawLine);
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      if (line.front() == '[') {
         const std::string_view name = trimBlanks(line.substr(1, line.find(']') - 1));
         isInside = name == profile;
         continue;
      }
      const size_t equals = line.find('=');
      if (!isInside || equals == std::string_view::npos) continue;
      const std::string_view key = trimBlanks(line.substr(0, equals)), value = trimBlanks(line.substr(equals + 1));
      if (key == "aws_access_key_id") result.accessKeyId = value;
      if (key == "aws_secret_access_key") result.secretAccessKey = value;
      if (key == "aws_session_token") result.sessionToken = value;
   }
   if (result.accessKeyId.empty() || result.secretAccessKey.empty()) return std::nullopt;
   return result;
}

std::optional<Credentials> parseRoleCredentials(std::string_view json) {
   Credentials result{jsonString(json, "AccessKeyId"), jsonString(json, "SecretAccessKey"), jsonString(json, "Token")};
   if (!result.isPlausible()) return std::nullopt;
   if (const std::string expiration = jsonString(json, "Expiration"); !expiration.empty()) {
      result.expiresAt = parseIsoTime(expiration);
      if (result.expiresAt < 0) return std::nullopt;
   }
   return result;
}

Credentials findCredentials() {
   for (const auto place : {fromEnvironment, fromWebIdentity, fromProfileFile, fromContainer, fromInstance})
      if (auto found = place()) return *std::move(found);
   throw SqlError(sqlstate::insufficientPrivilege, "no credentials for the object store were found")
       .hint("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role.");
}

} // namespace ouzel::io
