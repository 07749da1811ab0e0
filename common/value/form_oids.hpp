#pragma once
#include "common/value/sql_type.hpp"

// OIDs of types that only their forms (common/base_type) and functions know.

namespace ouzel::oid {

inline constexpr Oid point = 600, lseg = 601, path = 602, box = 603, polygon = 604, line = 628, cidr = 650,
                     circle = 718, macaddr8 = 774, macaddr = 829, inet = 869, txidSnapshot = 2970, pgLsn = 3220,
                     pgNdistinct = 3361, pgDependencies = 3402, pgMcvList = 5017, pgSnapshot = 5038;

} // namespace ouzel::oid
