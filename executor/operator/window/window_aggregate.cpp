#include <algorithm>
#include <array>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "executor/operator/fold/fold_program.hpp"
#include "executor/operator/window/window_function.hpp"

// Aggregates over frames. If frames only grow at their end, one state accumulates the rows. Other frames are computed
// anew if they are small, and combined from a tree of partial states if they are large (Leis et al. 2015, section 4).

namespace ouzel::executor {

namespace {

/// An array of aggregate states of one size, each aligned to 16 bytes.
class StateArray {
public:
   void reset(size_t count, uint32_t stateSize, Reservation& memory) {
      stride_ = (stateSize + 15) / 16 * 16;
      states_.ensure(std::max<size_t>(1, count) * stride_, memory);
   }
   std::byte* at(size_t index) const { return states_.data() + index * stride_; }

private:
   ScratchArray<std::byte> states_;
   size_t stride_ = 16;
};

/// A tree of partial states: level k has the states of ranges of 2^k leaves, and a leaf is leafRows rows. Only ranges
/// that lie completely within the partition have a state.
class StateTree {
public:
   static constexpr uint32_t leafRows = 32;

   template <typename FillLeaf>
   void build(uint32_t rows, const AggregateKernel& kernel, Reservation& memory, FillLeaf&& fillLeaf) {
      arena_.reset();
      levels_.clear();
      size_t total = 0;
      for (uint32_t count = rows / leafRows; count > 0; count /= 2) {
         levels_.push_back(total);
         total += count;
      }
      states_.reset(total, kernel.stateSize, memory);
      for (size_t i = 0; i < total; ++i)
         kernel.initialize(states_.at(i));
      const uint32_t leaves = rows / leafRows;
      for (uint32_t i = 0; i < leaves; ++i)
         fillLeaf(states_.at(i), i * leafRows, (i + 1) * leafRows, arena_);
      for (size_t level = 1; level < levels_.size(); ++level)
         for (uint32_t i = 0; i < leaves >> level; ++i) {
            std::byte* into = at(level, i);
            for (uint32_t child = 2 * i; child < 2 * i + 2; ++child) {
               const std::byte* from = at(level - 1, child);
               kernel.combine(&into, &from, 1, arena_);
            }
         }
   }
   /// Combine the states of leaves [from, end) into `into`.
   void collect(const AggregateKernel& kernel, std::byte* into, uint32_t from, uint32_t end, Arena& arena) const {
      for (size_t level = 0; from < end; ++level, from /= 2, end /= 2) {
         if ((from & 1) != 0) add(kernel, into, at(level, from++), arena);
         if ((end & 1) != 0) add(kernel, into, at(level, --end), arena);
      }
   }
   explicit StateTree(Reservation& memory) : arena_(&memory) {}

private:
   std::byte* at(size_t level, uint32_t index) const { return states_.at(levels_[level] + index); }
   static void add(const AggregateKernel& kernel, std::byte* into, const std::byte* from, Arena& arena) {
      kernel.combine(&into, &from, 1, arena);
   }

   Arena arena_;
   StateArray states_;
   std::vector<size_t> levels_; // by level: number of its first state
};

class WindowAggregate final : public WindowEvaluator {
public:
   WindowAggregate(const WindowCallPlan& call, FunctionContext& context, Reservation& memory)
      : call_(call), kernel_(*call.kernel), context_(context), memory_(memory), tree_(memory), stateArena_(&memory),
        finishArena_(&memory), values_(call.args.size()), validity_(call.args.size()), vectors_(call.args.size()) {
      state_.reset(1, kernel_.stateSize, memory);
      for (uint32_t i = 0; i < batchRowsMax; ++i)
         ascending_[i] = static_cast<RowIndex>(i);
   }

   void evaluate(const WindowPartition& partition, const WindowFrames& frames, const WindowBlock& block,
                 WindowResult& result, Arena& strings) override {
      if (block.isFirst) {
         before_ = partition.before() ? partition.before()->state(call_.number) : nullptr;
         paged_ = partition.paged();
         pagedFrom_ = paged_ ? partition.pagedRow(0) : 0;
         if (paged_)
            mayStartAnywhere_ = std::none_of(call_.args.begin(), call_.args.end(),
                                             [&](uint32_t column) { return paged_->mayHaveNulls(column); });
         else
            load(partition);
         hasTree_ = false;
         passesOf_ = UINT32_MAX;
         begin_ = end_ = 0;
         hasState_ = false;
      }
      const uint32_t count = partition.count();
      for (uint32_t row = block.from; row < block.end; ++row) {
         const uint64_t to = block.resultOf(row);
         if (row % rowsBetweenChecks == 0) checkInterrupted();
         if (frames.hasExclusion()) {
            const FrameRows rows = frames.rowsOf(partition, row);
            clear();
            for (uint32_t i = 0; i < rows.count; ++i)
               add(rows.ranges[i].from, rows.ranges[i].end, count);
            finish(result, to, strings);
            continue;
         }
         const uint32_t from = frames.begin(row), until = std::max(from, frames.end(row));
         if (hasState_ && from == begin_ && until == end_ && row > block.from) {
            copyResult(result, to - 1, to);
            continue;
         }
         const bool isBehind = hasState_ && begin_ < from && from <= end_ && until >= end_;
         if (isBehind && call_.fold && call_.fold->canRemove() && removeRows(begin_, from)) {
            addRows(state_.at(0), end_, until, stateArena_);
         } else if (!hasState_ || from != begin_ || until < end_) {
            clear();
            add(from, until, count);
         } else {
            addRows(state_.at(0), end_, until, stateArena_);
         }
         begin_ = from;
         end_ = until;
         hasState_ = true;
         finish(result, to, strings);
      }
   }

   void addAll(const WindowPartition& partition, std::byte* state) override {
      DCHECK(!partition.paged());
      paged_ = nullptr;
      load(partition);
      addRows(state, 0, partition.count(), stateArena_);
   }

private:
   static constexpr uint32_t rowsBetweenChecks = 64;                // of cancellation: a row may combine many states
   static constexpr uint32_t treeRowsMin = 8 * StateTree::leafRows; // smaller frames are computed anew

   /// Gather the arguments in the order of the partition.
   void load(const WindowPartition& partition) {
      const uint32_t count = partition.count();
      for (size_t i = 0; i < call_.args.size(); ++i) {
         const PhysicalType type = call_.argPhysical[i];
         std::byte* values = values_[i].ensure(size_t{count} * physicalSize(type), memory_);
         ValidityWord* validity = nullptr;
         if (partition.mayHaveNulls(call_.args[i])) validity = validity_[i].ensure(validityWords(count), memory_);
         gatherRows(partition.buffer().runs(), partition.rows(), call_.args[i], type, values, validity);
         vectors_[i] = Vector::flat(type, values, validity);
      }
      mayStartAnywhere_ =
          std::none_of(vectors_.begin(), vectors_.end(), [](const Vector& vector) { return vector.mayHaveNulls(); });
      if (call_.filter == UINT32_MAX) return;
      uint8_t* passes = passes_.ensure(count, memory_);
      for (uint32_t row = 0; row < count; ++row)
         passes[row] = !partition.isNull(call_.filter, row) && partition.valueAs<uint8_t>(call_.filter, row) != 0;
   }

   void clear() {
      stateArena_.reset();
      kernel_.initialize(state_.at(0));
      if (!before_) return;
      std::byte* into = state_.at(0); // the frame begins with the partition
      kernel_.combine(&into, &before_, 1, stateArena_);
   }

   void add(uint32_t from, uint32_t end, uint32_t count) {
      if (kernel_.ordered || end - from < treeRowsMin) return addRows(state_.at(0), from, end, stateArena_);
      if (!hasTree_ && from == 0 && end == count) return addRows(state_.at(0), from, end, stateArena_);
      if (!hasTree_)
         tree_.build(count, kernel_, memory_, [&](std::byte* state, uint32_t leafFrom, uint32_t leafEnd, Arena& arena) {
            addRows(state, leafFrom, leafEnd, arena);
         });
      hasTree_ = true;
      constexpr uint32_t rows = StateTree::leafRows;
      const uint32_t firstLeaf = (from + rows - 1) / rows, leafEnd = end / rows;
      addRows(state_.at(0), from, firstLeaf * rows, stateArena_);
      tree_.collect(kernel_, state_.at(0), firstLeaf, leafEnd, stateArena_);
      addRows(state_.at(0), leafEnd * rows, end, stateArena_);
   }

   /// Take rows [from, end) out of the state. False: it has to begin anew.
   bool removeRows(uint32_t from, uint32_t end) {
      isRemoving_ = isRemoved_ = true;
      addRows(state_.at(0), from, end, stateArena_);
      isRemoving_ = false;
      return isRemoved_;
   }

   /// Add rows [from, end) to the state, or take them out of it.
   void addRows(std::byte* state, uint32_t from, uint32_t end, Arena& arena) {
      if (!paged_) return addStored(state, from, end, arena);
      from += pagedFrom_;
      end += pagedFrom_;
      while (from < end) {
         const WindowPager::Page& page = paged_->pageOf(from);
         vectors_.clear();
         for (const uint32_t column : call_.args)
            vectors_.push_back(page.rows.column(column));
         if (call_.filter != UINT32_MAX && passesOf_ != page.first) {
            passesOf_ = page.first;
            uint8_t* passes = passes_.ensure(page.count, memory_);
            const auto* values = reinterpret_cast<const uint8_t*>(page.rows.values(call_.filter));
            const ValidityWord* validity = page.rows.validity(call_.filter);
            for (uint32_t row = 0; row < page.count; ++row)
               passes[row] = isValidBit(validity, row) && values[row] != 0;
         }
         const uint32_t until = std::min(end, page.first + page.count);
         addStored(state, from - page.first, until - page.first, arena);
         from = until;
      }
   }

   /// Add rows [from, end) of vectors_ and passes_, in blocks that begin at a multiple of 64 rows, where a validity
   /// word begins, unless mayStartAnywhere_.
   void addStored(std::byte* state, uint32_t from, uint32_t end, Arena& arena) {
      while (from < end) {
         const uint32_t block = mayStartAnywhere_ ? from : from / 64 * 64, offset = from - block;
         const uint32_t until = std::min(end, block + batchRowsMax), rows = until - from;
         Selection selection = Selection::list(ascending_.data() + offset, rows);
         if (call_.filter != UINT32_MAX) {
            uint32_t passed = 0;
            for (uint32_t i = 0; i < rows; ++i)
               if (passes_[from + i] != 0) passing_[passed++] = static_cast<RowIndex>(offset + i);
            selection = Selection::list(passing_.data(), passed);
         } else if (offset == 0) {
            selection = Selection::dense(rows);
         }
         args_.clear();
         for (const Vector& vector : vectors_)
            args_.push_back(Vector::flat(
                vector.type, static_cast<const std::byte*>(vector.data) + size_t{block} * physicalSize(vector.type),
                vector.validity ? vector.validity + block / 64 : nullptr));
         const AggregateInput input{args_, selection, context_, arena, call_.argTypes, {}, {}, call_.fold.get()};
         if (selection.count() > 0 && isRemoving_)
            isRemoved_ = isRemoved_ && call_.fold->remove(input, state);
         else if (selection.count() > 0)
            kernel_.updateOne(input, state);
         from = until;
      }
   }

   void finish(WindowResult& result, uint64_t row, Arena& strings) {
      finishArena_.reset();
      alignas(16) std::byte value[16] = {};
      ValidityWord validity = ~ValidityWord{0};
      ResultVector out(result.type, value, &validity, finishArena_);
      const std::byte* state = state_.at(0);
      kernel_.finalize(&state, 1, context_, out);
      if (!isValidBit(&validity, 0)) return result.setNull(row);
      if (isVariableSize(result.type)) {
         StringView string;
         std::memcpy(&string, value, sizeof string);
         result.set(row, string.isInline() ? string : strings.copyString(string.view()));
      } else {
         std::memcpy(result.at(row), value, physicalSize(result.type));
      }
   }

   static void copyResult(WindowResult& result, uint64_t from, uint64_t to) {
      if (result.nulls.as<uint8_t>()[from] != 0) return result.setNull(to);
      std::memcpy(result.at(to), result.at(from), physicalSize(result.type));
   }

   // PROPERTIES
   const WindowCallPlan& call_;
   const AggregateKernel& kernel_;
   FunctionContext& context_;
   Reservation& memory_;
   std::array<RowIndex, batchRowsMax> ascending_;
   // STATE
   StateTree tree_;
   bool hasTree_ = false;
   StateArray state_;
   Arena stateArena_, finishArena_;
   std::vector<ScratchArray<std::byte>> values_;
   std::vector<ScratchArray<ValidityWord>> validity_;
   std::vector<Vector> vectors_, args_;
   bool mayStartAnywhere_ = false;
   const std::byte* before_ = nullptr; // the state of the partition's earlier rows; null: there are none
   WindowPager* paged_ = nullptr;
   uint32_t pagedFrom_ = 0;         // paged: the number of the partition's first row
   uint32_t passesOf_ = UINT32_MAX; // paged: first row of the page for which passes_ was computed
   uint32_t begin_ = 0, end_ = 0;   // rows that are in the state
   bool hasState_ = false;
   bool isRemoving_ = false, isRemoved_ = false; // of removeRows()
   ScratchArray<uint8_t> passes_;
   std::array<RowIndex, batchRowsMax> passing_;
};

} // namespace

std::unique_ptr<WindowEvaluator> makeWindowAggregate(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory) {
   return std::make_unique<WindowAggregate>(call, context, memory);
}

} // namespace ouzel::executor
