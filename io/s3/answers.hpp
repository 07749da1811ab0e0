#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/s3/signer.hpp"

// What S3 and STS say in XML. Null or false: the text is not such an answer.

namespace ouzel::io {

struct S3Error {
   std::string code, message;
   std::string region;     ///< of AuthorizationHeaderMalformed and redirects
   std::string serverTime; ///< of RequestTimeTooSkewed
};
/// Of an <Error> document.
std::optional<S3Error> parseS3Error(std::string_view xml);

struct ListedObject {
   std::string key;
   uint64_t size = 0;
};
struct ListPage {
   std::vector<ListedObject> objects;
   std::string continuation; ///< empty: the last page
};
/// Of ListObjectsV2 with encoding-type=url, or without.
std::optional<ListPage> parseListPage(std::string_view xml);

/// The UploadId of InitiateMultipartUploadResult.
std::optional<std::string> parseUploadId(std::string_view xml);
/// The ETag of CompleteMultipartUploadResult.
std::optional<std::string> parseCompletedTag(std::string_view xml);

struct DeleteFailure {
   std::string key, code, message;
};
/// The failures of a DeleteResult.
std::optional<std::vector<DeleteFailure>> parseDeleteResult(std::string_view xml);

struct PendingUpload {
   std::string key, uploadId;
};
/// Of ListMultipartUploads.
std::optional<std::vector<PendingUpload>> parseUploads(std::string_view xml);

/// The credentials of STS's AssumeRoleWithWebIdentityResponse.
std::optional<Credentials> parseAssumedRole(std::string_view xml);
/// Code and message of STS's <ErrorResponse>.
std::optional<S3Error> parseStsError(std::string_view xml);

std::string escapeXml(std::string_view text);

} // namespace ouzel::io
