#include "executor/operator/sort/sort_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/error/sql_error.hpp"
#include "common/value/dispatch.hpp"
#include "executor/operator/sort/key_ranks.hpp"
#include "executor/operator/sort/row_sorter.hpp"
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

// ---- SortRun ----

SortRun::SortRun(const SortRowLayout& layout, Reservation& memory, uint64_t keepRows)
   : layout_(&layout), memory_(&memory), keepRows_(keepRows), stride_(layout.key.stride()),
     slots_(identitySlots(layout.columns.size())), builder_(layout.columns, memory),
     keyArena_(std::make_unique<Arena>(&memory)), columnBatches_(layout.columns.size()),
     mayHaveNulls_(layout.columns.size(), 0) {}

void SortRun::append(const Batch& rows, std::span<const Vector> keys) {
   if (rowCount_ > UINT32_MAX - 2 * batchRowsMax) throwNotSupported("sorting more than 4294963200 rows in one lane");
   if (keepRows_ == keepAll && !bounds_) return appendSome(rows, keys, nullptr);
   const uint32_t count = rows.liveRows();
   scratch_.resize(size_t{batchRowsMax} * stride_);
   layout_->key.encode(keys, rows.selection, 0, count, scratch_.data());
   if (bounds_) {
      appendWanted(rows, count, [&](const std::byte* key) { return bounds_->count(key); });
      if (bounds_->isWorthDropping()) dropRestOfPartitions();
      return;
   }
   if (threshold_.empty()) {
      appendSome(rows, keys, scratch_.data());
   } else {
      // Rows with a key above the threshold are not wanted. Rows with equal, unresolved keys stay until dropRest().
      const bool isExact = layout_->key.isExact();
      const SortPrefix limit = layout_->key.prefix(threshold_.data());
      appendWanted(rows, count, [&](const std::byte* key) {
         const SortPrefix prefix = layout_->key.prefix(key);
         if (prefix.high > limit.high || (prefix.high == limit.high && prefix.low > limit.low)) return false;
         return !isExact || std::memcmp(key, threshold_.data(), layout_->key.width()) < 0;
      });
   }
   if (rowCount_ > std::max(2 * keepRows_, keepRows_ + surplusMax_)) dropRest();
}

/// Append those of the `count` live rows whose keys, in scratch_, are wanted.
template <typename IsWanted>
void SortRun::appendWanted(const Batch& rows, uint32_t count, IsWanted&& isWanted) {
   passing_.resize(batchRowsMax);
   uint32_t passed = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const std::byte* key = scratch_.data() + size_t{i} * stride_;
      if (!isWanted(key)) continue;
      passing_[passed] = rows.selection.row(i);
      if (passed != i) std::memmove(scratch_.data() + size_t{passed} * stride_, key, stride_);
      ++passed;
   }
   if (passed == 0) return;
   Batch some;
   some.columns = rows.columns;
   some.rowCount = rows.rowCount;
   some.selection = Selection::list(passing_.data(), passed);
   appendSome(some, {}, scratch_.data());
}

/// `encoded`: the keys of the live rows; null: encode them from `keys`.
void SortRun::appendSome(const Batch& rows, std::span<const Vector> keys, const std::byte* encoded) {
   const uint32_t count = rows.liveRows();
   for (uint32_t taken = 0; taken < count;) {
      const uint32_t at = rowCount_ % batchRowsMax;
      if (at == 0) keys_.push_back(keyArena_->allocateArray<std::byte>(size_t{batchRowsMax} * stride_));
      const uint32_t some = builder_.append(rows, slots_, taken);
      std::byte* target = keys_.back() + size_t{at} * stride_;
      if (encoded)
         std::memcpy(target, encoded + size_t{taken} * stride_, size_t{some} * stride_);
      else
         layout_->key.encode(keys, rows.selection, taken, some, target);
      spread_.add(layout_->key, target, some);
      taken += some;
      rowCount_ += some;
      if (builder_.isFull()) closeBatch();
   }
}

void SortRun::closeBatch() {
   auto batch = builder_.take();
   if (!batch) return;
   const uint32_t count = batch->batch.rowCount;
   for (size_t i = 0; i < batch->batch.columns.size(); ++i) {
      Vector& column = batch->batch.columns[i];
      columnBatches_[i].push_back(static_cast<const std::byte*>(column.data));
      const bool isFullWords = std::all_of(column.validity, column.validity + count / 64,
                                           [](ValidityWord word) { return word == ~ValidityWord{0}; });
      bool hasNulls = !isFullWords;
      for (uint32_t row = count / 64 * 64; row < count && !hasNulls; ++row)
         hasNulls = !isValidBit(column.validity, row);
      if (hasNulls)
         mayHaveNulls_[i] = 1;
      else
         column.validity = nullptr;
   }
   closedBytes_ += batch->arena.chunkBytes();
   batches_.push_back(std::move(batch));
}

void SortRun::seal() {
   if (keepRows_ != keepAll && rowCount_ > keepRows_) dropRest();
   if (bounds_) {
      if (bounds_->isWorthDropping()) dropRestOfPartitions();
      bounds_->restart();
      bounds_ = nullptr;
   }
   closeBatch();
   scratch_ = {};
}

/// Keep the first keepRows_ rows in sort order, and set threshold_ to the key of the last of these rows.
void SortRun::dropRest() {
   closeBatch();
   const SortRun* self = this;
   const RowOrder order(*layout_, {&self, 1});
   std::vector<RowAddress> rows(rowCount_);
   for (uint32_t i = 0; i < rowCount_; ++i)
      rows[i] = {0, i};
   const auto less = [&](RowAddress a, RowAddress b) {
      const int compared = order.compare(a, b);
      return compared != 0 ? compared < 0 : a.row < b.row;
   };
   std::nth_element(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(keepRows_ - 1), rows.end(), less);
   rows.resize(keepRows_);
   threshold_.assign(key(rows.back().row), key(rows.back().row) + stride_);
   surplusMax_ = std::min(2 * surplusMax_, 2 * batchRowsMax);
   keepOnly(std::move(rows));
}

/// Keep the first rows of each partition, and tell bounds_ the key of the last one.
void SortRun::dropRestOfPartitions() {
   closeBatch();
   const SortRun* self = this;
   const RowOrder order(*layout_, {&self, 1});
   std::vector<RowAddress> kept;
   std::vector<std::vector<RowAddress>> partitions(bounds_->partitionCount());
   for (uint32_t row = 0; row < rowCount_; ++row) {
      const uint32_t partition = bounds_->partitionOf(key(row));
      (partition == PartitionBounds::unbounded ? kept : partitions[partition]).push_back({0, row});
   }
   const uint64_t wanted = bounds_->rowsWanted();
   for (uint32_t partition = 0; partition < partitions.size(); ++partition) {
      std::vector<RowAddress>& rows = partitions[partition];
      if (rows.size() > wanted) {
         const auto last = rows.begin() + static_cast<ptrdiff_t>(wanted - 1);
         std::nth_element(rows.begin(), last, rows.end(), [&](RowAddress a, RowAddress b) {
            const int compared = order.compare(a, b);
            return compared != 0 ? compared < 0 : a.row < b.row;
         });
         const RowAddress bound = *last;
         const auto isTie = [&](RowAddress row) { return bounds_->keepsTies() && order.compare(row, bound) == 0; };
         rows.erase(std::partition(last + 1, rows.end(), isTie), rows.end());
         bounds_->keepFirst(partition, rows.size(), key(bound.row));
      }
      kept.insert(kept.end(), rows.begin(), rows.end());
   }
   keepOnly(std::move(kept));
}

/// Copies these rows, in order of arrival, and forgets all others.
void SortRun::keepOnly(std::vector<RowAddress> rows) {
   const SortRun* self = this;
   std::sort(rows.begin(), rows.end(), [](RowAddress a, RowAddress b) { return a.row < b.row; });
   SortRun kept(*layout_, *memory_, keepAll);
   Arena values(memory_);
   for (size_t from = 0; from < rows.size(); from += batchRowsMax) {
      const std::span some =
          std::span<const RowAddress>(rows).subspan(from, std::min<size_t>(batchRowsMax, rows.size() - from));
      values.reset();
      Batch batch;
      for (uint32_t column = 0; column < layout_->columns.size(); ++column) {
         const PhysicalType type = layout_->columns[column].physical;
         void* data = values.allocate(size_t{physicalSize(type)} * some.size(), 16);
         auto* validity = mayHaveNulls_[column] != 0
                              ? values.allocateArray<ValidityWord>(validityWords(static_cast<uint32_t>(some.size())))
                              : nullptr;
         gatherRows({&self, 1}, some, column, type, data, validity);
         batch.columns.push_back(Vector::flat(type, data, validity));
      }
      batch.setDense(static_cast<uint32_t>(some.size()));
      std::vector<std::byte> keys(some.size() * stride_);
      for (size_t i = 0; i < some.size(); ++i)
         std::memcpy(keys.data() + i * stride_, key(some[i].row), stride_);
      kept.appendSome(batch, {}, keys.data());
   }
   kept.keepRows_ = keepRows_;
   kept.bounds_ = bounds_;
   kept.threshold_ = std::move(threshold_);
   kept.surplusMax_ = surplusMax_;
   kept.scratch_ = std::move(scratch_);
   kept.passing_ = std::move(passing_);
   *this = std::move(kept);
}

// ---- RowOrder ----

int RowOrder::compare(RowAddress a, RowAddress b, uint32_t fromColumn, uint32_t toColumn) const {
   const SortRun& runA = *runs_[a.run];
   const SortRun& runB = *runs_[b.run];
   return compareKeys(
       *layout_, runA.key(a.row), runB.key(b.row), fromColumn, toColumn,
       [&](uint32_t column) { return runA.value(column, a.row); },
       [&](uint32_t column) { return runB.value(column, b.row); });
}

// ---- SortBuffer ----

SortBuffer::SortBuffer(SortRowLayout layout) : layout_(std::move(layout)) {}

SortBuffer::~SortBuffer() = default;

void SortBuffer::addRun(std::unique_ptr<SortRun> run) {
   run->seal();
   if (run->rowCount() == 0) return;
   rowCount_ += run->rowCount();
   runPointers_.push_back(run.get());
   runs_.push_back(std::move(run));
}

std::vector<std::unique_ptr<SortRun>> SortBuffer::takeRuns() {
   runPointers_.clear();
   rowCount_ = 0;
   return std::exchange(runs_, {});
}

uint32_t SortBuffer::sortTasks(uint32_t workers, Reservation& memory, bool isAll) {
   if (rowCount_ == 0) return 0;
   switch (step_) {
   case Step::Begin:
      if (isAll) ranks_ = KeyRanks::plan(layout_, runs_, workers, memory);
      if (!ranks_) break;
      step_ = Step::CollectTexts;
      return ranks_->parts();
   case Step::CollectTexts:
      if (!ranks_->endCollect()) break;
      step_ = Step::ReplaceTexts;
      return ranks_->parts();
   case Step::ReplaceTexts:
      ranked_ =
          std::make_unique<SortRowLayout>(SortRowLayout{layout_.columns, ranks_->endReplace(), layout_.keyColumns});
      break;
   case Step::Split:
      sorter_->endSplit();
      order_ = LargeMemory(rowCount_ * sizeof(RowAddress), memory, LargeMemory::Fill::Anything);
      step_ = Step::Sort;
      return sorter_->parts();
   case Step::Sort: return 0;
   }
   ranks_.reset();
   sorter_ = std::make_unique<RowSorter>(ranked_ ? *ranked_ : layout_, runs(), workers, memory);
   step_ = Step::Split;
   return sorter_->parts();
}

void SortBuffer::sortTask(uint32_t task) {
   switch (step_) {
   case Step::Begin: break;
   case Step::CollectTexts: return ranks_->collect(task);
   case Step::ReplaceTexts: return ranks_->replace(task);
   case Step::Split: return sorter_->split(task);
   case Step::Sort: return sorter_->sort(task, order_.as<RowAddress>());
   }
}

void SortBuffer::finishSort() {
   ranks_.reset();
   sorter_.reset();
}

void SortBuffer::keepArrivalOrder(Reservation& memory) {
   order_ = LargeMemory(rowCount_ * sizeof(RowAddress), memory);
   RowAddress* out = order_.as<RowAddress>();
   for (uint32_t run = 0; run < runs_.size(); ++run)
      for (uint32_t row = 0; row < runs_[run]->rowCount(); ++row)
         *out++ = {run, row};
}

void SortBuffer::releaseKeys() {
   for (const auto& run : runs_)
      run->releaseKeys();
}

void SortBuffer::clear() {
   finishSort();
   ranked_.reset();
   step_ = Step::Begin;
   order_.release();
   runPointers_.clear();
   runs_.clear();
   rowCount_ = 0;
}

bool SortBuffer::mayHaveNulls(uint32_t column) const {
   return std::any_of(runs_.begin(), runs_.end(), [&](const auto& run) { return run->mayHaveNulls(column); });
}

void gatherRows(std::span<const SortRun* const> runs, std::span<const RowAddress> rows, uint32_t column,
                PhysicalType type, void* out, ValidityWord* validity) {
   std::vector<const std::byte* const*> batches;
   for (const SortRun* run : runs)
      batches.push_back(run->columnBatches(column));
   dispatchSize(type, [&](auto tag) {
      using T = decltype(tag);
      T* target = static_cast<T*>(out);
      for (size_t i = 0; i < rows.size(); ++i) {
         const RowAddress at = rows[i];
         const std::byte* values = batches[at.run][at.row / batchRowsMax];
         std::memcpy(target + i, values + at.row % batchRowsMax * sizeof(T), sizeof(T));
      }
   });
   if (!validity) return;
   std::memset(validity, 0xff, validityWords(static_cast<uint32_t>(rows.size())) * sizeof(ValidityWord));
   for (size_t i = 0; i < rows.size(); ++i)
      if (runs[rows[i].run]->isNull(column, rows[i].row)) setValidBit(validity, static_cast<uint32_t>(i), false);
}

} // namespace ouzel::executor
