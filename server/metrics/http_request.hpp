#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ouzel::server {

inline constexpr size_t httpHeadSizeMax = 8 << 10;

/// The head of a request as far as it matters here. Bodies are not looked at.
struct HttpRequest {
   bool isHead = false;   ///< else GET
   std::string_view path; ///< without the query
};

/// Parses a head, blank line included. Returns 0, or the status to refuse it with. The path points into `head`.
int parseHttpRequest(std::string_view head, HttpRequest& request);

/// An answer after which the connection is closed. `withBody` false: its head alone, as HEAD wants it.
std::string httpAnswer(int status, std::string_view contentType, std::string_view body, bool withBody = true);
/// The same that says no more than its status.
std::string httpRefusal(int status, bool withBody = true);

} // namespace ouzel::server
