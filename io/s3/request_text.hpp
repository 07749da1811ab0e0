#pragma once
#include <cstdint>
#include <string>

#include "io/s3/retriever.hpp"

// The text of requests and the meaning of answers, without sockets and clocks.

namespace ouzel::io {

/// Request line, signed headers and the empty line.
std::string requestText(const S3Request& request, const S3Location& location, const Credentials& credentials,
                        int64_t unixSeconds);

/// What the retriever does about an answer.
enum class Verdict : uint8_t {
   Deliver,
   AskWhy,    ///< refused without a reason; see requestForReason()
   Retry,     ///< try again after a pause
   Throttled, ///< as Retry, and lower the number of requests
   WrongTime, ///< this machine's clock is wrong
   Renew,     ///< the credentials have expired
   Relocate,  ///< the bucket is in another region
   Denied,
   Refused,
};
struct Judgement {
   Judgement() = default;
   Judgement(Verdict itsVerdict, std::string itsText) : verdict(itsVerdict), text(std::move(itsText)) {}

   Verdict verdict = Verdict::Deliver;
   std::string text;    ///< the problem, for an error message
   std::string region;  ///< Relocate
   int64_t theirs = -1; ///< WrongTime: the store's clock, seconds since 1970; -1: unknown
};
/// Judges an answer. `wentToTarget`: the body is in request.target.
Judgement judge(const S3Request& request, const HttpHead& head, std::string_view body, bool wentToTarget,
                std::string_view region);

/// A GET of one byte of the same object: unlike the answer to a HEAD, its refusal tells the reason.
S3Request requestForReason(const S3Request& refused);

/// "could not read object "s3://bucket/x" at https://host"
std::string describeFailure(const S3Request& request, const S3Location& location);

} // namespace ouzel::io
