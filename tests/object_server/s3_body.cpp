#include "tests/object_server/s3_body.hpp"

#include "tests/object_server/http.hpp"
#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

namespace {

constexpr size_t textSizeMax = 16 << 20; // lists of parts and of keys

} // namespace

S3Body::S3Body(const HttpRequest& request, std::unique_ptr<ObjectWriter> file, bool isPayloadSigned,
               std::string_view tagAlgorithm)
   : file_(std::move(file)) {
   const std::string payload = request.headerOr("x-amz-content-sha256");
   if (payload.starts_with("STREAMING-AWS4"))
      throw S3Error(501, "NotImplemented", "chunks with signatures are not known here");
   if (payload.starts_with("STREAMING-") ||
       request.headerOr("content-encoding").find("aws-chunked") != std::string::npos) {
      decoder_.emplace();
      if (const std::string* decoded = request.header("x-amz-decoded-content-length"))
         sizeExpected_ = std::strtoull(decoded->c_str(), nullptr, 10);
   }
   if (isPayloadSigned && payload.size() == 64) {
      expect("x-amz-content-sha256", "sha256", payload, false);
      checks_.back().isHex = true;
   }
   if (const std::string* md5 = request.header("content-md5")) {
      expect("content-md5", "md5", *md5, false);
      tagAlgorithm = tagAlgorithm.empty() ? tagAlgorithm : "md5";
   }
   const std::string trailer = toLower(request.headerOr("x-amz-trailer"));
   for (std::string_view algorithm : checksumAlgorithms) {
      const std::string name = "x-amz-checksum-" + std::string(algorithm);
      if (const std::string* value = request.header(name))
         expect(name, std::string(algorithm), *value, true);
      else if (trailer == name)
         expect(name, std::string(algorithm), "", true);
   }
   if (!tagAlgorithm.empty()) tagDigest_ = Digest::make(tagAlgorithm);
}

void S3Body::expect(std::string header, std::string algorithm, std::string expected, bool isStored) {
   Check check;
   check.digest = Digest::make(algorithm);
   check.header = std::move(header);
   check.algorithm = std::move(algorithm);
   check.expected = std::move(expected);
   check.isStored = isStored;
   checks_.push_back(std::move(check));
}

void S3Body::take(std::string_view bytes) {
   size_ += bytes.size();
   for (Check& check : checks_)
      check.digest->update(bytes);
   if (tagDigest_) tagDigest_->update(bytes);
   if (file_)
      file_->write(bytes);
   else if (text_.size() + bytes.size() > textSizeMax)
      throw S3Error(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size.");
   else
      text_ += bytes;
}

void S3Body::consume(std::string_view bytes) {
   if (!decoder_) return take(bytes);
   decoder_->feed(bytes, [this](std::string_view part) { take(part); });
   if (decoder_->isMalformed()) throw S3Error(400, "InvalidRequest", "malformed aws-chunked body");
}

void S3Body::verify() {
   if ((decoder_ && !decoder_->isComplete()) || (sizeExpected_ && *sizeExpected_ != size_))
      throw S3Error(400, "IncompleteBody", "You did not provide the number of bytes specified.");
   for (Check& check : checks_) {
      if (decoder_)
         for (const auto& [name, value] : decoder_->trailers())
            if (name == check.header) check.expected = value;
      const std::string sum = check.digest->finish();
      const std::string text = check.isHex ? toHex(sum) : toBase64(sum);
      if (text != check.expected) {
         if (check.isHex)
            throw S3Error(400, "XAmzContentSHA256Mismatch",
                          "The provided 'x-amz-content-sha256' header does not match.");
         throw S3Error(400, "BadDigest", "The " + check.header + " you specified did not match what we received.");
      }
      if (check.isStored) checksums_.emplace_back(check.header, text);
   }
   if (tagDigest_) tag_ = toHex(tagDigest_->finish());
}

} // namespace ouzel::object_server
