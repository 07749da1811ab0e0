#pragma once
#include <array>
#include <memory>
#include <vector>

#include "common/value/batch.hpp"
#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// Flat vectors that rows are gathered into, with room for batchRowsMax values in each column. Used by one worker.
class RowBatch {
public:
   explicit RowBatch(std::vector<PhysicalType> types);
   RowBatch() = default;

   void* data(uint32_t column) { return columns_[column].data.get(); }
   ValidityWord* validity(uint32_t column) { return columns_[column].validity.get(); }
   uint32_t columnCount() const { return static_cast<uint32_t>(columns_.size()); }
   PhysicalType type(uint32_t column) const { return columns_[column].type; }

   /// Gather column `source` of the layout into column `column`, as gatherColumn(). Returns the vector over it.
   Vector gather(uint32_t column, const RowLayout& layout, uint32_t source, const std::byte* const* rows,
                 uint32_t count, bool mayBeAbsent = false);
   Vector gather(uint32_t column, const RowLayout& layout, uint32_t source, const std::byte* const* rows,
                 const RowIndex* positions, uint32_t count, bool mayBeAbsent = false);
   /// A vector over the values that the caller has written through data() and validity().
   Vector vector(uint32_t column, bool hasNulls) const;

private:
   struct Column {
      PhysicalType type;
      std::unique_ptr<std::byte[]> data;
      std::unique_ptr<ValidityWord[]> validity;
   };
   std::vector<Column> columns_;
};

/// A constant vector of some value of the type, not NULL; readable for ever.
Vector anyVector(PhysicalType type);
/// A constant NULL vector of the type; readable for ever.
Vector absentVector(PhysicalType type);

} // namespace ouzel::executor
