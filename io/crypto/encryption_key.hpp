#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ouzel::io {

/// 32 bytes that are nobody's to see: wiped when they go.
struct SecretBytes {
   std::array<unsigned char, 32> bytes{};
   SecretBytes() = default;
   SecretBytes(const SecretBytes&) = default;
   SecretBytes& operator=(const SecretBytes&) = default;
   ~SecretBytes();
};

/// The key of a database. It encrypts nothing itself: what does is derived from it, once per object, file of the log
/// or process, so that no two of them share a key and nonces need be unique in one of them only. Immutable.
class EncryptionKey {
public:
   /// 64 hex digits, or base64 (with or without '=') of 32 bytes; blanks and line ends around it do not count. Throws
   /// 22023, which does not repeat the text.
   static std::shared_ptr<const EncryptionKey> parse(std::string_view text);
   /// From the text in a file. Throws 22023, 58030.
   static std::shared_ptr<const EncryptionKey> readFile(const std::string& path);
   /// One that nobody else has, for what need not outlive the process.
   static std::shared_ptr<const EncryptionKey> makeRandom();

   /// HKDF-SHA256 (RFC 5869). Other `purpose`s give other keys.
   SecretBytes derive(std::string_view salt, std::string_view purpose) const;
   /// Tells keys apart and says nothing about them; may be stored in the clear.
   uint64_t id() const { return id_; }

private:
   explicit EncryptionKey(const SecretBytes& secret);
   const SecretBytes secret_;
   uint64_t id_;
};

} // namespace ouzel::io
