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
   AskWhy,    ///< refused without a reason; see requestForReason()
   Retry,     ///< after a while
   Throttled, ///< the same, and ask for less
   WrongTime, ///< our clock is off
   Renew,     ///< the credentials have expired
   Relocate,  ///< the bucket is in another region
   Denied,
   Refused,
};
struct Judgement {
   Judgement() = default;
   Judgement(Verdict itsVerdict, std::string itsText) : verdict(itsVerdict), text(std::move(itsText)) {}

   Verdict verdict = Verdict::Deliver;
   std::string text;    ///< what was wrong
   std::string region;  ///< Relocate
   int64_t theirs = -1; ///< WrongTime: the store's clock, seconds since 1970, if it says
};
/// `wentToTarget`: the body is in request.target.
Judgement judge(const S3Request& request, const HttpHead& head, std::string_view body, bool wentToTarget,
                std::string_view region);

/// HEAD is refused without a reason. This asks for a byte of the same object instead.
S3Request requestForReason(const S3Request& refused);

/// "could not read object "s3://bucket/x" at https://host"
std::string describeFailure(const S3Request& request, const S3Location& location);

} // namespace ouzel::io
