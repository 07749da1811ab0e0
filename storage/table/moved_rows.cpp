#include "storage/table/moved_rows.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::storage {

MovedRows::Place MovedRows::find(uint32_t row, const DeleteMarks& marks) const {
   const uint32_t vector = row / vectorRows;
   CHECK(vector < before_.size());
   uint64_t at = before_[vector];
   const DeleteMarks::VectorMarks* words = marks.vector(vector);
   for (uint32_t i = 0; i < row % vectorRows; ++i)
      at += !words || DeleteMarks::livesAt(words->words[i].load(std::memory_order_acquire), since_);
   for (const Target& target : *targets_) {
      if (at < target.rows) return {target.id, target.versions.get(), static_cast<uint32_t>(at)};
      at -= target.rows;
   }
   throwInternal("a row that has moved is in no segment");
}

} // namespace ouzel::storage
