#pragma once
// Counters for GET /_control.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "tests/object_server/faults.hpp"

namespace ouzel::object_server {

struct Counters {
   std::map<std::string, uint64_t> requests; ///< by kind: GET, PUT, UploadPart, ...
   std::map<int, uint64_t> statuses;
   std::array<uint64_t, faultKinds> faults{};
   uint64_t bytesReceived = 0; ///< bytes of bodies
   uint64_t bytesSent = 0;
   uint64_t expired = 0; ///< requests refused for credentials that `expire_after` had ended
   uint64_t connections = 0, connectionsOpen = 0;
   uint64_t outstanding = 0, outstandingMax = 0;

   std::string json() const;
   /// Sets the counters to zero, except those of open connections and outstanding requests.
   void reset();
};

} // namespace ouzel::object_server
