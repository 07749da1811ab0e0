#pragma once
#include <cstdint>
#include <span>

#include "common/error/check.hpp"

namespace ouzel {

using RowIndex = uint16_t; // a row inside one batch
inline constexpr uint32_t batchRowsMax = 2048;

static_assert(batchRowsMax <= UINT16_MAX + 1u, "RowIndex must reach every row of a batch");

/// Which rows of a batch are live. Either the dense range [0, count) or a strictly ascending list of rows.
///
/// Does not own the list: it lies in the arena of the operator that made it and is valid until that operator
/// produces its next batch.
class Selection {
public:
   static Selection dense(uint32_t count) { return Selection(nullptr, count); }
   static Selection list(std::span<const RowIndex> rows) {
      return Selection(rows.data(), static_cast<uint32_t>(rows.size()));
   }
   static Selection list(const RowIndex* rows, uint32_t count) { return Selection(rows, count); }
   Selection() : rows_(nullptr), count_(0) {}

   uint32_t count() const { return count_; }
   bool isDense() const { return rows_ == nullptr; }
   RowIndex row(uint32_t i) const {
      DCHECK(i < count_);
      return rows_ ? rows_[i] : static_cast<RowIndex>(i);
   }
   const RowIndex* rows() const { return rows_; }

private:
   Selection(const RowIndex* rows, uint32_t count) : rows_(rows), count_(count) { CHECK(count <= batchRowsMax); }

   const RowIndex* rows_;
   uint32_t count_;
};

/// Call `body(row)` for each live row; the dense and the listed loop are separate so that the dense one vectorizes.
template <typename Body>
inline void forEachRow(const Selection& selection, Body&& body) {
   const uint32_t count = selection.count();
   if (selection.isDense()) {
      for (uint32_t row = 0; row < count; ++row)
         body(row);
   } else {
      const RowIndex* rows = selection.rows();
      for (uint32_t i = 0; i < count; ++i)
         body(static_cast<uint32_t>(rows[i]));
   }
}

} // namespace ouzel
