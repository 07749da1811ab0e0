#pragma once
#include <compare>
#include <cstdint>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {

/// A relation or column that an object needs: a view's tables, a default's sequence.
struct Dependency {
   Oid relation = invalidOid;
   int16_t attribute = 0; ///< 0: the relation, not a certain column
   auto operator<=>(const Dependency&) const = default;
};

} // namespace ouzel::catalog
