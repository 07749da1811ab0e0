#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::io {

/// Where the memory of another machine is: a Valkey or Redis server.
///
///     memory://[[USER]:PASSWORD@]HOST[:PORT][?size=BYTES&tls=1&ttl=SECONDS&delay=MILLISECONDS]
///     memorys://...                 with TLS
///
/// User and password are percent-encoded. Sizes may end in kB, MB, GB or TB.
struct MemoryAddress {
   std::string host;
   uint16_t port = 6379;
   std::string user, password;
   bool usesTls = false;
   uint64_t bytesMax = 0;     ///< most bytes to keep there; 0: no limit
   uint32_t ttlSeconds = 600; ///< after which keys of a process that was killed are gone
   int64_t delayNanos = 0;    ///< added to each round, for experiments
   std::string name;          ///< the address without user, password and options

   /// Throws 22023, without telling the password.
   static MemoryAddress parse(std::string_view text);
};

bool isMemoryAddress(std::string_view target);

} // namespace ouzel::io
