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
   bool isEncrypted = false; ///< the server's certificate must be trusted and name the host, as TlsClientContext says

   /// A GET of "http(s)://host[:port][/path]"; nothing when the text is not that.
   static std::optional<HttpCall> to(std::string_view url);
   /// For messages: "https://host:port".
   std::string displayServer() const;
};

struct HttpReply {
   int status = 0;
   std::string body;
};

/// One HTTP request over a connection of its own, for the small services that hand out credentials. Waits at most
/// `timeoutMs` in all, besides the resolver; a body has at most 64 KiB. Throws SqlError 58030, and F0000 when the
/// certificates to trust cannot be used.
HttpReply callHttp(const HttpCall& call, int timeoutMs);

} // namespace ouzel::io
