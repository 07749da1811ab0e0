#pragma once
#include <cstdint>
#include <string>

#include "common/value/physical_type.hpp"

namespace ouzel::engine {

/// Puts an integer, boolean or double precision, given as the bits of a register, in an array (common/type/array.hpp)
/// of one dimension without NULLs, in place; or behind its last element, where the array grows. False: the array is
/// another one, or would get a gap; nothing has happened.
bool replaceElement(std::string& array, int64_t subscript, PhysicalType physical, int64_t bits);

} // namespace ouzel::engine
