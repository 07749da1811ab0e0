#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ouzel::io {

struct HttpCall {
   std::string host; ///< an IPv6 address without brackets
   uint16_t port = 80;
   std::string method = "GET";
   std::string path = "/";
   std::vector<std::pair<std::string, std::string>> headers;
   std::string body{};
   bool isEncrypted = false; ///< by TLS: the certificate must be trusted and name the host

   /// A GET of "http(s)://host[:port][/path]"; none when the text has another form.
   static std::optional<HttpCall> to(std::string_view url);
   /// For messages: "https://host:port".
   std::string displayServer() const;
};

struct HttpReply {
   int status = 0;
   std::string body;
};

/// Sends one HTTP request over a new connection and waits for the reply; for the small services that hand out
/// credentials. Takes at most `timeoutMs` in all, plus the time of the resolver. A body has at most 64 KiB. Throws
/// 58030, and F0000 when the trusted certificates cannot be loaded.
HttpReply callHttp(const HttpCall& call, int timeoutMs);

} // namespace ouzel::io
