#include "protocol/backend.hpp"

#include <fmt/format.h>

namespace ouzel::protocol {

std::vector<Format> expandFormats(std::span<const Format> requested, size_t columns) {
   if (requested.size() <= 1) return std::vector<Format>(columns, requested.empty() ? Format::Text : requested[0]);
   if (requested.size() != columns)
      throw SqlError(
          sqlstate::protocolViolation,
          fmt::format("bind message has {} result formats but query has {} columns", requested.size(), columns));
   return {requested.begin(), requested.end()};
}

} // namespace ouzel::protocol
