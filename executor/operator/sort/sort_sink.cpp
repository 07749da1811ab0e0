#include "executor/operator/sort/sort_sink.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

std::vector<SortOrder> sortOrders(const std::vector<sql::SortKey>& keys) {
   std::vector<SortOrder> out;
   for (const sql::SortKey& key : keys)
      out.push_back({key.expr.get(), key.descending, key.nullsFirst});
   return out;
}

SortInput makeSortInput(const std::vector<sql::ColumnId>& inputLayout, const std::vector<sql::ColumnId>& stored,
                        const std::vector<SortOrder>& keys, const sql::ColumnTable& columns,
                        std::span<const sql::Expr* const> extras) {
   const ColumnSlots slots{std::span(inputLayout)};
   std::vector<Representation> representations;
   std::vector<uint32_t> columnSlots, computedKeys, keyColumns;
   for (const sql::ColumnId column : stored) {
      const auto slot = slots.find(column);
      if (!slot) throwInternal("a sorted column that nothing gives");
      columnSlots.push_back(*slot);
      representations.push_back(columns[column].repr);
   }
   std::shared_ptr<const ExpressionProgram> extraProgram;
   if (!extras.empty()) extraProgram = ExpressionProgram::compile(extras, slots, columns);
   for (uint32_t i = 0; i < extras.size(); ++i)
      representations.push_back(extraProgram->representation(i));
   std::vector<const sql::Expr*> exprs;
   for (const SortOrder& key : keys)
      exprs.push_back(key.expr);
   auto program = ExpressionProgram::compile(std::span(exprs), slots, columns);
   std::vector<SortColumn> sortColumns;
   for (uint32_t i = 0; i < keys.size(); ++i) {
      const Representation representation = program->representation(i);
      sortColumns.push_back({representation.physical, keys[i].descending, keys[i].nullsFirst});
      keyColumns.push_back(UINT32_MAX);
      if (!isVariableSize(representation.physical)) continue;
      // Values decide when prefixes are equal, so the key's values must be stored.
      const auto slot = program->columnSlot(i);
      const auto found = slot ? std::find(columnSlots.begin(), columnSlots.end(), *slot) : columnSlots.end();
      if (found != columnSlots.end()) {
         keyColumns.back() = static_cast<uint32_t>(found - columnSlots.begin());
      } else {
         keyColumns.back() = static_cast<uint32_t>(representations.size());
         computedKeys.push_back(i);
         representations.push_back(representation);
      }
   }
   return SortInput{SortRowLayout{std::move(representations), SortKeyLayout(sortColumns), std::move(keyColumns)},
                    std::move(columnSlots), std::move(extraProgram), std::move(computedKeys), std::move(program)};
}

namespace {

struct Local final : LocalState {
   Local(const SortInput& input, ExternalSort& sort, QueryContext& context, uint64_t keepRows)
      : state(input.keys, context.functions(), context.memory()), keys(input.keys->expressionCount()),
        lane(sort, context, keepRows) {
      if (!input.extras) return;
      extraState.emplace(input.extras, context.functions(), context.memory());
      extras.resize(input.extras->expressionCount());
   }
   ExpressionState state;
   std::vector<Vector> keys;
   std::optional<ExpressionState> extraState;
   std::vector<Vector> extras;
   Batch stored;
   ExternalSort::Lane lane;
};

} // namespace

void SortSink::prepare(QueryContext& context) {
   if (bound_) bound_->reset();
   sort_.prepare(context, rowsWanted_);
}

LocalStatePtr SortSink::makeLocal(QueryContext& context) {
   return std::make_unique<Local>(input_, sort_, context, keepRows_);
}

SinkStatus SortSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   Local& local = static_cast<Local&>(state);
   if (keepRows_ == 0) return SinkStatus::Done;
   if (!local.keys.empty()) input_.keys->evaluateAll(local.state, in, in.selection, local.keys.data());
   local.stored.columns.clear();
   for (const uint32_t slot : input_.columnSlots)
      local.stored.columns.push_back(in.columns[slot]);
   if (local.extraState) {
      input_.extras->evaluateAll(*local.extraState, in, in.selection, local.extras.data());
      local.stored.columns.insert(local.stored.columns.end(), local.extras.begin(), local.extras.end());
   }
   for (const uint32_t key : input_.computedKeys)
      local.stored.columns.push_back(local.keys[key]);
   local.stored.rowCount = in.rowCount;
   local.stored.selection = in.selection;
   local.lane.append(context, local.stored, local.keys);
   if (bound_)
      if (const std::byte* key = local.lane.threshold())
         if (const auto value = input_.layout.key.firstInteger(key)) bound_->tighten(*value);
   return SinkStatus::NeedInput;
}

void SortSink::combine(QueryContext&, LocalState& state) {
   sort_.combine(static_cast<Local&>(state).lane);
}

uint32_t SortSink::finishTasks(QueryContext& context, uint32_t) {
   return sort_.finishTasks(context);
}

void SortSink::finishTask(QueryContext& context, uint32_t, uint32_t task) {
   sort_.finishTask(context, task);
}

void SortSink::finish(QueryContext&) {
   sort_.finish(reader_);
   if (reader_) reader_->offerRows();
}

void SortSink::describe(OperatorProfile& profile) const {
   profile.notes.emplace_back("Sort Method", sort_.hasSpilled()              ? "external merge"
                                             : keepRows_ == SortRun::keepAll ? "merge of sorted runs"
                                                                             : "top-N");
   profile.notes.emplace_back("Sort Runs", std::to_string(sort_.buffer().runs().size()));
   sort_.describe(profile);
}

// ---- SortedSource ----

GatherSpace::GatherSpace(const std::vector<Representation>& columns, uint32_t count, Reservation& memory)
   : arena_(&memory) {
   for (uint32_t i = 0; i < count; ++i) {
      types_.push_back(columns[i].physical);
      data_.push_back(arena_.allocate(size_t{physicalSize(columns[i].physical)} * batchRowsMax, 16));
      validity_.push_back(arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax)));
   }
}

void GatherSpace::gather(const SortBuffer& buffer, std::span<const RowAddress> rows, Batch& out) {
   out.columns.resize(types_.size());
   for (uint32_t i = 0; i < types_.size(); ++i) {
      ValidityWord* validity = buffer.mayHaveNulls(i) ? validity_[i] : nullptr;
      gatherRows(buffer.runs(), rows, i, types_[i], data_[i], validity);
      out.columns[i] = Vector::flat(types_[i], data_[i], validity);
   }
   out.setDense(static_cast<uint32_t>(rows.size()));
}

void GatherSpace::gather(std::span<const RowRef> rows, const std::vector<uint8_t>& hasNulls, Batch& out) {
   out.columns.resize(types_.size());
   for (uint32_t i = 0; i < types_.size(); ++i) {
      ValidityWord* validity = hasNulls[i] != 0 ? validity_[i] : nullptr;
      gatherRefs(rows, i, types_[i], data_[i], validity);
      out.columns[i] = Vector::flat(types_[i], data_[i], validity);
   }
   out.setDense(static_cast<uint32_t>(rows.size()));
}

namespace {

constexpr size_t storedAhead = size_t{1} << 20;
/// About so many bytes of sorted rows are copied at a time to be written, with memory that is not counted.
constexpr size_t uncountedMax = size_t{4} << 20;

struct SourceLocal final : LocalState {
   explicit SourceLocal(GatherSpace s) : space(std::move(s)) {}
   GatherSpace space;
   // Of rows that were in memory and have gone to disk.
   std::unique_ptr<io::SpillReader> stored;
   std::optional<ColumnPage> page;
   std::unique_ptr<SortMerge> merge; // of `range`; null: it has ended
   uint32_t range = UINT32_MAX;
   uint64_t toSkip = 0; // first rows of the range to leave out
};

} // namespace

LocalStatePtr SortedSource::makeLocal(QueryContext& context) {
   return std::make_unique<SourceLocal>(GatherSpace(sort_.buffer().layout().columns, columnCount_, context.memory()));
}

/// One worker merges all rows if they are few, or if there is no memory for more lanes.
uint32_t SortedSource::openRanges(QueryContext& context) {
   rangeCount_ = lanesMax_ = 1;
   nextRange_ = endedRanges_ = lanesUsed_ = 0;
   ranges_.reset();
   if (!sort_.hasSpilled()) return 1;
   ranges_ = sort_.merge(context);
   skipFirst_ = range_.offset;
   if (range_.offset > 0) skipFirst_ -= ranges_->skip(range_.offset);
   const uint64_t perRange = sort_.rowsPerRange();
   if (sort_.mergeLanes() > 1 && range_.limit > perRange) {
      ranges_->cut(perRange, skipFirst_);
      sort_.fitLanes(*ranges_);
   }
   ranges_->start();
   rangeCount_ = ranges_->count();
   lanesMax_ = std::min(rangeCount_, sort_.mergeLanes());
   return rangeCount_;
}

uint32_t SortedSource::rangeOf(const LocalState& local) const {
   return static_cast<const SourceLocal&>(local).range;
}

SourceStatus SortedSource::next(QueryContext& context, LocalState& state, Batch& out) {
   if (sort_.hasSpilled()) return nextMerged(context, state, out);
   if (isWanted_.exchange(false)) storeRest(static_cast<SourceLocal&>(state).space);
   if (isStored_) return nextStored(state, out);
   const SortBuffer& buffer = sort_.buffer();
   const uint64_t end = std::min(buffer.rowCount(), range_.end());
   const uint64_t from = range_.offset + given_;
   if (range_.offset >= end || from >= end) return SourceStatus::Done;
   const uint64_t count = std::min<uint64_t>(context.settings().batchRows, end - from);
   static_cast<SourceLocal&>(state).space.gather(buffer, buffer.order().subspan(from, count), out);
   given_ += count;
   return SourceStatus::HaveOutput;
}

// ---- rows in memory that go to disk ----

void SortedSource::offerRows() {
   const MutexLock lock(mutex_);
   isRead_ = false;
   isStored_ = false;
   stored_.clear();
   nextStored_ = 0;
   reclaimable_.store(context_.canSpill() && !sort_.hasSpilled() ? sort_.memory().used() : 0);
}

void SortedSource::prepare(QueryContext&) {
   given_ = 0;
   const MutexLock lock(mutex_);
   isRead_ = true;
}

size_t SortedSource::reclaimableBytes() const {
   return isWanted_.load(std::memory_order_relaxed) ? 0 : reclaimable_.load(std::memory_order_relaxed);
}

/// All rows or none: the first rows in order lie anywhere.
size_t SortedSource::reclaim(size_t) {
   const MutexLock lock(mutex_);
   const size_t bytes = reclaimableBytes();
   if (bytes == 0) return 0;
   if (isRead_) {
      isWanted_.store(true);
      return 0;
   }
   GatherSpace space(sort_.buffer().layout().columns, columnCount_, pageMemory_);
   storeRest(space);
   return isStored_ ? bytes : 0;
}

std::vector<PhysicalType> SortedSource::types() const {
   std::vector<PhysicalType> types;
   for (uint32_t i = 0; i < columnCount_; ++i)
      types.push_back(sort_.buffer().layout().columns[i].physical);
   return types;
}

/// Writes the rows that were not given yet, and frees all rows, unless there is no space for them.
void SortedSource::storeRest(GatherSpace& space) {
   reclaimable_.store(0);
   SortBuffer& buffer = sort_.buffer();
   const uint64_t end = std::min(buffer.rowCount(), range_.end());
   std::vector<SpilledColumnPage> stored;
   try {
      ColumnPage page(types(), 0, pageMemory_);
      const size_t rowBytes = sort_.memory().used() / std::max<uint64_t>(buffer.rowCount(), 1);
      const uint64_t rowsMax =
          std::clamp<uint64_t>(uncountedMax / std::max<size_t>(rowBytes, 1), 1, context_.settings().batchRows);
      for (uint64_t from = range_.offset + given_; from < end;) {
         context_.checkCancelled();
         const uint64_t count = std::min(rowsMax, end - from);
         Batch rows;
         space.gather(buffer, buffer.order().subspan(from, count), rows);
         fillPage(page, rows);
         stored.push_back(page.store(context_.spill()));
         from += count;
      }
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::diskFull) throw;
      for (const SpilledColumnPage& rows : stored)
         for (const io::SpilledPage& piece : rows.pieces)
            context_.spill().free(piece);
      return;
   }
   stored_ = std::move(stored);
   buffer.clear();
   isStored_ = true;
}

SourceStatus SortedSource::nextStored(LocalState& state, Batch& out) {
   auto& local = static_cast<SourceLocal&>(state);
   if (!local.page) {
      local.page.emplace(types(), 0, context_.memory());
      local.stored = std::make_unique<io::SpillReader>(context_.spill(), storedAhead);
      for (size_t i = nextStored_; i < stored_.size(); ++i)
         addToReader(*local.stored, stored_[i], true);
   }
   if (nextStored_ == stored_.size()) return SourceStatus::Done;
   local.page->load(*local.stored, stored_[nextStored_++]);
   out.columns.clear();
   for (uint32_t i = 0; i < columnCount_; ++i)
      out.columns.push_back(local.page->column(i));
   out.setDense(stored_[nextStored_ - 1].rows);
   return SourceStatus::HaveOutput;
}

SourceStatus SortedSource::nextMerged(QueryContext& context, LocalState& state, Batch& out) {
   auto& local = static_cast<SourceLocal&>(state);
   if (!local.merge) {
      const uint32_t range = nextRange_.fetch_add(1);
      if (range >= rangeCount_) return SourceStatus::Done;
      if (local.range == UINT32_MAX) ++lanesUsed_;
      local.range = range;
      local.merge = ranges_->open(range);
      local.toSkip = range == 0 ? skipFirst_ : 0;
   }
   while (local.toSkip > 0) {
      const auto rows = local.merge->next(static_cast<uint32_t>(std::min<uint64_t>(batchRowsMax, local.toSkip)));
      if (rows.empty()) break;
      local.toSkip -= rows.size();
      context.checkCancelled();
   }
   uint64_t wanted = context.settings().batchRows;
   if (rangeCount_ == 1) wanted = std::min(wanted, range_.limit - given_);
   const auto rows = wanted == 0 ? std::span<const RowRef>() : local.merge->next(static_cast<uint32_t>(wanted));
   if (!rows.empty()) {
      if (rangeCount_ == 1) given_ += rows.size();
      local.space.gather(rows, ranges_->hasNulls(), out);
      return SourceStatus::HaveOutput;
   }
   local.merge.reset();
   if (++endedRanges_ == rangeCount_) ranges_.reset(); // no lane is in a range now
   return SourceStatus::RangeEnd;
}

void SortedSource::describe(OperatorProfile& profile) const {
   if (isStored_) profile.notes.emplace_back("Stored Batches", std::to_string(stored_.size()));
   if (!sort_.hasSpilled()) return;
   sort_.describeReading(profile);
   profile.notes.emplace_back("Merged Ranges", std::to_string(rangeCount_));
   profile.notes.emplace_back("Merge Lanes", std::to_string(lanesUsed_));
}

} // namespace ouzel::executor
