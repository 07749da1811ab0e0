#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/s3/signer.hpp"

// Parsers of the XML answers of S3 and STS. None: the text is not an answer of that kind.

namespace ouzel::io {

struct S3Error {
   std::string code, message;
   std::string region;     ///< set by AuthorizationHeaderMalformed and redirects
   std::string serverTime; ///< set by RequestTimeTooSkewed
};
/// Parses an <Error> document.
std::optional<S3Error> parseS3Error(std::string_view xml);

struct ListedObject {
   std::string key;
   uint64_t size = 0;
};
struct ListPage {
   std::vector<ListedObject> objects;
   std::string continuation; ///< empty: the last page
};
/// Parses the answer to ListObjectsV2, with or without encoding-type=url.
std::optional<ListPage> parseListPage(std::string_view xml);

/// Parses the UploadId of an InitiateMultipartUploadResult.
std::optional<std::string> parseUploadId(std::string_view xml);
/// Parses the ETag of a CompleteMultipartUploadResult.
std::optional<std::string> parseCompletedTag(std::string_view xml);

struct DeleteFailure {
   std::string key, code, message;
};
/// Parses the failures of a DeleteResult.
std::optional<std::vector<DeleteFailure>> parseDeleteResult(std::string_view xml);

struct PendingUpload {
   std::string key, uploadId;
};
/// Parses the answer to ListMultipartUploads.
std::optional<std::vector<PendingUpload>> parseUploads(std::string_view xml);

/// Parses the credentials of STS's AssumeRoleWithWebIdentityResponse.
std::optional<Credentials> parseAssumedRole(std::string_view xml);
/// Parses code and message of STS's <ErrorResponse>.
std::optional<S3Error> parseStsError(std::string_view xml);

std::string escapeXml(std::string_view text);

} // namespace ouzel::io
