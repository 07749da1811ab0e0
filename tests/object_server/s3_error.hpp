#pragma once
// S3's errors, and helpers for the XML of its messages.
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/object_server/http.hpp"

namespace ouzel::object_server {

/// An error that becomes the answer: `status`, `code` and the message in S3's XML.
class S3Error : public std::runtime_error {
public:
   S3Error(int httpStatus, std::string errorCode, const std::string& message)
      : std::runtime_error(message), status(httpStatus), code(std::move(errorCode)) {}
   const int status;
   const std::string code;
   std::vector<std::pair<std::string, std::string>> headers;
   std::vector<std::pair<std::string, std::string>> elements; ///< in addition to Code and Message
};

HttpResponse errorResponse(const S3Error& error, std::string_view resource);

std::string xmlEscape(std::string_view text);
/// "<name>text</name>" with the text escaped.
std::string xmlElement(std::string_view name, std::string_view text);
/// The contents of all elements of this name, in order. Good enough for the flat messages of S3's clients.
std::vector<std::string> xmlContents(std::string_view xml, std::string_view name);
/// The unescaped content of the first element of this name; none when there is none.
std::optional<std::string> xmlText(std::string_view xml, std::string_view name);

} // namespace ouzel::object_server
