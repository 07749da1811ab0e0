#pragma once
// Checksums of bodies: those S3 knows, and a fast one for tags.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ouzel::object_server {

/// A checksum that takes its bytes one after the other.
class Digest {
public:
   virtual ~Digest() = default;
   virtual void update(std::string_view bytes) = 0;
   /// The bytes of the sum, numbers with the highest byte first as S3 writes them.
   virtual std::string finish() = 0;

   /// By S3's names: md5, sha1, sha256, crc32, crc32c, crc64nvme; besides xxh128, for tags. Null for another.
   static std::unique_ptr<Digest> make(std::string_view algorithm);
   static std::string of(std::string_view algorithm, std::string_view bytes);
};

std::string hmacSha256(std::string_view key, std::string_view text);

} // namespace ouzel::object_server
