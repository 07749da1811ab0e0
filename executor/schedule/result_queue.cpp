#include "executor/schedule/result_queue.hpp"

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

namespace {
/// A client that takes nothing for so long rests; others are only slow to read.
constexpr int64_t restNanos = 50'000'000;
/// Stored batches that are read ahead, and their bytes.
constexpr size_t batchesAhead = 8;
constexpr size_t aheadBytes = size_t{1} << 20;

std::vector<PhysicalType> physicalTypes(const std::vector<Representation>& columns) {
   std::vector<PhysicalType> types;
   for (const Representation& column : columns)
      types.push_back(column.physical);
   return types;
}
} // namespace

ResultQueue::ResultQueue(std::vector<Representation> columns, Reservation& memory, io::SpillManager* disk,
                         io::SpillPolicy policy)
   : columns_(std::move(columns)), types_(physicalTypes(columns_)), memory_(memory), disk_(disk), policy_(policy) {}

bool ResultQueue::hasRoom() {
   const MutexLock lock(mutex_);
   if (isStoring()) {
      if (storedBytes_.load() <= storedBytesMax_.load() && storeResident()) return true;
      isStoring_.store(false);
      fullSince_.store(0); // the query may be asked again, after a while
   }
   if (entries_.size() < batchesMax) return true;
   if (fullSince_.load() == 0) fullSince_.store(steadyNanos());
   return false;
}

bool ResultQueue::storeResident() {
   if (residentCount_ == 0) return true;
   for (Entry& entry : entries_) {
      if (!entry.batch) continue;
      if (!store(entry)) return false;
      --residentCount_;
   }
   DCHECK(residentCount_ == 0);
   return true;
}

void ResultQueue::push(std::unique_ptr<OwnedBatch> batch) {
   DCHECK(batch != nullptr);
   Entry entry{std::move(batch), {}};
   if (isStoring()) store(entry); // else hasRoom() tries it again
   const MutexLock lock(mutex_);
   residentCount_ += entry.batch != nullptr;
   entries_.push_back(std::move(entry));
}

/// False: there is no space on disk.
bool ResultQueue::store(Entry& entry) {
   try {
      std::call_once(spaceMade_, [&] { space_ = std::make_unique<io::SpillSpace>(*disk_, policy_); });
      ColumnPage page(types_, 0, onTheWay_);
      fillPage(page, entry.batch->batch);
      entry.stored = page.store(*space_);
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::diskFull) throw;
      return false;
   }
   entry.batch.reset();
   hasStored_.store(true);
   storedBytes_.fetch_add(entry.stored.bytes);
   return true;
}

std::unique_ptr<OwnedBatch> ResultQueue::take(bool& madeRoom) {
   Entry entry;
   std::vector<SpilledColumnPage> expected;
   {
      const MutexLock lock(mutex_);
      fullSince_.store(0);
      madeRoom = entries_.size() == batchesMax;
      if (entries_.empty()) return nullptr;
      entry = std::move(entries_.front());
      entries_.pop_front();
      if (entry.batch) {
         DCHECK(expected_ == 0);
         --residentCount_;
         return std::move(entry.batch);
      }
      if (expected_ == 0) {
         expected.push_back(entry.stored);
         while (expected_ < std::min(entries_.size(), batchesAhead) && !entries_[expected_].batch)
            expected.push_back(entries_[expected_++].stored);
      } else {
         --expected_;
      }
   }
   if (!reader_) reader_ = std::make_unique<io::SpillReader>(*space_, aheadBytes);
   for (const SpilledColumnPage& stored : expected)
      addToReader(*reader_, stored, true);
   return load(entry.stored);
}

std::unique_ptr<OwnedBatch> ResultQueue::load(const SpilledColumnPage& stored) {
   if (!page_) page_ = std::make_unique<ColumnPage>(types_, 0, onTheWay_);
   page_->load(*reader_, stored);
   Batch rows;
   for (size_t i = 0; i < types_.size(); ++i)
      rows.columns.push_back(page_->column(i));
   rows.setDense(stored.rows);
   BatchBuilder builder(columns_, onTheWay_);
   [[maybe_unused]] const uint32_t taken = builder.append(rows, identitySlots(types_.size()), 0);
   DCHECK(taken == stored.rows);
   return builder.take();
}

bool ResultQueue::isEmpty() {
   const MutexLock lock(mutex_);
   return entries_.empty();
}

bool ResultQueue::isResting() const {
   const int64_t since = fullSince_.load();
   return since != 0 && steadyNanos() - since > restNanos;
}

bool ResultQueue::storeRest(uint64_t bytesMax) {
   if (!disk_ || storedBytes_.load() > bytesMax) return false;
   storedBytesMax_.store(bytesMax);
   isStoring_.store(true);
   return true;
}

} // namespace ouzel::executor
