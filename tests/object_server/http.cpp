#include "tests/object_server/http.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <openssl/evp.h>

namespace ouzel::object_server {

namespace {

int hexDigit(char c) {
   if (c >= '0' && c <= '9') return c - '0';
   if (c >= 'a' && c <= 'f') return c - 'a' + 10;
   if (c >= 'A' && c <= 'F') return c - 'A' + 10;
   return -1;
}

std::string_view trim(std::string_view text) {
   while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
      text.remove_prefix(1);
   while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
   return text;
}

void parseTarget(HttpRequest& request) {
   std::string_view target = request.target;
   // The absolute form, which a proxy's client sends.
   if (target.starts_with("http://") || target.starts_with("https://")) {
      const size_t slash = target.find('/', target.find("//") + 2);
      target = slash == std::string_view::npos ? "/" : target.substr(slash);
   }
   const size_t mark = target.find('?');
   request.rawPath = target.substr(0, mark);
   request.path = percentDecode(request.rawPath);
   if (mark != std::string_view::npos) request.query = parseQuery(target.substr(mark + 1));
}

/// Reads the headers that the connection itself needs. False: they contradict each other.
bool readFraming(HttpRequest& request, bool isHttp11) {
   request.keepsAlive = isHttp11;
   for (const auto& [name, value] : request.headers) {
      if (name == "content-length") {
         const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), request.contentLength);
         if (error != std::errc() || end != value.data() + value.size()) return false;
      } else if (name == "transfer-encoding") {
         if (toLower(value) != "chunked") return false;
         request.isChunked = true;
      } else if (name == "connection") {
         const std::string lower = toLower(value);
         if (lower.find("close") != std::string::npos) request.keepsAlive = false;
         if (lower.find("keep-alive") != std::string::npos) request.keepsAlive = true;
      } else if (name == "expect") {
         request.expectsContinue = toLower(value) == "100-continue";
      }
   }
   return true;
}

const char* reason(int status) {
   switch (status) {
   case 200: return "OK";
   case 204: return "No Content";
   case 206: return "Partial Content";
   case 301: return "Moved Permanently";
   case 304: return "Not Modified";
   case 400: return "Bad Request";
   case 403: return "Forbidden";
   case 404: return "Not Found";
   case 405: return "Method Not Allowed";
   case 409: return "Conflict";
   case 411: return "Length Required";
   case 412: return "Precondition Failed";
   case 416: return "Requested Range Not Satisfiable";
   case 429: return "Too Many Requests";
   case 500: return "Internal Server Error";
   case 501: return "Not Implemented";
   case 502: return "Bad Gateway";
   case 503: return "Slow Down";
   case 507: return "Insufficient Storage";
   default: return "Status";
   }
}

std::string formatTime(int64_t seconds, const char* format) {
   const time_t time = seconds;
   tm parts{};
   gmtime_r(&time, &parts);
   char text[64];
   return std::string(text, strftime(text, sizeof text, format, &parts));
}

template <class List>
const std::string* find(const List& list, std::string_view name) {
   for (const auto& [key, value] : list)
      if (key == name) return &value;
   return nullptr;
}

} // namespace

const std::string* HttpRequest::header(std::string_view name) const {
   return find(headers, name);
}

const std::string* HttpRequest::parameter(std::string_view name) const {
   return find(query, name);
}

std::string HttpRequest::headerOr(std::string_view name) const {
   const std::string* value = header(name);
   return value ? *value : std::string();
}

std::string HttpRequest::parameterOr(std::string_view name) const {
   const std::string* value = parameter(name);
   return value ? *value : std::string();
}

std::string HttpResponse::head(bool keepsAlive) const {
   std::string text = "HTTP/1.1 " + std::to_string(status) + ' ' + reason(status) + "\r\n";
   text += "Date: " + httpDate(time(nullptr)) + "\r\n";
   for (const auto& [name, value] : headers)
      text += name + ": " + value + "\r\n";
   if (status != 204 && status != 304)
      text += "Content-Length: " + std::to_string(statedSize.value_or(bodySize())) + "\r\n";
   text += keepsAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
   return text;
}

std::vector<std::pair<std::string, std::string>> parseQuery(std::string_view text) {
   std::vector<std::pair<std::string, std::string>> result;
   while (!text.empty()) {
      const size_t end = std::min(text.find('&'), text.size());
      const std::string_view item = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (item.empty()) continue;
      const size_t equals = std::min(item.find('='), item.size());
      result.emplace_back(percentDecode(item.substr(0, equals)),
                          percentDecode(item.substr(std::min(equals + 1, item.size())), true));
   }
   return result;
}

size_t parseHead(std::string_view bytes, HttpRequest& request) {
   const size_t end = bytes.find("\r\n\r\n");
   if (end == std::string_view::npos) return bytes.size() > headSizeMax ? headMalformed : headIncomplete;
   std::string_view head = bytes.substr(0, end + 2);
   request = {};
   std::string_view line = head.substr(0, head.find("\r\n"));
   head.remove_prefix(line.size() + 2);
   const size_t first = line.find(' '), last = line.rfind(' ');
   if (first == std::string_view::npos || last == first || !line.substr(last + 1).starts_with("HTTP/1."))
      return headMalformed;
   request.method = line.substr(0, first);
   request.target = line.substr(first + 1, last - first - 1);
   if (request.target.empty()) return headMalformed;
   const bool isHttp11 = line.substr(last + 1) == "HTTP/1.1";
   while (!head.empty()) {
      line = head.substr(0, head.find("\r\n"));
      head.remove_prefix(line.size() + 2);
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon == 0) return headMalformed;
      request.headers.emplace_back(toLower(line.substr(0, colon)), trim(line.substr(colon + 1)));
   }
   parseTarget(request);
   return readFraming(request, isHttp11) ? end + 4 : headMalformed;
}

std::string percentDecode(std::string_view text, bool plusIsBlank) {
   std::string result;
   result.reserve(text.size());
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 && hexDigit(text[i + 2]) >= 0) {
         result += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
         i += 2;
      } else {
         result += plusIsBlank && text[i] == '+' ? ' ' : text[i];
      }
   }
   return result;
}

std::string percentEncode(std::string_view text, bool keepSlash) {
   static constexpr char digits[] = "0123456789ABCDEF";
   std::string result;
   for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      const bool isPlain = byte < 0x80 && (std::isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~');
      if (isPlain || (keepSlash && c == '/')) {
         result += c;
      } else {
         result += '%';
         result += digits[byte >> 4];
         result += digits[byte & 15];
      }
   }
   return result;
}

std::string toLower(std::string_view text) {
   std::string result(text);
   for (char& c : result)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
   return result;
}

std::string toHex(std::string_view bytes) {
   static constexpr char digits[] = "0123456789abcdef";
   std::string result;
   for (char c : bytes) {
      result += digits[static_cast<unsigned char>(c) >> 4];
      result += digits[static_cast<unsigned char>(c) & 15];
   }
   return result;
}

std::string fromBase64(std::string_view text) {
   if (text.empty() || text.size() % 4 != 0) return {};
   std::string result(text.size() / 4 * 3, '\0');
   const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(result.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
   if (size < 0) return {};
   // OpenSSL counts the padding as bytes.
   result.resize(static_cast<size_t>(size) - text.ends_with("=") - text.ends_with("=="));
   return result;
}

std::string toBase64(std::string_view bytes) {
   std::string result((bytes.size() + 2) / 3 * 4 + 1, '\0');
   const int size =
       EVP_EncodeBlock(reinterpret_cast<unsigned char*>(result.data()),
                       reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
   result.resize(static_cast<size_t>(size));
   return result;
}

std::string httpDate(int64_t seconds) {
   return formatTime(seconds, "%a, %d %b %Y %H:%M:%S GMT");
}

std::string isoDate(int64_t seconds) {
   return formatTime(seconds, "%Y-%m-%dT%H:%M:%S.000Z");
}

int64_t parseAmzDate(std::string_view text) {
   tm parts{};
   const std::string copy(text);
   const char* end = strptime(copy.c_str(), "%Y%m%dT%H%M%SZ", &parts);
   return end && *end == 0 ? timegm(&parts) : -1;
}

} // namespace ouzel::object_server
