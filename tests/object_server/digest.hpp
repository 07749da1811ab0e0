#pragma once
// Checksums of bodies: S3's algorithms, and a fast one for tags.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ouzel::object_server {

/// A checksum that is computed piece by piece.
class Digest {
public:
   virtual ~Digest() = default;
   virtual void update(std::string_view bytes) = 0;
   /// The bytes of the sum; numbers have the highest byte first, as in S3.
   virtual std::string finish() = 0;

   /// Makes a checksum by S3's name: md5, sha1, sha256, crc32, crc32c, crc64nvme; also xxh128, for tags. Null for other
   /// names.
   static std::unique_ptr<Digest> make(std::string_view algorithm);
   static std::string of(std::string_view algorithm, std::string_view bytes);
};

std::string hmacSha256(std::string_view key, std::string_view text);

} // namespace ouzel::object_server
