#include "engine/query/kept_rows.hpp"

#include <algorithm>
#include <numeric>

#include "common/error/check.hpp"
#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

namespace {

std::vector<PhysicalType> physicalTypes(const std::vector<Representation>& columns) {
   std::vector<PhysicalType> out;
   for (const Representation& column : columns)
      out.push_back(column.physical);
   return out;
}

} // namespace

KeptRows::KeptRows(SessionCore& core, std::vector<Representation> columns)
   : memory_(core.database.governor->ledger()), space_(*core.database.spill, spillPolicy(core.settings)),
     spillsAlways_(core.settings.boolean("ouzel.spill_all")), slots_(columns.size()), builder_(columns, memory_),
     page_(physicalTypes(columns), 0, memory_) {
   std::iota(slots_.begin(), slots_.end(), 0);
}

void KeptRows::add(const Batch& batch) {
   for (uint32_t taken = 0; taken < batch.liveRows();) {
      taken += builder_.append(batch, slots_, taken);
      if (builder_.isFull()) keep(builder_.take());
   }
}

void KeptRows::keep(std::unique_ptr<executor::OwnedBatch> batch) {
   const size_t bytes = batch->arena.chunkBytes();
   firsts_.push_back(count_);
   count_ += batch->batch.rowCount;
   bytes_ += bytes;
   if (!spillsAlways_ && bytes_ <= residentBytesMax) {
      resident_.push_back(std::move(batch));
      return;
   }
   fillPage(page_, batch->batch);
   stored_.push_back(page_.store(space_));
   loadedAt_ = SIZE_MAX;
}

void KeptRows::clear() {
   builder_.take();
   resident_.clear();
   stored_.clear();
   firsts_.clear();
   bytes_ = 0;
   count_ = 0;
   loadedAt_ = SIZE_MAX;
}

const Batch& KeptRows::batchOf(uint64_t row, uint64_t& first) {
   DCHECK(row < count());
   if (row >= count_) {
      first = count_;
      return *builder_.current();
   }
   const auto at = static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin()) - 1;
   first = firsts_[at];
   if (at < resident_.size()) return resident_[at]->batch;
   const size_t index = at - resident_.size();
   if (loadedAt_ == index) return loaded_;
   io::SpillReader reader(space_, 0);
   addToReader(reader, stored_[index], false);
   page_.load(reader, stored_[index]);
   loaded_.columns.clear();
   for (size_t i = 0; i < slots_.size(); ++i)
      loaded_.columns.push_back(page_.column(i));
   loaded_.setDense(stored_[index].rows);
   loadedAt_ = index;
   return loaded_;
}

} // namespace ouzel::engine
