#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ouzel::server {

inline constexpr size_t httpHeadSizeMax = 8 << 10;

/// The parts of a request's head that this server uses. Bodies are ignored.
struct HttpRequest {
   bool isHead = false;   ///< else GET
   std::string_view path; ///< without the query
};

/// Parses a head, blank line included. Returns 0, or the status to refuse it with. The path points into `head`.
int parseHttpRequest(std::string_view head, HttpRequest& request);

/// An answer that tells the client that the connection is closed. `withBody` false: only the head, for HEAD requests.
std::string httpAnswer(int status, std::string_view contentType, std::string_view body, bool withBody = true);
/// An answer whose body is only its status.
std::string httpRefusal(int status, bool withBody = true);

} // namespace ouzel::server
