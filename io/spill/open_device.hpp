#pragma once
#include <memory>
#include <string>

#include "io/spill/spill_device.hpp"
#include "io/spill/spill_target.hpp"

namespace ouzel::io {

/// Opens the device that a target names; a missing directory is created. Throws what requireSpillAddress() throws, and
/// 58030.
std::unique_ptr<SpillDevice> openSpillDevice(const std::string& target);

} // namespace ouzel::io
