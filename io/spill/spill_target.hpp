#pragma once
#include <string>

// What the items of --spill name: directories, and addresses.

namespace ouzel::io {

/// Whether the target is an address; else it is a directory. Throws 22023 for an invalid address, 0A000 for one of a
/// kind that cannot be spilled to.
bool requireSpillAddress(const std::string& target);

/// The target without user, password and options, as logs, views and errors show it.
std::string spillTargetName(const std::string& target);

} // namespace ouzel::io
