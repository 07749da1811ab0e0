#include "common/client/result_sink.hpp"

#include <fmt/format.h>

namespace ouzel {

void checkFormats(std::span<const ValueFormat> requested, size_t columns) {
   if (requested.size() > 1 && requested.size() != columns)
      throw SqlError(
          sqlstate::protocolViolation,
          fmt::format("bind message has {} result formats but query has {} columns", requested.size(), columns));
}

} // namespace ouzel
