#include "io/spill/open_device.hpp"

#include "io/spill/directory_device.hpp"
#include "io/spill/memory_address.hpp"
#include "io/spill/memory_device.hpp"
#include "io/spill/object_device.hpp"

namespace ouzel::io {

std::unique_ptr<SpillDevice> openSpillDevice(const std::string& target) {
   if (!requireSpillAddress(target)) return std::make_unique<DirectoryDevice>(target);
   if (isMemoryAddress(target)) return std::make_unique<MemoryDevice>(MemoryAddress::parse(target));
   return std::make_unique<ObjectDevice>(target);
}

} // namespace ouzel::io
