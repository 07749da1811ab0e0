#include "engine/query/held_rows.hpp"

#include <algorithm>
#include <numeric>

#include "common/error/check.hpp"
#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

namespace {

/// Memory for the rows of one cursor. A session may hold many cursors, and for long.
constexpr size_t residentBytes = size_t{1} << 20;

std::vector<Representation> representations(const std::vector<ResultColumn>& columns) {
   std::vector<Representation> out;
   for (const ResultColumn& column : columns)
      out.push_back(column.representation);
   return out;
}

std::vector<PhysicalType> physicalTypes(const std::vector<ResultColumn>& columns) {
   std::vector<PhysicalType> out;
   for (const ResultColumn& column : columns)
      out.push_back(column.representation.physical);
   return out;
}

} // namespace

HeldRows::HeldRows(SessionCore& core, std::vector<ResultColumn> columns)
   : columns_(std::move(columns)), memory_(core.database.governor->ledger()),
     space_(*core.database.spill, spillPolicy(core.settings)),
     residentBytesMax_(core.settings.boolean("ouzel.spill_all") ? 0 : residentBytes), slots_(columns_.size()),
     builder_(representations(columns_), memory_), page_(physicalTypes(columns_), 0, memory_) {
   std::iota(slots_.begin(), slots_.end(), 0);
}

void HeldRows::fill(QueryExecution& execution) {
   execution.run(0, this);
   if (auto rest = builder_.take()) keep(std::move(rest));
}

void HeldRows::rows(const Batch& batch) {
   for (uint32_t taken = 0; taken < batch.liveRows();) {
      taken += builder_.append(batch, slots_, taken);
      if (builder_.isFull()) keep(builder_.take());
   }
}

void HeldRows::keep(std::unique_ptr<executor::OwnedBatch> batch) {
   const size_t bytes = batch->arena.chunkBytes();
   if (stored_.empty() && residentBytes_ + bytes <= residentBytesMax_) {
      residentBytes_ += bytes;
      resident_.push_back(std::move(batch));
      return;
   }
   fillPage(page_, batch->batch);
   stored_.push_back(page_.store(space_));
}

/// The batch to give rows of; null: there are none left.
const Batch* HeldRows::current() {
   if (at_ < resident_.size()) return &resident_[at_]->batch;
   const size_t index = at_ - resident_.size();
   if (index >= stored_.size()) return nullptr;
   if (isLoaded_) return &loaded_;
   io::SpillReader reader(space_, 0);
   addToReader(reader, stored_[index], true);
   page_.load(reader, stored_[index]);
   loaded_.columns.clear();
   for (size_t i = 0; i < columns_.size(); ++i)
      loaded_.columns.push_back(page_.column(i));
   loaded_.setDense(stored_[index].rows);
   isLoaded_ = true;
   return &loaded_;
}

/// All rows of the current batch were given.
void HeldRows::leave() {
   if (at_ < resident_.size()) resident_[at_].reset();
   ++at_;
   givenOf_ = 0;
   isLoaded_ = false;
}

bool HeldRows::run(uint64_t maxRows, ResultSink* sink) {
   if (sink) sink->begin(columns_);
   uint64_t room = maxRows ? maxRows : UINT64_MAX;
   while (const Batch* batch = current()) {
      const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(batch->liveRows() - givenOf_, room));
      if (sink) giveRows(*sink, *batch, givenOf_, count);
      given_ += count;
      room -= count;
      givenOf_ += count;
      if (givenOf_ == batch->liveRows()) leave();
      if (room == 0) return false;
   }
   return true;
}

} // namespace ouzel::engine
