#pragma once
#include "common/value/sql_type.hpp"

// OIDs of types that only their forms (common/base_type) and functions know.

namespace ouzel::oid {

inline constexpr Oid point = 600, box = 603, cidr = 650, macaddr8 = 774, macaddr = 829, inet = 869, pgLsn = 3220,
                     pgNdistinct = 3361, pgDependencies = 3402, pgMcvList = 5017;

} // namespace ouzel::oid
