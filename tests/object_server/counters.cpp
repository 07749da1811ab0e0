#include "tests/object_server/counters.hpp"

namespace ouzel::object_server {

std::string Counters::json() const {
   const auto field = [](const std::string& name, uint64_t value) {
      return "\"" + name + "\": " + std::to_string(value);
   };
   std::string byKind, byStatus, byFault;
   uint64_t sum = 0;
   for (const auto& [kind, count] : requests) {
      byKind += (byKind.empty() ? "" : ", ") + field(kind, count);
      sum += count;
   }
   for (const auto& [status, count] : statuses)
      byStatus += (byStatus.empty() ? "" : ", ") + field(std::to_string(status), count);
   for (size_t i = 1; i < faultKinds; ++i)
      byFault += (byFault.empty() ? "" : ", ") + field(name(static_cast<FaultKind>(i)), faults[i]);
   return "{\"requests\": {" + byKind + "}, \"statuses\": {" + byStatus + "}, \"faults\": {" + byFault + "}, " +
          field("requests_total", sum) + ", " + field("bytes_received", bytesReceived) + ", " +
          field("bytes_sent", bytesSent) + ", " + field("expired", expired) + ", " + field("connections", connections) +
          ", " + field("connections_open", connectionsOpen) + ", " + field("outstanding", outstanding) + ", " +
          field("outstanding_max", outstandingMax) + "}";
}

void Counters::reset() {
   const Counters old = *this;
   *this = {};
   connectionsOpen = old.connectionsOpen;
   outstanding = outstandingMax = old.outstanding;
}

} // namespace ouzel::object_server
