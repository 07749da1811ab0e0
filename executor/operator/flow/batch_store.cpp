#include "executor/operator/flow/batch_store.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {
/// The number of spilled batches that a worker takes at once and reads ahead.
constexpr size_t batchesAhead = 8;
/// Of one batch: with wide rows, a batch has fewer of them.
constexpr size_t stringBytesMax = size_t{256} << 10;
/// A batch with more bytes, one row of which may have a gigabyte, is written with memory that is counted.
constexpr size_t uncountedMax = size_t{8} << 20;
} // namespace

BatchStore::BatchStore() = default;
BatchStore::~BatchStore() {
   if (grant_) grant_->claimFloor(); // no reclaim() from now on
   // These members are charged to grant_, so they are freed first.
   batches_.clear();
   page_.reset();
}

void BatchStore::allowSpilling(QueryContext& context) {
   if (!context.canSpill() || grant_) return;
   grant_ = std::make_unique<MemoryGrant>(context.budget());
   context_ = &context;
}

Reservation& BatchStore::memory(QueryContext& context) const {
   return grant_ ? grant_->memory() : context.memory();
}

void BatchStore::add(std::unique_ptr<OwnedBatch> batch) {
   DCHECK(batch != nullptr);
   DCHECK(batch->batch.selection.isDense()); // as BatchBuilder makes batches
   const bool hasRoom = !grant_ || grant_->mayGrow(batch->arena.chunkBytes());
   const MutexLock lock(mutex_);
   rows_ += batch->batch.rowCount;
   batches_.push_back(std::move(batch));
   if (hasRoom) return;
   // The new batch goes to disk. While the buffer holds more than its floor, an earlier batch goes with it, so that
   // other operators get memory.
   store(batches_.size() - 1);
   while (firstResident_ < batches_.size() && !batches_[firstResident_])
      ++firstResident_;
   if (firstResident_ < batches_.size() && grant_->memory().used() > grant_->floor()) store(firstResident_);
}

void BatchStore::settle(uint32_t readings) {
   if (!grant_) return;
   size_t bytes = 0;
   for (const auto& batch : batches_)
      if (batch) bytes += batch->arena.chunkBytes();
   readings_ = readings;
   reclaimEnd_ = batches_.size();
   reclaimable_.store(bytes);
   grant_->waiveFloor();
   grant_->settle(this);
}

size_t BatchStore::reclaim(size_t bytes) {
   size_t freed = 0;
   try {
      while (freed < bytes) {
         const MutexLock lock(mutex_); // readers get it in between
         while (reclaimEnd_ > 0 && !batches_[reclaimEnd_ - 1])
            --reclaimEnd_;
         if (reclaimEnd_ == 0) break;
         const size_t batchBytes = batches_[reclaimEnd_ - 1]->arena.chunkBytes();
         store(reclaimEnd_ - 1);
         reclaimable_.fetch_sub(batchBytes);
         freed += batchBytes;
      }
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::diskFull && error.state() != sqlstate::outOfMemory) throw;
      reclaimable_.store(0); // the rest stays
      const MutexLock lock(mutex_);
      reclaimEnd_ = 0;
   }
   return freed;
}

void BatchStore::store(size_t index) {
   DCHECK(index < batches_.size());
   DCHECK(batches_[index] != nullptr); // not on disk yet
   const Batch& batch = batches_[index]->batch;
   if (!page_) {
      for (const Vector& column : batch.columns)
         types_.push_back(column.type);
      page_ = std::make_unique<ColumnPage>(types_, 0, pageMemory_);
   }
   DCHECK(types_.size() == batch.columns.size());
   std::unique_ptr<ColumnPage> large;
   if (batches_[index]->arena.chunkBytes() > uncountedMax)
      large = std::make_unique<ColumnPage>(types_, 0, grant_->memory());
   ColumnPage& page = large ? *large : *page_;
   fillPage(page, batch);
   if (stored_.size() <= index) stored_.resize(index + 1);
   stored_[index] = page.store(context_->spill());
   spilledBytes_ += stored_[index].bytes;
   for (const io::SpilledPage& piece : stored_[index].pieces)
      storedBytes_ += piece.storedBytes();
   batches_[index].reset();
}

void BatchStore::spillRest() {
   DCHECK(grant_ != nullptr);
   {
      const MutexLock lock(mutex_);
      for (size_t i = firstResident_; i < batches_.size(); ++i)
         if (batches_[i]) store(i);
      firstResident_ = batches_.size();
   }
   grant_->waiveFloor();
}

void BatchStore::clear() {
   if (grant_) grant_->claimFloor();
   for (const SpilledColumnPage& stored : stored_)
      for (const io::SpilledPage& piece : stored.pieces)
         context_->spill().free(piece);
   batches_.clear();
   stored_.clear();
   firstResident_ = 0;
   rows_ = 0;
}

const std::vector<std::shared_ptr<OwnedBatch>>& BatchStore::batches() const {
   DCHECK(!grant_);
   return batches_;
}

BatchBuilder BatchStore::makeBuilder(std::vector<Representation> columns, QueryContext& context) const {
   return {std::move(columns), memory(context), batchRowsMax, grant_ ? stringBytesMax : SIZE_MAX};
}

BatchStore::DiskBytes BatchStore::diskBytes() const {
   DiskBytes out;
   for (size_t i = 0; i < stored_.size(); ++i) {
      if (batches_[i]) continue;
      out.raw += stored_[i].bytes;
      for (const io::SpilledPage& piece : stored_[i].pieces)
         out.stored += piece.storedBytes();
   }
   return out;
}

size_t BatchStore::freeBytes(size_t bytesMin) const {
   size_t bytes = 0;
   for (size_t step = size_t{1} << 40; grant_ && step >= bytesMin; step /= 2)
      if (grant_->mayGrow(bytes + step)) bytes += step;
   return std::max(bytes, bytesMin);
}

void BatchStore::describe(OperatorProfile& profile) const {
   if (grant_) profile.memoryPeak = std::max(profile.memoryPeak, grant_->memory().peak());
   if (spilledBytes_ == 0) return;
   // A recursion has several sources over one buffer. Each note replaces the one before, since the counters are sums.
   const auto note = [&](const char* name, uint64_t bytes) {
      for (auto& [known, text] : profile.notes)
         if (known == name) {
            text = std::to_string(bytes);
            return;
         }
      profile.notes.emplace_back(name, std::to_string(bytes));
   };
   note("Spilled Bytes", spilledBytes_);
   note("Stored Bytes", storedBytes_);
}

BatchStore::Reader::Reader(const BatchStore& buffer, QueryContext& context, bool isLastUse, size_t aheadBytes)
   : buffer_(buffer), isLastUse_(isLastUse), aheadBytes_(aheadBytes), context_(context) {}
BatchStore::Reader::~Reader() = default;

void BatchStore::Reader::add(size_t index) {
   const MutexLock lock(buffer_.mutex_);
   if (index >= buffer_.stored_.size() || buffer_.batches_[index]) return;
   if (!disk_) disk_ = std::make_unique<io::SpillReader>(context_.spill(), aheadBytes_);
   addToReader(*disk_, buffer_.stored_[index], isLastUse_);
   expected_.push_back(index);
}

void BatchStore::Reader::expect(size_t from, size_t end) {
   for (size_t i = from; i < end; ++i)
      add(i);
   if (disk_) disk_->start();
}

void BatchStore::Reader::expect(std::span<const size_t> indices) {
   for (const size_t index : indices)
      add(index);
   if (disk_) disk_->start();
}

std::unique_ptr<ColumnPage> BatchStore::Reader::takePage(size_t index) {
   if (pageIndex_ != index) return nullptr;
   pageIndex_ = SIZE_MAX;
   return std::move(page_);
}

const Batch& BatchStore::Reader::batch(size_t index) {
   SpilledColumnPage stored;
   {
      const MutexLock lock(buffer_.mutex_);
      DCHECK(index < buffer_.batches_.size());
      resident_ = buffer_.batches_[index];
      if (resident_) return resident_->batch;
      if (index == pageIndex_) return batch_;
      stored = buffer_.stored_[index];
   }
   pageIndex_ = SIZE_MAX;
   if (!page_) page_ = std::make_unique<ColumnPage>(buffer_.types_, 0, buffer_.memory(context_));
   if (expectedAt_ < expected_.size() && expected_[expectedAt_] == index) {
      page_->load(*disk_, stored);
      if (++expectedAt_ == expected_.size()) {
         expected_.clear();
         expectedAt_ = 0;
      }
   } else {
      io::SpillReader reader(context_.spill(), 0);
      addToReader(reader, stored, isLastUse_);
      page_->load(reader, stored);
   }
   batch_.columns.clear();
   for (size_t i = 0; i < buffer_.types_.size(); ++i)
      batch_.columns.push_back(page_->column(i));
   batch_.setDense(stored.rows);
   pageIndex_ = index;
   return batch_;
}

// ---- sink and source ----

namespace {

struct SinkLocal final : LocalState {
   explicit SinkLocal(BatchBuilder b) : builder(std::move(b)) {}
   BatchBuilder builder;
};

struct SourceLocal final : LocalState {
   SourceLocal(const BatchStore& buffer, QueryContext& context, bool isLastUse) : reader(buffer, context, isLastUse) {}
   BatchStore::Reader reader;
   size_t next = 0, end = 0; // batches [next, end) that this worker has taken
   const Batch* batch = nullptr;
   uint32_t given = 0;
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
};

} // namespace

LocalStatePtr BatchStoreSink::makeLocal(QueryContext& context) {
   return std::make_unique<SinkLocal>(buffer_.makeBuilder(columns_, context));
}

SinkStatus BatchStoreSink::consume(QueryContext&, LocalState& state, const Batch& in) {
   BatchBuilder& builder = static_cast<SinkLocal&>(state).builder;
   for (uint32_t taken = 0; taken < in.liveRows();) {
      taken += builder.append(in, slots_, taken);
      if (builder.isFull()) buffer_.add(builder.take());
   }
   return SinkStatus::NeedInput;
}

void BatchStoreSink::combine(QueryContext&, LocalState& state) {
   if (auto rest = static_cast<SinkLocal&>(state).builder.take()) buffer_.add(std::move(rest));
}

uint32_t BatchStoreSource::workersMax() const {
   return ordered_ ? 1 : static_cast<uint32_t>(std::clamp<size_t>(buffer_.batchCount(), 1, 1024));
}

LocalStatePtr BatchStoreSource::makeLocal(QueryContext& context) {
   return std::make_unique<SourceLocal>(buffer_, context, isLastUse_);
}

SourceStatus BatchStoreSource::next(QueryContext& context, LocalState& state, Batch& out) {
   SourceLocal& local = static_cast<SourceLocal&>(state);
   if (!local.batch) {
      if (local.next == local.end) {
         // Take several batches at once if some are on disk, so that they are read ahead.
         const size_t step = buffer_.hasSpilled() ? batchesAhead : 1;
         local.next = next_.fetch_add(step);
         local.end = std::min(local.next + step, buffer_.batchCount());
         if (local.next >= buffer_.batchCount()) {
            local.next = local.end = buffer_.batchCount();
            return SourceStatus::Done;
         }
         local.reader.expect(local.next, local.end);
      }
      local.batch = &local.reader.batch(local.next++);
      local.given = 0;
   }
   const Batch& batch = *local.batch;
   DCHECK(local.given < batch.rowCount);
   const uint32_t count = std::min(context.settings().batchRows, batch.rowCount - local.given);
   out.columns.clear();
   for (const uint32_t slot : slots_)
      out.columns.push_back(batch.columns[slot]);
   out.rowCount = batch.rowCount;
   if (count == batch.rowCount) {
      out.selection = Selection::dense(count);
   } else {
      for (uint32_t i = 0; i < count; ++i)
         local.rows[i] = static_cast<RowIndex>(local.given + i);
      out.selection = Selection::list(local.rows.data(), count);
   }
   local.given += count;
   if (local.given == batch.rowCount) local.batch = nullptr;
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
