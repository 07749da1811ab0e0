#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ouzel::io {

/// 32 secret bytes, wiped by the destructor.
struct SecretBytes {
   std::array<unsigned char, 32> bytes{};
   SecretBytes() = default;
   SecretBytes(const SecretBytes&) = default;
   SecretBytes& operator=(const SecretBytes&) = default;
   ~SecretBytes();
};

/// The master key of a database. Keys for AES are derived from it, one for each object, log file or process, so that a
/// nonce must be unique only within one of these. Immutable.
class EncryptionKey {
public:
   /// Parses 64 hex digits, or base64 (with or without '=') of 32 bytes, ignoring blanks and line ends around the text.
   /// Throws 22023, without repeating the text.
   static std::shared_ptr<const EncryptionKey> parse(std::string_view text);
   /// Parses the text in a file. Throws 22023, 58030.
   static std::shared_ptr<const EncryptionKey> readFile(const std::string& path);
   /// A random key, for data that does not outlive the process.
   static std::shared_ptr<const EncryptionKey> makeRandom();

   /// Derives a key by HKDF-SHA256 (RFC 5869). Different salts or purposes give independent keys.
   SecretBytes derive(std::string_view salt, std::string_view purpose) const;
   /// A number that identifies the key without revealing it; may be stored in the clear.
   uint64_t id() const { return id_; }

private:
   explicit EncryptionKey(const SecretBytes& secret);
   const SecretBytes secret_;
   uint64_t id_;
};

} // namespace ouzel::io
