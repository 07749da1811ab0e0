#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/response.hpp"
#include "io/object_store/store_statistics.hpp"
#include "io/ring/socket_ring.hpp"
#include "io/s3/credentials.hpp"
#include "io/s3/s3_location.hpp"
#include "io/s3/thread_spread.hpp"

namespace ouzel::io {

/// Whole times in milliseconds. What is not said waits as long as a store on the Internet may need.
struct RetrieverOptions {
   int64_t connectTimeoutMs = 5'000;
   int64_t firstByteTimeoutMs = 20'000;
   /// In each such span some bytes must have come (see Exchange).
   int64_t progressTimeoutMs = 10'000;
   /// After so long, or so many attempts, a request is not tried again.
   int64_t requestTimeoutMs = 60'000;
   uint32_t attemptsMax = 8;
   int64_t backoffMs = 50, backoffMsMax = 3'000; ///< before the second attempt; doubles from there
   bool hedge = true;
   /// Threads that move bytes: at first, and at most when these are saturated (0: one for each eight cores).
   uint32_t threads = 1, threadsMax = 0;
   SocketRing::Backend backend = SocketRing::Backend::Automatic;
};

/// One request to the bucket. The memory it refers to stays until it was answered or cancelled.
struct S3Request {
   RequestKind kind = RequestKind::Get;
   std::string method = "GET";
   std::string object;                                       ///< below the location's prefix; empty: the bucket
   std::string query;                                        ///< canonical (see SignableRequest)
   std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case
   std::vector<std::string_view> body;
   std::string payloadHash; ///< of the body; empty: it is not part of the signature
   /// GET: [offset, offset + targetSize) goes to `target`. Anything else than exactly this range is an error.
   char* target = nullptr;
   uint64_t offset = 0;
   size_t targetSize = 0;
   size_t bodySizeMax = 4 << 20; ///< of an answer that does not go to `target`
   /// How many times the usual time-out the first byte of the answer may take: some requests are much work.
   uint32_t patience = 1;
   bool mayHedge = false; ///< sending it twice is harmless and a second one may overtake the first
};

/// What became of it.
struct S3Answer {
   /// 2xx, 304, 404, 409, 412 or 416, which callers branch on; 0: `error` says why there is no such answer (SqlError
   /// 42501 when access is denied, else 58030, both with the names of object and endpoint; 57014: cancelled at the
   /// end).
   int status = 0;
   HttpHead head;
   std::string body;
   std::exception_ptr error;
   /// An earlier attempt, whose answer did not come, may have taken effect.
   bool isRepeated = false;
   uint32_t requests = 0, retries = 0, hedges = 0; ///< sent for it: all; tries again; second ones for stragglers
};

/// Sends requests to one bucket, many at a time, from a thread of its own (AnyBlob, section 3), or from several when
/// one is not enough (ThreadSpread): state machines over io_uring (or poll), bodies straight into the caller's memory,
/// connections kept, addresses cached, repetition with jittered backoff, a second request when the first is a
/// straggler, another region or newer credentials when the store says so, and as many requests under way as measurement
/// says are useful.
///
/// Thread-safe. Destroying it ends what is under way (57014); not from its own threads.
class Retriever {
public:
   using Id = uint64_t; ///< of a request; 0 names none
   using Done = std::function<void(S3Answer&&)>;

   /// Throws 58030 when the endpoint's name cannot be resolved, and what `source` throws.
   Retriever(S3Location location, CredentialsSource source, RetrieverOptions options = {});
   ~Retriever();
   Retriever(const Retriever&) = delete;
   Retriever& operator=(const Retriever&) = delete;

   /// Never waits. `done` is called once, by a thread of the retriever or the one that destroys it, and must be short
   /// and must not throw; it may submit. Not called when the request is cancelled before.
   Id submit(S3Request request, Done done);
   /// When it returns, the request's memory is not touched any more and `done` has returned or will not be called.
   /// What is no longer known is fine. Not from `done`.
   void cancel(Id id);
   /// Submit and wait. Throws the answer's error. Not from `done`.
   S3Answer call(S3Request request);

   RetrieverStatistics statistics() const;
   const S3Location& location() const;

private:
   class Loop;
   const S3Location location_;
   CredentialsKeeper credentials_;
   ThreadSpread spread_;
   std::vector<std::unique_ptr<Loop>> loops_;
};

} // namespace ouzel::io
