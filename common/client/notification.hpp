#pragma once
#include <cstdint>
#include <string>

namespace ouzel {

/// A message of NOTIFY, as the client that listens gets it.
struct Notification {
   int32_t processId = 0; ///< of the session that has sent it
   std::string channel, payload;
};

} // namespace ouzel
