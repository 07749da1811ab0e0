#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ouzel::io {

struct HttpCall {
   std::string host;
   uint16_t port = 80;
   std::string method = "GET";
   std::string path = "/";
   std::vector<std::pair<std::string, std::string>> headers;
};

struct HttpReply {
   int status = 0;
   std::string body;
};

/// One plain HTTP request over a connection of its own, for the small services of a machine (metadata, role
/// credentials). Waits at most `timeoutMs` in all; a body has at most 64 KiB. Throws SqlError 58030.
HttpReply callHttp(const HttpCall& call, int timeoutMs);

} // namespace ouzel::io
