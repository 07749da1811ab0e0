#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Passwords as they are stored: SCRAM-SHA-256 verifiers (RFC 5802, RFC 7677). protocol/ checks clients by them, engine/
// makes them for CREATE and ALTER ROLE.

namespace ouzel {

using ScramKey = std::array<unsigned char, 32>;
inline constexpr uint32_t scramIterations = 4096;
inline constexpr size_t scramSaltBytes = 16;

/// The form in which passwords are stored: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`, base64.
struct ScramVerifier {
   uint32_t iterations = scramIterations;
   std::string salt; ///< raw bytes
   ScramKey storedKey{}, serverKey{};

   static ScramVerifier derive(std::string_view password, std::string_view salt, uint32_t iterations = scramIterations);
   /// With a new random salt.
   static ScramVerifier make(std::string_view password);
   /// nullopt when the text is no verifier.
   static std::optional<ScramVerifier> parse(std::string_view text);
   std::string text() const;
};

/// HMAC-SHA-256.
ScramKey scramHmac(std::string_view key, std::string_view data);
/// SHA-256.
ScramKey scramHash(std::string_view data);

std::string base64Encode(std::string_view bytes);
std::optional<std::string> base64Decode(std::string_view text);

} // namespace ouzel
