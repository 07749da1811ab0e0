// From the first packet to the first ReadyForQuery.

#include <array>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <optional>

#include "common/log/log.hpp"
#include "common/password/md5_password.hpp"
#include "common/text/utf8.hpp"
#include "protocol/error_response.hpp"
#include "protocol/message_reader.hpp"
#include "protocol/message_writer.hpp"
#include "protocol/session.hpp"

namespace ouzel::protocol {

namespace {

constexpr std::string_view scramMechanism = "SCRAM-SHA-256", scramPlusMechanism = "SCRAM-SHA-256-PLUS";
constexpr size_t nonceBytes = 18, md5SaltBytes = 4;
enum class AuthenticationCode : uint32_t { Ok = 0, Md5Password = 5, Sasl = 10, SaslContinue = 11, SaslFinal = 12 };

MessageWriter authenticationMessage(std::string& out, AuthenticationCode code) {
   MessageWriter message(out, 'R');
   message.int32(static_cast<uint32_t>(code));
   return message;
}

SqlError wrongPassword(const std::string& user) {
   return SqlError(sqlstate::invalidPassword, fmt::format("password authentication failed for user \"{}\"", user));
}

/// Both lines, of which either may be missing.
std::string joined(const std::string& detail, const std::string& more) {
   return detail.empty() || more.empty() ? detail + more : detail + "\n" + more;
}

} // namespace

Session::Next Session::handleFirstPacket(std::string_view payload) {
   FirstPacket packet = parseFirstPacket(payload);
   if (std::holds_alternative<TlsRequest>(packet) && !tlsAsked_) {
      tlsAsked_ = true;
      return answerEncryptionRequest(options_.offersTls);
   }
   if (std::holds_alternative<GssEncryptionRequest>(packet) && !gssAsked_) {
      gssAsked_ = true;
      return answerEncryptionRequest(false);
   }
   if (const auto* cancel = std::get_if<CancelRequest>(&packet)) {
      doorkeeper_.cancelRequested(cancel->key);
      phase_ = Phase::Closed; // no answer: the client learns the outcome on its other connection
      return Next::Close;
   }
   if (auto* startup = std::get_if<StartupPacket>(&packet)) {
      startAuthentication(std::move(*startup));
      return Next::Continue;
   }
   throw SqlError(sqlstate::protocolViolation, "encryption was requested twice");
}

Session::Next Session::answerEncryptionRequest(bool canStart) {
   out_ += canStart ? 'S' : 'N';
   flush();
   return canStart ? Next::StartTls : Next::Continue;
}

void Session::startAuthentication(StartupPacket packet) {
   if (packet.minorVersion != 0 || !packet.unknownOptions.empty()) {
      MessageWriter message(out_, 'v');
      message.int32(3u << 16).int32(static_cast<uint32_t>(packet.unknownOptions.size()));
      for (const auto& option : packet.unknownOptions)
         message.cstring(option);
      message.finish();
   }
   request_ = std::move(packet.request);
   if (options_.log) {
      options_.log->user = request_.user;
      options_.log->database = request_.database;
      options_.log->command = "authentication";
   }
   rule_ = doorkeeper_.ruleFor(request_);
   switch (rule_.method) {
   case AuthenticationMethod::Trust: authenticated(); return;
   case AuthenticationMethod::Reject:
      logDetail_ = joined(rule_.doom, rule_.matched);
      throw SqlError(sqlstate::invalidAuthorizationSpecification,
                     rule_.refusal.empty()
                         ? fmt::format("connection of user \"{}\" to database \"{}\" is not permitted", request_.user,
                                       request_.database)
                         : rule_.refusal)
          .hint(rule_.hint);
   case AuthenticationMethod::Md5: askForMd5(); return;
   case AuthenticationMethod::ScramSha256: break;
   }
   phase_ = Phase::Authentication;
   MessageWriter message = authenticationMessage(out_, AuthenticationCode::Sasl);
   if (!rule_.channelBinding.empty()) message.cstring(scramPlusMechanism);
   message.cstring(scramMechanism).int8(0).finish();
   flush();
}

void Session::askForMd5() {
   phase_ = Phase::Authentication;
   std::array<unsigned char, 16> random;
   doorkeeper_.randomBytes(random);
   const std::string_view salt(reinterpret_cast<const char*>(random.data()), md5SaltBytes);
   authenticationMessage(out_, AuthenticationCode::Md5Password).bytes(salt).finish();
   md5Answer_ = md5Answer(rule_.verifier, salt);
   flush();
}

void Session::handleMd5Answer(std::string_view payload) {
   MessageReader reader(payload);
   const std::string_view answer = reader.cstring();
   reader.end();
   const bool isRight =
       answer.size() == md5Answer_.size() && CRYPTO_memcmp(answer.data(), md5Answer_.data(), answer.size()) == 0;
   if (isRight && rule_.doom.empty()) return accepted("md5");
   logDetail_ = joined(isRight ? rule_.doom : fmt::format("Password does not match for user \"{}\".", request_.user),
                       rule_.matched);
   refusal_ = wrongPassword(request_.user);
}

void Session::chooseMechanism(std::string_view mechanism) {
   const bool isPlus = mechanism == scramPlusMechanism && !rule_.channelBinding.empty();
   if (!isPlus && mechanism != scramMechanism)
      throw SqlError(sqlstate::protocolViolation, "client selected an invalid SASL authentication mechanism");
   std::array<unsigned char, nonceBytes> nonce;
   doorkeeper_.randomBytes(nonce);
   const std::optional<ScramVerifier> verifier = ScramVerifier::parse(rule_.verifier);
   wrongPassword_ = rule_.doom;
   if (rule_.doom.empty())
      wrongPassword_ = verifier ? fmt::format("Password does not match for user \"{}\".", request_.user)
                                : fmt::format("User \"{}\" does not have a valid SCRAM secret.", request_.user);
   scram_ = std::make_unique<ScramExchange>(verifier, nonce, mockSalt(request_.user, options_.mockSecret),
                                            rule_.channelBinding, isPlus, !rule_.doom.empty());
}

void Session::handlePassword(std::string_view payload) {
   if (rule_.method == AuthenticationMethod::Md5) return handleMd5Answer(payload);
   if (sasl_ == Sasl::AwaitMechanism) {
      MessageReader reader(payload);
      chooseMechanism(reader.cstring());
      const int32_t length = reader.int32();
      sasl_ = Sasl::AwaitClientFirst;
      if (length == -1) {
         // No initial response: an empty challenge asks for it.
         reader.end();
         authenticationMessage(out_, AuthenticationCode::SaslContinue).finish();
         flush();
         return;
      }
      payload = reader.bytes(static_cast<size_t>(length));
      reader.end();
   }
   if (sasl_ == Sasl::AwaitClientFirst) {
      const std::string challenge = scram_->clientFirst(payload);
      sasl_ = Sasl::AwaitClientFinal;
      authenticationMessage(out_, AuthenticationCode::SaslContinue).bytes(challenge).finish();
      flush();
      return;
   }
   const auto proof = scram_->clientFinal(payload);
   if (!proof) {
      logDetail_ = joined(wrongPassword_, rule_.matched);
      refusal_ = wrongPassword(request_.user);
      return;
   }
   scram_.reset();
   authenticationMessage(out_, AuthenticationCode::SaslFinal).bytes(*proof).finish();
   accepted("scram-sha-256");
}

void Session::accepted(std::string_view method) {
   if (options_.log && logsConnections())
      logLine(LogLevel::Log, fmt::format("connection authenticated: identity=\"{}\" method={}{}", request_.user, method,
                                         rule_.origin.empty() ? "" : " (" + rule_.origin + ")"));
   authenticated();
}

void Session::authenticated() {
   authenticationMessage(out_, AuthenticationCode::Ok).finish();
   backend_ = doorkeeper_.open(request_, *this);
   for (const auto& [name, value] : backend_->reportedParameters())
      MessageWriter(out_, 'S').cstring(name).cstring(clientText().toClientAnyway(value)).finish();
   MessageWriter(out_, 'K')
       .int32(static_cast<uint32_t>(options_.key.processId))
       .int32(static_cast<uint32_t>(options_.key.secret))
       .finish();
   phase_ = Phase::Ready;
   readyForQuery();
}

} // namespace ouzel::protocol
