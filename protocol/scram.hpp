#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/password/scram_verifier.hpp"

// SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side. Channel binding is tls-server-end-point (RFC 5929).

namespace ouzel::protocol {

using ouzel::base64Decode, ouzel::base64Encode, ouzel::ScramVerifier;

/// One exchange: first client message in, server's first out; client's final in, server's final out.
///
///   Start --clientFirst--> Challenged --clientFinal--> Done
///
/// Malformed messages throw 08P01; a wrong password makes clientFinal() return nullopt. A doomed exchange runs
/// to the same end, with the same work, so that a client cannot tell which users exist.
class ScramExchange {
public:
   /// `nonce`: at least 18 raw random bytes. `mockSalt` is the salt shown without a verifier; it should depend on the
   /// user only.
   /// `channelBinding`: of the connection; empty: SCRAM-SHA-256-PLUS was not offered. `isPlus`: the client has chosen
   /// it. `isDoomed`: no password is right, as always without a verifier.
   ScramExchange(std::optional<ScramVerifier> verifier, std::span<const unsigned char> nonce, std::string_view mockSalt,
                 std::string_view channelBinding = {}, bool isPlus = false, bool isDoomed = false);

   std::string clientFirst(std::string_view message);
   std::optional<std::string> clientFinal(std::string_view message);

private:
   void takeHeader(std::string_view& message);

   ScramVerifier verifier_;
   bool doomed_;
   const std::string channelBinding_;
   const bool isPlus_;
   std::string header_; ///< gs2-header of the client's first message
   std::string nonce_, clientFirstBare_, serverFirst_;
};

/// A salt that is always the same for one user and one server, for users without a verifier.
std::string mockSalt(std::string_view user, std::string_view serverSecret);

} // namespace ouzel::protocol
