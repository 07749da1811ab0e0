#pragma once
#include "common/value/sql_type.hpp"

// OIDs of types that only their forms (common/base_type) and functions know.

namespace ouzel::oid {

inline constexpr Oid cidr = 650, macaddr8 = 774, macaddr = 829, inet = 869, pgLsn = 3220;

} // namespace ouzel::oid
