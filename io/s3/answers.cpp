#include "io/s3/answers.hpp"

#include "common/text/ascii.hpp"
#include "io/http/response.hpp"
#include "io/s3/xml.hpp"

namespace ouzel::io {

namespace {

/// Calls `onClose(element's name, its depth, its text)` for each element of a document with the root element `root`;
/// the root has depth 1. False: the text is not a document with this root.
template <typename OnClose>
bool scan(std::string_view xml, std::string_view root, OnClose&& onClose) {
   XmlScanner scanner(xml);
   bool sawRoot = false;
   while (true) {
      switch (scanner.next()) {
      case XmlScanner::Event::Open:
         if (scanner.depth() == 1) {
            if (sawRoot || scanner.name() != root) return false;
            sawRoot = true;
         }
         break;
      case XmlScanner::Event::Close:
         if (!onClose(scanner.name(), scanner.depth() + 1, scanner.text())) return false;
         break;
      case XmlScanner::Event::End: return sawRoot;
      case XmlScanner::Event::Invalid: return false;
      }
   }
}

std::optional<std::string> rootChild(std::string_view xml, std::string_view root, std::string_view child) {
   std::optional<std::string> result;
   const bool isGood = scan(xml, root, [&](std::string_view name, size_t depth, const std::string& text) {
      if (depth == 2 && name == child) result = text;
      return true;
   });
   return isGood ? result : std::nullopt;
}

std::string urlDecode(std::string_view text) {
   std::string result;
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && text.size() - i > 2 && hexDigit(text[i + 1]) >= 0 && hexDigit(text[i + 2]) >= 0) {
         result += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
         i += 2;
      } else {
         result += text[i] == '+' ? ' ' : text[i];
      }
   }
   return result;
}

} // namespace

std::optional<S3Error> parseS3Error(std::string_view xml) {
   S3Error error;
   const bool isGood = scan(xml, "Error", [&](std::string_view name, size_t depth, const std::string& text) {
      if (depth != 2) return true;
      if (name == "Code") error.code = text;
      if (name == "Message") error.message = text;
      if (name == "Region") error.region = text;
      if (name == "ServerTime") error.serverTime = text;
      return true;
   });
   if (!isGood || error.code.empty()) return std::nullopt;
   return error;
}

std::optional<ListPage> parseListPage(std::string_view xml) {
   ListPage page;
   ListedObject object;
   bool isTruncated = false, isUrlEncoded = false;
   const bool isGood = scan(xml, "ListBucketResult", [&](std::string_view name, size_t depth, const std::string& text) {
      if (depth == 2 && name == "Contents") {
         page.objects.push_back(std::move(object));
         object = {};
      } else if (depth == 2 && name == "IsTruncated") {
         isTruncated = text == "true";
      } else if (depth == 2 && name == "NextContinuationToken") {
         page.continuation = text;
      } else if (depth == 2 && name == "EncodingType") {
         isUrlEncoded = text == "url";
      } else if (depth == 3 && name == "Key") {
         object.key = text;
      } else if (depth == 3 && name == "Size") {
         const auto size = parseUnsigned(text);
         if (!size) return false;
         object.size = *size;
      }
      return true;
   });
   if (!isGood || (isTruncated && page.continuation.empty())) return std::nullopt;
   if (!isTruncated) page.continuation.clear();
   if (isUrlEncoded)
      for (ListedObject& listed : page.objects)
         listed.key = urlDecode(listed.key);
   return page;
}

std::optional<std::string> parseUploadId(std::string_view xml) {
   return rootChild(xml, "InitiateMultipartUploadResult", "UploadId");
}

std::optional<std::string> parseCompletedTag(std::string_view xml) {
   return rootChild(xml, "CompleteMultipartUploadResult", "ETag");
}

std::optional<std::vector<DeleteFailure>> parseDeleteResult(std::string_view xml) {
   std::vector<DeleteFailure> result;
   DeleteFailure failure;
   const bool isGood = scan(xml, "DeleteResult", [&](std::string_view name, size_t depth, const std::string& text) {
      if (depth == 2 && name == "Error") {
         result.push_back(std::move(failure));
         failure = {};
      } else if (depth == 2) {
         failure = {};
      } else if (depth == 3 && name == "Key") {
         failure.key = text;
      } else if (depth == 3 && name == "Code") {
         failure.code = text;
      } else if (depth == 3 && name == "Message") {
         failure.message = text;
      }
      return true;
   });
   return isGood ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<std::vector<PendingUpload>> parseUploads(std::string_view xml) {
   std::vector<PendingUpload> result;
   PendingUpload upload;
   const bool isGood =
       scan(xml, "ListMultipartUploadsResult", [&](std::string_view name, size_t depth, const std::string& text) {
          if (depth == 2 && name == "Upload") {
             result.push_back(std::move(upload));
             upload = {};
          } else if (depth == 3 && name == "Key") {
             upload.key = text;
          } else if (depth == 3 && name == "UploadId") {
             upload.uploadId = text;
          }
          return true;
       });
   return isGood ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Credentials> parseAssumedRole(std::string_view xml) {
   Credentials result;
   const bool isGood = scan(xml, "AssumeRoleWithWebIdentityResponse",
                            [&](std::string_view name, size_t depth, const std::string& text) {
                               if (depth != 4) return true; // below AssumeRoleWithWebIdentityResult and Credentials
                               if (name == "AccessKeyId") result.accessKeyId = text;
                               if (name == "SecretAccessKey") result.secretAccessKey = text;
                               if (name == "SessionToken") result.sessionToken = text;
                               if (name == "Expiration") result.expiresAt = parseIsoTime(text);
                               return true;
                            });
   if (!isGood || !result.isPlausible() || result.sessionToken.empty() || result.expiresAt <= 0) return std::nullopt;
   return result;
}

std::optional<S3Error> parseStsError(std::string_view xml) {
   S3Error error;
   const bool isGood = scan(xml, "ErrorResponse", [&](std::string_view name, size_t depth, const std::string& text) {
      if (depth == 3 && name == "Code") error.code = text;
      if (depth == 3 && name == "Message") error.message = text;
      return true;
   });
   if (!isGood || error.code.empty()) return std::nullopt;
   return error;
}

std::string escapeXml(std::string_view text) {
   std::string result;
   for (const char c : text) {
      switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
      }
   }
   return result;
}

} // namespace ouzel::io
