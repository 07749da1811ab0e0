#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "common/error/sql_error.hpp"
#include "io/s3/s3_store.hpp"
#include "tests/unit/io/s3/client.hpp"
#include "tests/unit/io/s3/object_server.hpp"
#include "tests/unit/io/s3/parrot.hpp"

// Roles by web identity, with tests/object_server as STS and as the store.

using namespace ouzel;
using namespace ouzel::io;

namespace {

/// Sets variables of the environment; the destructor restores them.
class Environment {
public:
   ~Environment() {
      for (auto change = changes_.rbegin(); change != changes_.rend(); ++change)
         apply(change->first, change->second);
   }
   void set(const std::string& name, const std::optional<std::string>& value) {
      const char* before = std::getenv(name.c_str());
      changes_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
      apply(name, value);
   }

private:
   static void apply(const std::string& name, const std::optional<std::string>& value) {
      if (value)
         ::setenv(name.c_str(), value->c_str(), 1);
      else
         ::unsetenv(name.c_str());
   }
   std::vector<std::pair<std::string, std::optional<std::string>>> changes_;
};

/// The environment of a pod on EKS: a token in a file, and the role. A profile, which comes later in the order, has
/// credentials that every server of this test refuses.
class Pod {
public:
   explicit Pod(const std::string& sts) {
      CATCH_REQUIRE(::mkdtemp(directory_.data()) != nullptr);
      std::ofstream(path("profile")) << "[default]\naws_access_key_id=stranger\naws_secret_access_key=x\n";
      rotate("token-1");
      for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ROLE_SESSION_NAME",
                               "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"})
         environment.set(name, std::nullopt);
      environment.set("AWS_SHARED_CREDENTIALS_FILE", path("profile"));
      environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", path("token"));
      environment.set("AWS_ROLE_ARN", role);
      environment.set("AWS_ENDPOINT_URL_STS", sts);
   }
   ~Pod() { std::filesystem::remove_all(directory_); }
   Pod(const Pod&) = delete;

   /// Replaces the token atomically, as the kubelet does.
   void rotate(const std::string& token) const {
      std::ofstream(path("token.new")) << token << "\n";
      std::filesystem::rename(path("token.new"), path("token"));
   }
   std::string path(const std::string& name) const { return directory_ + "/" + name; }

   static constexpr const char* role = "arn:aws:iam::123456789012:role/worker";
   Environment environment;

private:
   std::string directory_ = (std::filesystem::temp_directory_path() / "ouzel-pod-XXXXXX").string();
};

std::string addressOf(const ObjectServer& server, const std::string& scheme = "http",
                      const std::string& host = "127.0.0.1") {
   return scheme + "://" + host + ":" + std::to_string(server.port());
}

std::vector<std::string> serverOptions(std::vector<std::string> more = {}) {
   more.insert(more.end(), {"--credentials", "nobody:else", "--instance-role", "worker", "--role-seconds", "3600",
                            "--web-identity", "token-1"});
   return more;
}

std::string failureToFind() {
   return failureOf([] { findCredentials(); });
}

bool has(const std::string& text, std::string_view part) {
   return text.find(part) != std::string::npos;
}

} // namespace

CATCH_TEST_CASE("a role by web identity is fetched and renewed, and its token read anew") {
   const ObjectServer server(serverOptions());
   Pod pod(addressOf(server));
   std::atomic<int> fetched{0};
   S3Store store(
       S3Location::parse(server.url()),
       [&] {
          ++fetched;
          return findCredentials();
       },
       eager());
   CATCH_CHECK(store.put("x", "1"));
   server.set("expire_after=10");
   for (int i = 0; i < 30; ++i)
      CATCH_CHECK(store.get("x") == "1");
   CATCH_CHECK(fetched >= 3);

   pod.rotate("token-2");
   server.set("web_identity=token-2");
   const int before = fetched;
   for (int i = 0; i < 30; ++i)
      CATCH_CHECK(store.get("x") == "1");
   CATCH_CHECK(fetched >= before + 2);
   server.set("expire_after=0");

   server.set("web_identity=token-3");
   CATCH_CHECK(failureToFind().starts_with("42501"));
   CATCH_CHECK(store.get("x") == "1"); // the store's credentials are valid for the rest of the hour

   pod.environment.set("AWS_ACCESS_KEY_ID", "key");
   pod.environment.set("AWS_SECRET_ACCESS_KEY", "secret");
   CATCH_CHECK(findCredentials().accessKeyId == "key");
}

CATCH_TEST_CASE("what STS refuses is told, and the token is not") {
   const ObjectServer server(serverOptions());
   Pod pod(addressOf(server));
   const std::string tried =
       "could not assume role \"" + std::string(Pod::role) + "\" by web identity at " + addressOf(server);
   CATCH_CHECK(findCredentials().accessKeyId.starts_with("ASIA"));
   CATCH_CHECK(findCredentials().expiresAt > 0);
   // A token with any characters stays one field of the form.
   for (const char* token : {"token-0", "token-1&WebIdentityToken=x", "token 1", "\xc3\xa4+%41\r\nHost: x"}) {
      pod.rotate(token);
      CATCH_CHECK(failureToFind() ==
                  "42501 " + tried + ": InvalidIdentityToken: The ID Token provided is not a valid JWT.");
   }
   pod.rotate("token-1");
   pod.environment.set("AWS_ROLE_SESSION_NAME", "x");
   CATCH_CHECK(has(failureToFind(), ": ValidationError: "));
   pod.environment.set("AWS_ROLE_SESSION_NAME", "session of mine");
   CATCH_CHECK(failureToFind().empty());
   pod.environment.set("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/other");
   CATCH_CHECK(failureToFind().starts_with("42501 could not assume role \"arn:aws:iam::123456789012:role/other\""));
   CATCH_CHECK(has(failureToFind(), ": AccessDenied: "));
}

CATCH_TEST_CASE("a web identity that is not complete is an error and no reason to look elsewhere") {
   const ObjectServer server(serverOptions());
   Pod pod(addressOf(server));
   CATCH_SECTION("no role") {
      pod.environment.set("AWS_ROLE_ARN", std::nullopt);
      CATCH_CHECK(failureToFind() == "42501 AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
   }
   CATCH_SECTION("no token") {
      const std::string missing = pod.path("missing");
      pod.environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", missing);
      CATCH_CHECK(failureToFind() == "58030 could not read AWS_WEB_IDENTITY_TOKEN_FILE: could not open file \"" +
                                         missing + "\": No such file or directory");
      pod.environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", pod.path(""));
      CATCH_CHECK(failureToFind().starts_with("58030 could not read AWS_WEB_IDENTITY_TOKEN_FILE: "));
      pod.environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", pod.path("token"));
      pod.rotate("");
      CATCH_CHECK(failureToFind() ==
                  "58030 file \"" + pod.path("token") + "\" of AWS_WEB_IDENTITY_TOKEN_FILE has no token");
   }
   CATCH_SECTION("no STS") {
      const std::string nowhere = "http://127.0.0.1:" + std::to_string(listenTcp("127.0.0.1", 0).front().port);
      pod.environment.set("AWS_ENDPOINT_URL_STS", nowhere);
      CATCH_CHECK(failureToFind() == "58030 could not assume role \"" + std::string(Pod::role) +
                                         "\" by web identity at " + nowhere + ": could not call " + nowhere +
                                         ": Connection refused");
      pod.environment.set("AWS_ENDPOINT_URL_STS", "ftp://127.0.0.1");
      CATCH_CHECK(failureToFind().starts_with("22023 AWS_ENDPOINT_URL_STS must be an address"));
      pod.environment.set("AWS_ENDPOINT_URL_STS", "");
      pod.environment.set("AWS_REGION", "eu/../x");
      CATCH_CHECK(failureToFind() == "22023 AWS_REGION is not the name of a region");
      pod.environment.set("AWS_ENDPOINT_URL", addressOf(server));
      CATCH_CHECK(failureToFind().empty());
   }
   CATCH_SECTION("a role without a token is for somebody else") {
      pod.environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", std::nullopt);
      CATCH_CHECK(findCredentials().accessKeyId == "stranger");
   }
}

CATCH_TEST_CASE("services of credentials over TLS are trusted as the store is") {
   Pod pod("");
   const std::string certificate = pod.path("certificate"), other = pod.path("other");
   const ObjectServer server(serverOptions({"--tls", certificate, "--address", "0.0.0.0"})), stranger({"--tls", other});
   const std::string untrusted = addressOf(server, "https") + ": certificate verify failed";
   pod.environment.set("AWS_ENDPOINT_URL_STS", addressOf(server, "https"));
   CATCH_CHECK(failureToFind().starts_with("58030 could not assume role"));
   CATCH_CHECK(has(failureToFind(), untrusted));
   pod.environment.set("AWS_CA_BUNDLE", other);
   CATCH_CHECK(has(failureToFind(), untrusted));
   pod.environment.set("AWS_CA_BUNDLE", pod.path("profile"));
   CATCH_CHECK(failureToFind().starts_with("F0000"));
   pod.environment.set("AWS_CA_BUNDLE", certificate);
   // An address and a name in the certificate, and an address that is not in it.
   pod.environment.set("AWS_ENDPOINT_URL_STS", addressOf(server, "https", "localhost"));
   CATCH_CHECK(failureToFind().empty());
   pod.environment.set("AWS_ENDPOINT_URL_STS", addressOf(server, "https", "127.0.0.2"));
   CATCH_CHECK(has(failureToFind(), "certificate verify failed: IP address mismatch"));
   pod.environment.set("AWS_ENDPOINT_URL_STS", addressOf(server, "https"));
   const auto use = [&] {
      S3Store store(S3Location::parse(server.url("", "https")), findCredentials, eager());
      CATCH_CHECK(store.put("x", "1"));
      CATCH_CHECK(store.get("x") == "1");
   };
   use();
   // Plain HTTP to a TLS server fails, and TLS to a plain server.
   pod.environment.set("AWS_ENDPOINT_URL_STS", addressOf(server, "http"));
   CATCH_CHECK(failureToFind().starts_with("58030"));

   pod.environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", std::nullopt);
   pod.environment.set("AWS_SHARED_CREDENTIALS_FILE", pod.path("missing"));
   pod.environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", addressOf(server, "https") + "/_credentials");
   use();
   pod.environment.set("AWS_CA_BUNDLE", std::nullopt);
   CATCH_CHECK(has(failureToFind(), untrusted));
}

CATCH_TEST_CASE("answers STS does not give end in an error") {
   const auto reply = [](const std::string& status, const std::string& body) {
      return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
   };
   const auto role = [&](const std::string& key, const std::string& secret, const std::string& token,
                         const std::string& end) {
      return "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>" + key +
             "</AccessKeyId><SecretAccessKey>" + secret + "</SecretAccessKey><SessionToken>" + token +
             "</SessionToken><Expiration>" + end +
             "</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
   };
   const std::string end = "2026-01-02T03:04:05Z", good = role("A", "S", "T", end);
   const auto error = [&](const std::string& status, const std::string& code) {
      return reply(status,
                   "<ErrorResponse><Error><Code>" + code + "</Code><Message>m</Message></Error></ErrorResponse>");
   };
   const auto answerOf = [&](const std::string& answer) {
      const Parrot parrot(answer);
      const Pod pod(parrot.address());
      return failureToFind();
   };
   CATCH_CHECK(answerOf(reply("200 OK", good)).empty());
   for (const std::string& garbage : {std::string(),
                                      std::string("SSH-2.0-OpenSSH_9.2\r\n"),
                                      std::string(20'000, 'x'),
                                      reply("200 OK", ""),
                                      reply("200 OK", "{\"AccessKeyId\": \"A\"}"),
                                      reply("200 OK", good.substr(0, good.size() - 10)),
                                      reply("200 OK", good).substr(0, 200),
                                      reply("200 OK", good + good),
                                      reply("200 OK", role("", "S", "T", end)),
                                      reply("200 OK", role("A", "", "T", end)),
                                      reply("200 OK", role("A", "S", "", end)),
                                      reply("200 OK", role("A", "S", "T", "soon")),
                                      reply("200 OK", role("A", "S", "T&#13;&#10;x-evil: 1", end)),
                                      reply("200 OK", role("A", "S", "T\r\nx-evil: 1", end)),
                                      reply("200 OK", role("A/B C", "S", "T", end)),
                                      reply("200 OK", "<!DOCTYPE x [<!ENTITY a \"b\">]>" + role("A", "S", "&a;", end)),
                                      reply("200 OK", role("A", "S", std::string(100'000, 'T'), end)),
                                      reply("201 Created", good),
                                      reply("302 Found\r\nLocation: http://evil/", good),
                                      reply("500 Oops", good),
                                      reply("403 Forbidden", "<html/>"),
                                      error("500 Oops", "InternalFailure"),
                                      error("400 Bad Request", "IDPCommunicationError"),
                                      error("400 Bad Request", "Throttling"),
                                      error("429 Too Many Requests", "TooManyRequests")})
      CATCH_CHECK(answerOf(garbage).starts_with("58030 could not assume role"));
   for (const char* code :
        {"ExpiredTokenException", "InvalidIdentityToken", "IDPRejectedClaim", "RegionDisabledException"})
      CATCH_CHECK(answerOf(error("400 Bad Request", code)).starts_with("42501 could not assume role"));
   CATCH_CHECK(answerOf(error("403 Forbidden", std::string(60'000, 'x'))).size() < 1000);
}
