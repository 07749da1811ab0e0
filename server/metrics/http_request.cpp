#include "server/metrics/http_request.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/text/ascii.hpp"

// HTTP/1.1 (RFC 9112) for a server that only has GET and HEAD. The RFC allows a server to accept bare line feeds,
// folded lines and blanks before colons; this server refuses them, since clients that scrape metrics do not send them.

namespace ouzel::server {

namespace {

constexpr size_t fieldsMax = 100;

bool isToken(std::string_view text) {
   return !text.empty() && std::all_of(text.begin(), text.end(), isHttpTokenChar);
}
bool isVisible(char c) {
   return c > 0x20 && c < 0x7f;
}
/// Characters of a field's value: all but control characters.
bool isFieldChar(char c) {
   return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

bool isNamed(std::string_view name, std::string_view lowerCase) {
   return std::equal(name.begin(), name.end(), lowerCase.begin(), lowerCase.end(),
                     [](char a, char b) { return asciiLower(a) == b; });
}

/// The next line, without its CRLF. False: there is none, or it holds a lone CR or LF.
bool takeLine(std::string_view& text, std::string_view& line) {
   const size_t end = text.find("\r\n");
   if (end == std::string_view::npos) return false;
   line = text.substr(0, end);
   text.remove_prefix(end + 2);
   return line.find_first_of("\r\n") == std::string_view::npos;
}

int parseRequestLine(std::string_view line, HttpRequest& request, bool& needsHost) {
   const size_t first = line.find(' '), second = line.find(' ', first == std::string_view::npos ? first : first + 1);
   if (second == std::string_view::npos) return 400;
   const std::string_view method = line.substr(0, first), version = line.substr(second + 1);
   std::string_view target = line.substr(first + 1, second - first - 1);
   if (!isToken(method) || target.empty() || !std::all_of(target.begin(), target.end(), isVisible)) return 400;
   const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
   if (version.size() != 8 || !version.starts_with("HTTP/") || !isDigit(version[5]) || version[6] != '.' ||
       !isDigit(version[7]))
      return 400;
   if (version[5] != '1') return 505;
   needsHost = version[7] != '0';
   if (method != "GET" && method != "HEAD") return 405;
   request.isHead = method == "HEAD";
   if (constexpr std::string_view scheme = "http://"; target.starts_with(scheme)) // the form of requests to a proxy
      target.remove_prefix(std::min(target.find('/', scheme.size()), target.size()));
   if (!target.starts_with('/')) return 400;
   request.path = target.substr(0, target.find('?'));
   return 0;
}

const char* reasonOf(int status) {
   switch (status) {
   case 200: return "OK";
   case 400: return "Bad Request";
   case 404: return "Not Found";
   case 405: return "Method Not Allowed";
   case 431: return "Request Header Fields Too Large";
   case 505: return "HTTP Version Not Supported";
   default: return "Internal Server Error";
   }
}

} // namespace

int parseHttpRequest(std::string_view head, HttpRequest& request) {
   std::string_view line;
   bool needsHost = false;
   if (!takeLine(head, line)) return 400;
   if (const int status = parseRequestLine(line, request, needsHost); status != 0) return status;
   size_t fields = 0, hosts = 0;
   while (true) {
      if (!takeLine(head, line)) return 400;
      if (line.empty()) break;
      if (++fields > fieldsMax) return 431;
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || !isToken(line.substr(0, colon))) return 400;
      const std::string_view value = line.substr(colon + 1);
      if (!std::all_of(value.begin(), value.end(), isFieldChar)) return 400;
      if (isNamed(line.substr(0, colon), "host")) ++hosts;
   }
   return hosts > 1 || (needsHost && hosts == 0) ? 400 : 0;
}

std::string httpAnswer(int status, std::string_view contentType, std::string_view body, bool withBody) {
   return fmt::format("HTTP/1.1 {} {}\r\n{}Content-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                      status, reasonOf(status), status == 405 ? "Allow: GET, HEAD\r\n" : "", contentType, body.size(),
                      withBody ? body : std::string_view());
}

std::string httpRefusal(int status, bool withBody) {
   return httpAnswer(status, "text/plain", fmt::format("{} {}\n", status, reasonOf(status)), withBody);
}

} // namespace ouzel::server
