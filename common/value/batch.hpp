#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/vector.hpp"

namespace ouzel {

/// Up to batchRowsMax rows flowing between operators: column views, and which rows are live.
///
/// `rowCount` is how far the vectors reach (the space of row indexes); `selection` lists the live ones among them. A
/// dense selection has count == rowCount. The views obey the lifetime rule of Vector; an operator that needs rows
/// longer copies them.
struct Batch {
   std::vector<Vector> columns;
   Selection selection;
   uint32_t rowCount = 0;

   uint32_t liveRows() const { return selection.count(); }
   void setDense(uint32_t rows) {
      rowCount = rows;
      selection = Selection::dense(rows);
   }
   /// Describe the broken invariant of this class, Vector, StringView or Selection in words; empty when all hold. Looks
   /// at every live value, so that it costs about as much as an operator.
   std::string brokenPromise() const;
   /// The same, and also checks that the columns are of the types `expected`.
   std::string brokenPromise(std::span<const PhysicalType> expected) const;
};

} // namespace ouzel
