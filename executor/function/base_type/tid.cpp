#include "common/base_type/tid.hpp"

#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "storage/base/ids.hpp"

// Functions of tid, and ctid: the place of a row as clients see it.

namespace ouzel::executor {

namespace {

int64_t larger(int64_t a, int64_t b) {
   return a > b ? a : b;
}
int64_t smaller(int64_t a, int64_t b) {
   return a < b ? a : b;
}

/// The row group in the database as the block, and the row in it from 1. Equal row ids, and no others, have equal
/// places, in the same order, as long as segments have numbers of 27 bits.
int64_t placeOfRow(int64_t rowId) {
   constexpr uint64_t groups = storage::blockRowsMax / storage::rowGroupRows;
   static_assert(storage::rowGroupRows < UINT16_MAX);
   const auto id = static_cast<storage::RowId>(rowId);
   const uint32_t row = storage::rowOf(id);
   const uint64_t block = storage::segmentOf(id) * groups + row / storage::rowGroupRows;
   return makeTid(static_cast<uint32_t>(block), static_cast<uint16_t>(row % storage::rowGroupRows + 1));
}

} // namespace

void registerTid() {
   addKernel<larger>("tidlarger", totalKernel);
   addKernel<smaller>("tidsmaller", totalKernel);
   addKernel<placeOfRow>("ouzel_row_place", totalKernel);
}

} // namespace ouzel::executor
