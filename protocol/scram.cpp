#include "protocol/scram.hpp"

#include <cstring>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"

namespace ouzel::protocol {

namespace {

constexpr std::string_view bindingType = "tls-server-end-point";

[[noreturn, gnu::cold]] void throwMalformed(std::string_view detail) {
   throw SqlError(sqlstate::protocolViolation, "malformed SCRAM message").detail(std::string(detail));
}

std::string_view chars(const ScramKey& key) {
   return {reinterpret_cast<const char*>(key.data()), key.size()};
}

/// Reads `name=value,` from the front of a message.
std::string_view takeAttribute(std::string_view& message, char name) {
   if (message.size() < 2 || message[0] != name || message[1] != '=')
      throwMalformed(fmt::format("Expected attribute \"{}\" but found \"{}\".", name,
                                 message.empty() ? std::string_view() : message.substr(0, 1)));
   const size_t comma = message.find(',');
   const auto value = message.substr(2, comma == std::string_view::npos ? comma : comma - 2);
   message.remove_prefix(comma == std::string_view::npos ? message.size() : comma + 1);
   return value;
}

bool isPrintable(std::string_view text) {
   for (const char c : text)
      if (c < 0x21 || c > 0x7e || c == ',') return false;
   return !text.empty();
}

} // namespace

std::string mockSalt(std::string_view user, std::string_view serverSecret) {
   return std::string(chars(scramHmac(serverSecret, user)).substr(0, scramSaltBytes));
}

ScramExchange::ScramExchange(std::optional<ScramVerifier> verifier, std::span<const unsigned char> nonce,
                             std::string_view mockSalt, std::string_view channelBinding, bool isPlus, bool isDoomed)
   : doomed_(isDoomed || !verifier), channelBinding_(channelBinding), isPlus_(isPlus),
     nonce_(base64Encode({reinterpret_cast<const char*>(nonce.data()), nonce.size()})) {
   if (verifier)
      verifier_ = std::move(*verifier);
   else
      verifier_.salt = mockSalt;
}

/// Reads the gs2-header: "n,," (no channel binding), "y,," (the client supports it and believes that the server does
/// not), "p=tls-server-end-point,,".
void ScramExchange::takeHeader(std::string_view& message) {
   if (message.empty()) throwMalformed("The message is empty.");
   const std::string_view whole = message;
   const char flag = message[0];
   if (flag == 'p') {
      if (!isPlus_)
         throwMalformed("The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes "
                        "channel binding data.");
      const auto type = takeAttribute(message, 'p');
      if (type != bindingType)
         throw SqlError(sqlstate::protocolViolation,
                        fmt::format("unsupported SCRAM channel-binding type \"{}\"", type));
   } else if (flag == 'n' || flag == 'y') {
      if (isPlus_)
         throwMalformed("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel "
                        "binding data.");
      // Somebody in between may have removed PLUS from the list of mechanisms.
      if (flag == 'y' && !channelBinding_.empty())
         throw SqlError(sqlstate::invalidAuthorizationSpecification, "SCRAM channel binding negotiation error")
             .detail("The client supports SCRAM channel binding but thinks the server does not.  However, this server "
                     "does support channel binding.");
      if (message.size() < 2 || message[1] != ',') throwMalformed("Comma expected after the channel-binding flag.");
      message.remove_prefix(2);
   } else {
      throwMalformed(fmt::format("Unexpected channel-binding flag \"{}\".", message.substr(0, 1)));
   }
   if (message.starts_with('a'))
      throw SqlError(sqlstate::featureNotSupported, "client uses authorization identity, but it is not supported");
   if (!message.starts_with(',')) throwMalformed("Unexpected attribute in client-first-message.");
   message.remove_prefix(1);
   header_ = whole.substr(0, whole.size() - message.size());
}

std::string ScramExchange::clientFirst(std::string_view message) {
   if (message.find('\0') != std::string_view::npos) throwMalformed("Message length does not match input length.");
   takeHeader(message);
   clientFirstBare_ = message;
   if (message.starts_with("m="))
      throw SqlError(sqlstate::featureNotSupported, "client requires an unsupported SCRAM extension");
   takeAttribute(message, 'n'); // ignored: the startup packet has the user name
   const auto clientNonce = takeAttribute(message, 'r');
   if (!isPrintable(clientNonce))
      throw SqlError(sqlstate::protocolViolation, "non-printable characters in SCRAM nonce");
   nonce_.insert(0, clientNonce);
   serverFirst_ = fmt::format("r={},s={},i={}", nonce_, base64Encode(verifier_.salt), verifier_.iterations);
   return serverFirst_;
}

std::optional<std::string> ScramExchange::clientFinal(std::string_view message) {
   if (message.find('\0') != std::string_view::npos) throwMalformed("Message length does not match input length.");
   std::string_view rest = message;
   const auto binding = takeAttribute(rest, 'c');
   if (binding != base64Encode(isPlus_ ? header_ + channelBinding_ : header_)) {
      if (isPlus_) throw SqlError(sqlstate::invalidAuthorizationSpecification, "SCRAM channel binding check failed");
      throw SqlError(sqlstate::protocolViolation, "unexpected SCRAM channel-binding attribute in client-final-message");
   }
   if (takeAttribute(rest, 'r') != nonce_)
      throw SqlError(sqlstate::protocolViolation, "invalid SCRAM response").detail("Nonce does not match.");
   const size_t proofAt = message.rfind(",p=");
   if (proofAt == std::string_view::npos) throwMalformed("Expected attribute \"p\".");
   const auto proof = base64Decode(message.substr(proofAt + 3));
   if (!proof || proof->size() != 32) throwMalformed("Malformed proof in client-final-message.");

   const std::string authMessage = fmt::format("{},{},{}", clientFirstBare_, serverFirst_, message.substr(0, proofAt));
   const ScramKey signature = scramHmac(chars(verifier_.storedKey), authMessage);
   ScramKey clientKey;
   for (size_t i = 0; i < clientKey.size(); ++i)
      clientKey[i] = static_cast<unsigned char>(static_cast<unsigned char>((*proof)[i]) ^ signature[i]);
   const ScramKey storedKey = scramHash(chars(clientKey));
   const bool matches = CRYPTO_memcmp(storedKey.data(), verifier_.storedKey.data(), storedKey.size()) == 0;
   if (doomed_ || !matches) return std::nullopt;
   return "v=" + base64Encode(chars(scramHmac(chars(verifier_.serverKey), authMessage)));
}

} // namespace ouzel::protocol
