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

/// Options of a Retriever, times in milliseconds. The defaults wait as long as a store on the Internet may need.
struct RetrieverOptions {
   int64_t connectTimeoutMs = 5'000;
   int64_t firstByteTimeoutMs = 20'000;
   /// In each span of this length some bytes must arrive (see Exchange).
   int64_t progressTimeoutMs = 10'000;
   /// A request is not tried again after this time or this many attempts.
   int64_t requestTimeoutMs = 60'000;
   uint32_t attemptsMax = 8;
   int64_t backoffMs = 50, backoffMsMax = 3'000; ///< pause before the second attempt; doubles with each attempt
   bool hedge = true;
   /// Threads that move bytes: the least, and the most when these are saturated (0: one for each eight cores).
   uint32_t threads = 1, threadsMax = 0;
   SocketRing::Backend backend = SocketRing::Backend::Automatic;
};

/// One request to the bucket. Memory that it refers to must stay valid until the request was answered or cancelled.
struct S3Request {
   RequestKind kind = RequestKind::Get;
   std::string method = "GET";
   std::string object;                                       ///< below the location's prefix; empty: the bucket
   std::string query;                                        ///< canonical (see SignableRequest)
   std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case
   std::vector<std::string_view> body;
   std::string payloadHash; ///< of the body; empty: the signature does not cover the body
   /// GET: [offset, offset + targetSize) is received into `target`. An answer with another range is an error.
   char* target = nullptr;
   uint64_t offset = 0;
   size_t targetSize = 0;
   size_t bodySizeMax = 4 << 20; ///< of an answer that does not go to `target`
   /// Factor on the time-out of the answer's first byte: some requests are much work for the store.
   uint32_t patience = 1;
   bool mayHedge = false; ///< sending it twice is harmless, so it may be hedged
};

/// The outcome of a request.
struct S3Answer {
   /// 2xx, 304, 404, 409, 412 or 416, which callers branch on. 0: the request failed, and `error` is a SqlError with
   /// the names of object and endpoint: 42501 when access is denied, 57014 when the retriever was destroyed, else
   /// 58030.
   int status = 0;
   HttpHead head;
   std::string body;
   std::exception_ptr error;
   /// An earlier attempt without an answer may have taken effect.
   bool isRepeated = false;
   uint32_t requests = 0, retries = 0, hedges = 0; ///< requests sent; of them repetitions and hedges
};

/// Sends requests to one bucket, many at a time, from one thread (AnyBlob, section 3), or from several when one is
/// saturated (ThreadSpread). Each request is a state machine over io_uring or poll, and its body is received directly
/// into the caller's memory. The retriever keeps connections, caches addresses, repeats failed requests with jittered
/// backoff, hedges stragglers, follows the store to another region, asks for newer credentials, and limits the requests
/// under way by measurement (RequestGovernor).
///
/// Thread-safe. The destructor ends all requests with 57014 and must not run on a thread of the retriever.
class Retriever {
public:
   using Id = uint64_t; ///< identifies a request; 0: none
   using Done = std::function<void(S3Answer&&)>;

   /// Throws 58030 when the endpoint's name cannot be resolved, and what `source` throws.
   Retriever(S3Location location, CredentialsSource source, RetrieverOptions options = {});
   ~Retriever();
   Retriever(const Retriever&) = delete;
   Retriever& operator=(const Retriever&) = delete;

   /// Sends a request. Never waits. `done` is called once, by a thread of the retriever or by the one that destroys it.
   /// `done` must be short and must not throw; it may submit. It is not called when the request is cancelled before.
   Id submit(S3Request request, Done done);
   /// After the return the request's memory is not touched any more, and `done` has returned or will not be called.
   /// Unknown and ended requests are ignored. Must not be called by `done`.
   void cancel(Id id);
   /// Submits and waits. Throws the answer's error. Must not be called by `done`.
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
