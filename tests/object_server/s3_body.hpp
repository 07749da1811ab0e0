#pragma once
// Receives the body of an S3 request: removes aws-chunked framing and compares checksums with the client's.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/object_server/bucket_directory.hpp"
#include "tests/object_server/chunk_decoder.hpp"
#include "tests/object_server/digest.hpp"
#include "tests/object_server/http.hpp"

namespace ouzel::object_server {

class S3Body {
public:
   /// Writes the bytes to `file`, or keeps them as text when `file` is null. `isPayloadSigned`: compares
   /// x-amz-content-sha256. `tagAlgorithm`: empty for no tag. Throws S3Error for unknown encodings and algorithms.
   S3Body(const HttpRequest& request, std::unique_ptr<ObjectWriter> file, bool isPayloadSigned,
          std::string_view tagAlgorithm);
   void consume(std::string_view bytes);
   /// Compares the checksums, after the last byte. Throws BadDigest and similar errors.
   void verify();

   const std::string& text() const { return text_; }
   ObjectWriter& file() { return *file_; }
   /// In hexadecimal digits.
   const std::string& tag() const { return tag_; }
   /// Checksums as headers, to be stored with the object.
   const std::vector<std::pair<std::string, std::string>>& checksums() const { return checksums_; }

private:
   /// A checksum to compare. `expected` is empty until the trailer brings it.
   struct Check {
      std::string header, algorithm, expected;
      std::unique_ptr<Digest> digest;
      bool isHex = false, isStored = false;
   };
   void expect(std::string header, std::string algorithm, std::string expected, bool isStored);
   void take(std::string_view bytes);

   std::unique_ptr<ObjectWriter> file_;
   std::string text_, tag_;
   std::unique_ptr<Digest> tagDigest_;
   std::vector<Check> checks_;
   std::vector<std::pair<std::string, std::string>> checksums_;
   std::optional<ChunkDecoder> decoder_;
   uint64_t size_ = 0;
   std::optional<uint64_t> sizeExpected_;
};

constexpr std::string_view checksumAlgorithms[] = {"crc32", "crc32c", "crc64nvme", "sha1", "sha256"};

} // namespace ouzel::object_server
