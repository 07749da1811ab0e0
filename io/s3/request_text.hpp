#pragma once
#include <cstdint>
#include <string>

#include "io/s3/retriever.hpp"

// How a request is written and what its answer means: no sockets, no time.

namespace ouzel::io {

/// Request line and signed headers.
std::string requestText(const S3Request& request, const S3Location& location, const Credentials& credentials,
                        int64_t unixSeconds);

/// What to do about an answer.
enum class Verdict : uint8_t {
   Deliver,
   Retry,     ///< after a while
   Throttled, ///< the same, and ask for less
   WrongTime, ///< our clock is off; the answer's Date is right
   Renew,     ///< the credentials have expired
   Relocate,  ///< the bucket is in another region
   Denied,
   Refused,
};
struct Judgement {
   Verdict verdict = Verdict::Deliver;
   std::string text;   ///< what was wrong
   std::string region; ///< Relocate
};
/// `wentToTarget`: the body is in request.target. `mayRenew`: the credentials are of the kind that expires.
Judgement judge(const S3Request& request, const HttpHead& head, std::string_view body, bool wentToTarget,
                std::string_view region, bool mayRenew);

/// "could not read object "s3://bucket/x" at https://host"
std::string describeFailure(const S3Request& request, const S3Location& location);

} // namespace ouzel::io
