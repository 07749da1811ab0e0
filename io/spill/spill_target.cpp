#include "io/spill/spill_target.hpp"

#include "common/error/sql_error.hpp"
#include "io/spill/memory_address.hpp"

namespace ouzel::io {

bool requireSpillAddress(const std::string& target) {
   if (isMemoryAddress(target)) return !MemoryAddress::parse(target).host.empty();
   if (const size_t scheme = target.find("://"); scheme != target.npos)
      throwNotSupported("--spill to " + target.substr(0, scheme + 3) + "...");
   return false;
}

std::string spillTargetName(const std::string& target) {
   return requireSpillAddress(target) ? MemoryAddress::parse(target).name : target;
}

} // namespace ouzel::io
