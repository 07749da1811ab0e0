#include "server/authentication.hpp"

#include <fmt/format.h>
#include <optional>

#include "common/log/log.hpp"
#include "common/password/md5_password.hpp"
#include "io/net/interfaces.hpp"
#include "io/net/unix_socket.hpp"
#include "server/connection.hpp"

namespace ouzel::server {

namespace {

using protocol::AuthenticationMethod, protocol::AuthenticationRule;

AuthenticationRule rejection(std::string refusal, std::string doom = "", std::string hint = "") {
   AuthenticationRule rule;
   rule.refusal = std::move(refusal);
   rule.doom = std::move(doom);
   rule.hint = std::move(hint);
   return rule;
}

/// What rules ask for while one of them is sought.
class Facts final : public HbaFacts {
public:
   explicit Facts(SessionFactory& factory) : factory_(factory) {}
   bool isMember(const std::string& user, const std::string& role) const override {
      return factory_.isMember(user, role);
   }
   std::vector<AddressRange> ownNetworks() const override {
      std::vector<AddressRange> networks;
      for (const io::InterfaceAddress& entry : io::interfaceAddresses()) {
         const auto address = IpAddress::parse(entry.address), mask = IpAddress::parse(entry.mask);
         if (address && mask) networks.push_back({*address, *mask});
      }
      return networks;
   }

private:
   SessionFactory& factory_;
};

/// One client that wants to come in.
class Applicant {
public:
   Applicant(const ConnectionContext& context, const io::PeerAddress& peer, const io::Stream& stream,
             const protocol::StartupRequest& request)
      : context_(context), peer_(peer), stream_(stream), request_(request) {}

   AuthenticationRule ruleOfOptions() const;
   AuthenticationRule ruleOfFiles(const AccessFiles& files) const;
   /// What --require-ssl and --ssl-client-cert have against the connection, whoever comes; nullopt: nothing.
   std::optional<AuthenticationRule> refusalOfTransport() const;

private:
   AuthenticationRule password(bool allowsMd5, std::string doom) const;
   AuthenticationRule peer(const AccessFiles& files, const HbaRule& matched) const;
   /// Empty: the certificate's name is the user's, or a map says that it may be.
   std::string certificateProblem(const AccessFiles& files, const HbaRule& matched, const std::string& name) const;
   AuthenticationRule ruleOf(const AccessFiles& files, const HbaRule& matched) const;
   std::string describe() const;
   void logIdentity(const AccessFiles& files, const HbaRule& matched, const std::string& identity) const;

   const ConnectionContext& context_;
   const io::PeerAddress& peer_;
   const io::Stream& stream_;
   const protocol::StartupRequest& request_;
};

std::optional<AuthenticationRule> Applicant::refusalOfTransport() const {
   using Kind = ServerOptions::ClientCertificates;
   if (peer_.isLocal) return std::nullopt; // nobody can listen in
   if (context_.requiresTls && !stream_.isEncrypted())
      return rejection(
          fmt::format("connection of user \"{}\" to database \"{}\" is not encrypted, and this server requires SSL",
                      request_.user, request_.database),
          "", "Connect with sslmode=require, or a stricter mode.");
   if (context_.clientCertificates == Kind::Off) return std::nullopt;
   const std::optional<std::string> name = stream_.peerName();
   if (!name) return rejection("connection requires a valid client certificate");
   if (context_.clientCertificates == Kind::VerifyFull && *name != request_.user)
      return rejection(fmt::format("certificate authentication failed for user \"{}\"", request_.user),
                       fmt::format("The certificate's common name is \"{}\".", *name));
   return std::nullopt;
}

AuthenticationRule Applicant::ruleOfOptions() const {
   if (peer_.isLoopback && context_.trustsLoopback) return {.method = AuthenticationMethod::Trust, .verifier = ""};
   return password(true, "");
}

/// With a `doom`, which the log shows, no password is right.
AuthenticationRule Applicant::password(bool allowsMd5, std::string doom) const {
   AuthenticationRule rule{.method = AuthenticationMethod::ScramSha256, .verifier = "", .doom = std::move(doom)};
   rule.channelBinding = stream_.channelBinding();
   // The exchange runs to its end in every case and fails there, as with a wrong password.
   try {
      rule.verifier = context_.factory.passwordVerifier(request_.user);
      if (allowsMd5 && isMd5Password(rule.verifier)) rule.method = AuthenticationMethod::Md5;
      if (!rule.doom.empty()) return rule;
      if (rule.verifier.empty())
         rule.doom = fmt::format("User \"{}\" has no password assigned.", request_.user);
      else if (context_.factory.isPasswordExpired(request_.user))
         rule.doom = fmt::format("User \"{}\" has an expired password.", request_.user);
   } catch (const SqlError&) {
      rule.doom = fmt::format("Role \"{}\" does not exist.", request_.user);
   }
   return rule;
}

void Applicant::logIdentity(const AccessFiles& files, const HbaRule& matched, const std::string& identity) const {
   if (logsConnections())
      logLine(LogLevel::Log, fmt::format("connection authenticated: identity=\"{}\" method={} ({}:{})", identity,
                                         nameOf(matched.method), files.hbaFile, matched.line));
}

AuthenticationRule Applicant::peer(const AccessFiles& files, const HbaRule& matched) const {
   std::string reason;
   const std::optional<std::string> name = io::peerUserName(stream_.handle(), reason);
   if (name) {
      logIdentity(files, matched, *name);
      if (files.identities.isAllowed(matched.map, *name, request_.user, reason))
         return {.method = AuthenticationMethod::Trust, .verifier = ""};
   }
   return rejection(fmt::format("Peer authentication failed for user \"{}\"", request_.user), reason);
}

std::string Applicant::certificateProblem(const AccessFiles& files, const HbaRule& matched,
                                          const std::string& name) const {
   const bool isMethod = matched.method == HbaMethod::Certificate;
   if (name.empty())
      return fmt::format("certificate authentication failed for user \"{}\": client certificate contains no user name",
                         request_.user);
   if (isMethod) logIdentity(files, matched, name);
   std::string reason;
   if (files.identities.isAllowed(matched.map, name, request_.user, reason)) return "";
   if (!isMethod)
      reason += fmt::format("\ncertificate validation (clientcert=verify-full) failed for user \"{}\": CN mismatch",
                            request_.user);
   return reason;
}

AuthenticationRule Applicant::ruleOf(const AccessFiles& files, const HbaRule& matched) const {
   using Kind = HbaRule::ClientCertificate;
   std::string problem; // with the certificate
   if (matched.clientCertificate != Kind::Any) {
      const std::optional<std::string> name = stream_.peerName();
      if (!name) return rejection("connection requires a valid client certificate");
      if (matched.clientCertificate == Kind::VerifyFull) problem = certificateProblem(files, matched, *name);
   }
   switch (matched.method) {
   case HbaMethod::ScramSha256:
   case HbaMethod::Md5: // a wrong certificate fails like a wrong password
      return password(matched.method == HbaMethod::Md5, std::move(problem));
   case HbaMethod::Peer: return peer(files, matched);
   case HbaMethod::Trust:
      if (!problem.empty())
         return rejection(fmt::format("\"trust\" authentication failed for user \"{}\"", request_.user), problem);
      break;
   case HbaMethod::Certificate:
      if (!problem.empty())
         return rejection(fmt::format("certificate authentication failed for user \"{}\"", request_.user), problem);
      break;
   case HbaMethod::Reject: return rejection("pg_hba.conf rejects connection for " + describe());
   }
   return {.method = AuthenticationMethod::Trust, .verifier = ""};
}

/// As the messages of PostgreSQL describe the client.
std::string Applicant::describe() const {
   return fmt::format("host \"{}\", user \"{}\", database \"{}\", {}", peer_.host, request_.user, request_.database,
                      stream_.isEncrypted() ? "SSL encryption" : "no encryption");
}

AuthenticationRule Applicant::ruleOfFiles(const AccessFiles& files) const {
   HbaClient client;
   client.isLocal = peer_.isLocal;
   client.isEncrypted = stream_.isEncrypted();
   client.address = IpAddress::parse(peer_.host).value_or(IpAddress());
   client.user = request_.user;
   client.database = request_.database;
   const HbaRule* matched = findRule(files.rules, client, Facts(context_.factory));
   if (!matched) return rejection("no pg_hba.conf entry for " + describe());
   AuthenticationRule rule = ruleOf(files, *matched);
   rule.origin = fmt::format("{}:{}", files.hbaFile, matched->line);
   if (matched->method != HbaMethod::Reject)
      rule.matched = fmt::format("Connection matched pg_hba.conf line {}: \"{}\"", matched->line, matched->text);
   return rule;
}

} // namespace

AuthenticationRule authenticationRule(const ConnectionContext& context, const io::PeerAddress& peer,
                                      const io::Stream& stream, const protocol::StartupRequest& request) {
   const Applicant applicant(context, peer, stream, request);
   if (auto refusal = applicant.refusalOfTransport()) return std::move(*refusal);
   const auto files = context.accessRules ? context.accessRules->current() : nullptr;
   return files ? applicant.ruleOfFiles(*files) : applicant.ruleOfOptions();
}

} // namespace ouzel::server
