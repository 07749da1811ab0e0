#include "io/s3/s3_upload.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/env/random.hpp"
#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/s3/answers.hpp"
#include "io/s3/crc32c.hpp"

namespace ouzel::io {

namespace {

constexpr size_t partSizeMax = 16 << 20;
constexpr size_t partCountMax = 10'000; ///< S3's limit
/// Bodies up to this size are signed, too: for larger ones hashing would cost as much as sending.
constexpr size_t signedSizeMax = 64 << 10;
constexpr size_t piecesMax = 64; ///< most pieces of a body that is sent without copying
constexpr std::string_view tokenHeader = "x-amz-meta-ouzel-put";
constexpr int conflictsMax = 8;

using Pieces = std::vector<std::string_view>;

size_t sizeOf(std::span<const std::string_view> pieces) {
   size_t size = 0;
   for (const std::string_view piece : pieces)
      size += piece.size();
   return size;
}

/// The pieces of [offset, offset + size) of the concatenation.
Pieces slice(std::span<const std::string_view> pieces, size_t offset, size_t size) {
   Pieces result;
   for (const std::string_view piece : pieces) {
      if (offset >= piece.size()) {
         offset -= piece.size();
         continue;
      }
      const std::string_view taken = piece.substr(offset, size);
      if (!taken.empty()) result.push_back(taken);
      size -= taken.size();
      offset = 0;
      if (size == 0) break;
   }
   return result;
}

std::string hexNumber(uint64_t value) {
   static constexpr char digits[] = "0123456789abcdef";
   std::string result;
   for (int shift = 60; shift >= 0; shift -= 4)
      result += digits[value >> shift & 15];
   return result;
}

class Upload {
public:
   Upload(Retriever& retriever, std::string_view name, std::span<const std::string_view> pieces,
          const PutCondition& condition)
      : retriever_(retriever), name_(name), pieces_(pieces), condition_(condition), size_(sizeOf(pieces)),
        token_(hexNumber(unpredictableSeed()) + hexNumber(unpredictableSeed())) {}

   bool run() { return size_ <= partSizeMax ? runWhole() : runParts(); }

private:
   S3Request request(const char* method, std::string query = {}) const {
      S3Request result;
      result.kind = RequestKind::Put;
      result.method = method;
      result.object = name_;
      result.query = std::move(query);
      result.patience = 3; // stores sync before they answer
      return result;
   }
   void addCondition(S3Request& request) const {
      if (condition_.kind == PutCondition::Kind::IfAbsent) request.headers.emplace_back("if-none-match", "*");
      if (condition_.kind == PutCondition::Kind::IfMatch) request.headers.emplace_back("if-match", condition_.tag);
   }
   [[noreturn]] void refuse(const std::string& why) const {
      throw SqlError(sqlstate::ioError,
                     "could not write object \"" + retriever_.location().display(name_) + "\": " + why);
   }

   bool isOurs() const {
      S3Request look = request("HEAD");
      look.kind = RequestKind::Head;
      const S3Answer answer = retriever_.call(std::move(look));
      return answer.status == 200 && answer.head.header(tokenHeader) == token_;
   }

   /// Whether the condition held, as the answer's status says. None: a write at the same time conflicted, try again.
   std::optional<bool> outcome(const S3Answer& answer) {
      if (answer.status >= 200 && answer.status < 300) return true;
      // A conflict counts as a repetition: an earlier attempt without an answer may be the write that conflicts.
      isRepeated_ = isRepeated_ || answer.isRepeated || answer.status == 409;
      if (answer.status == 409) return std::nullopt;
      const bool isConditional = condition_.kind != PutCondition::Kind::Always;
      if (isRepeated_ && isOurs()) return true; // an earlier attempt succeeded, and its answer was lost
      if (isConditional && (answer.status == 412 || answer.status == 404)) return false;
      refuse("the store answers with status " + std::to_string(answer.status));
   }

   template <typename Attempt>
   bool untilNoConflict(Attempt&& attempt) const {
      for (int conflicts = 0; conflicts < conflictsMax; ++conflicts) {
         if (const std::optional<bool> result = attempt()) return *result;
         std::this_thread::sleep_for(std::chrono::milliseconds(10 << conflicts));
      }
      refuse("somebody else keeps writing it");
   }

   bool runWhole() {
      // Many small pieces cost more to send than to copy.
      std::string joined;
      Pieces body = slice(pieces_, 0, size_);
      if (body.size() > piecesMax) {
         for (const std::string_view piece : body)
            joined += piece;
         body.assign(1, joined);
      }
      S3Request put = request("PUT");
      put.headers.emplace_back("x-amz-checksum-crc32c", crc32cHeader(crcOf(body)));
      put.headers.emplace_back(tokenHeader, token_);
      addCondition(put);
      if (size_ <= signedSizeMax) put.payloadHash = sha256Hex(body);
      put.body = std::move(body);
      return untilNoConflict([&] { return outcome(retriever_.call(put)); });
   }

   static uint32_t crcOf(const Pieces& pieces) {
      uint32_t crc = 0;
      for (const std::string_view piece : pieces)
         crc = crc32c(piece, crc);
      return crc;
   }

   bool runParts() {
      S3Request initiate = request("POST", "uploads=");
      initiate.headers.emplace_back("x-amz-checksum-algorithm", "CRC32C");
      initiate.headers.emplace_back(tokenHeader, token_);
      const auto uploadId = parseUploadId(retriever_.call(std::move(initiate)).body);
      if (!uploadId || uploadId->empty()) refuse("the store does not begin an upload");
      try {
         const std::string list = sendParts(*uploadId);
         const bool stored = untilNoConflict([&] { return complete(*uploadId, list); });
         if (!stored) abortUpload(retriever_, name_, *uploadId);
         return stored;
      } catch (const SqlError&) {
         try {
            abortUpload(retriever_, name_, *uploadId);
         } catch (const SqlError&) {
            // An error of the abort is dropped: the caller gets the first error, and removeLeftovers() finds the
            // upload.
         }
         throw;
      }
   }

   /// Submits all parts at once; the retriever limits how many are sent at a time. Returns the list that completes the
   /// upload.
   std::string sendParts(const std::string& uploadId) const {
      const size_t partSize = std::max((size_ + partCountMax - 1) / partCountMax, evenPartSize());
      const size_t count = (size_ + partSize - 1) / partSize;
      std::vector<std::string> tags(count), checksums(count);
      Mutex mutex;
      CondVar arrived;
      size_t pending = count;
      std::exception_ptr error;
      for (size_t i = 0; i < count; ++i) {
         S3Request put = request("PUT", "partNumber=" + std::to_string(i + 1) + "&uploadId=" + percentEncode(uploadId));
         put.body = slice(pieces_, i * partSize, std::min(partSize, size_ - i * partSize));
         checksums[i] = crc32cHeader(crcOf(put.body));
         put.headers.emplace_back("x-amz-checksum-crc32c", checksums[i]);
         retriever_.submit(std::move(put), [&, i](S3Answer&& answer) {
            const MutexLock lock(mutex);
            tags[i] = answer.head.header("etag");
            if (!error && answer.error) error = answer.error;
            if (!error && (answer.status != 200 || tags[i].empty()))
               error = std::make_exception_ptr(SqlError(
                   sqlstate::ioError, "could not write object \"" + retriever_.location().display(name_) +
                                          "\": a part was answered with status " + std::to_string(answer.status)));
            if (--pending == 0) arrived.notify_one();
         });
      }
      UniqueLock lock(mutex);
      arrived.wait(lock, [&] { return pending == 0; });
      if (error) std::rethrow_exception(error);
      std::string list = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
      for (size_t i = 0; i < count; ++i)
         list += "<Part><ChecksumCRC32C>" + checksums[i] + "</ChecksumCRC32C><ETag>" + escapeXml(tags[i]) +
                 "</ETag><PartNumber>" + std::to_string(i + 1) + "</PartNumber></Part>";
      return list + "</CompleteMultipartUpload>";
   }

   /// A size for parts of equal size, between half the largest size and the largest.
   size_t evenPartSize() const {
      const size_t count = (size_ + partSizeMax - 1) / partSizeMax;
      return (size_ + count - 1) / count;
   }

   std::optional<bool> complete(const std::string& uploadId, const std::string& list) {
      S3Request post = request("POST", "uploadId=" + percentEncode(uploadId));
      post.body.assign(1, list);
      post.payloadHash = sha256Hex(post.body);
      post.patience = 15; // some servers copy all parts to one file
      post.headers.emplace_back("content-type", "application/xml");
      addCondition(post);
      S3Answer answer = retriever_.call(std::move(post));
      // S3 may send status 200 before it has finished, and then reports an error in the body.
      if (answer.status == 200 && !parseCompletedTag(answer.body)) {
         const auto error = parseS3Error(answer.body);
         const std::string code = error ? error->code : "";
         if (code == "PreconditionFailed")
            answer.status = 412;
         else if (code == "ConditionalRequestConflict" || code == "InternalError" || code == "SlowDown")
            return std::nullopt;
         else if (isOurs())
            return true;
         else
            refuse(error ? code + ": " + error->message : "the store does not complete the upload");
      }
      return outcome(answer);
   }

   Retriever& retriever_;
   const std::string name_;
   const std::span<const std::string_view> pieces_;
   const PutCondition& condition_;
   const size_t size_;
   const std::string token_;
   bool isRepeated_ = false; ///< an earlier attempt may have succeeded without an answer
};

} // namespace

bool uploadObject(Retriever& retriever, std::string_view name, std::span<const std::string_view> parts,
                  const PutCondition& condition) {
   return Upload(retriever, name, parts, condition).run();
}

void abortUpload(Retriever& retriever, std::string_view name, std::string_view uploadId) {
   S3Request request;
   request.kind = RequestKind::Delete;
   request.method = "DELETE";
   request.object = name;
   request.query = "uploadId=" + percentEncode(uploadId);
   retriever.call(std::move(request));
}

} // namespace ouzel::io
