#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel {

/// What a scan of a system table asks of one column: a range of OIDs, without 0, or one of some names.
struct WantedRows {
   int16_t attribute = 0;
   Oid lower = 0, upper = 0;         ///< both included; only of a column of type oid
   std::vector<std::string> names{}; ///< not empty: of a column of type name

   bool isOne() const { return lower == upper; }
   bool contains(Oid oid) const { return lower <= oid && oid <= upper; }
};

} // namespace ouzel
