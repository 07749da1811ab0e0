#include "io/spill/spill_target.hpp"

#include "common/error/sql_error.hpp"
#include "io/s3/s3_location.hpp"
#include "io/spill/memory_address.hpp"

namespace ouzel::io {

bool requireSpillAddress(const std::string& target) {
   if (isMemoryAddress(target)) return !MemoryAddress::parse(target).host.empty();
   if (isS3Url(target)) return !S3Location::parse(target).bucket.empty();
   if (const size_t scheme = target.find("://"); scheme != target.npos)
      throwNotSupported("--spill to " + target.substr(0, scheme + 3) + "...");
   return false;
}

std::string spillTargetName(const std::string& target) {
   if (!requireSpillAddress(target)) return target;
   return isMemoryAddress(target) ? MemoryAddress::parse(target).name : S3Location::parse(target).display("");
}

} // namespace ouzel::io
