#include "executor/operator/fold/fold_program.hpp"

#include <algorithm>

#include "executor/function/aggregate/aggregate_rows.hpp"

namespace ouzel::executor {

namespace {

/// The expressions of the program.
enum : uint32_t { transitionIndex = 0, otherIndex = 1 };

constexpr uint32_t noRow = UINT32_MAX;

struct FoldState {
   KeptValue value;
   uint64_t rows = 0;     ///< that it has taken, but those with a NULL of a strict aggregate
   uint32_t last = noRow; ///< while rows are taken: the last of the state's rows
   bool isSet = false;    ///< a row, or the initial value, was taken
   bool isNull = true;
};

std::shared_ptr<const ExpressionProgram> compile(const sql::Fold& fold) {
   std::vector<sql::ColumnId> layout{fold.state};
   layout.insert(layout.end(), fold.inputs.begin(), fold.inputs.end());
   std::vector<const sql::Expr*> exprs{fold.transition.get()};
   if (fold.initial) exprs.push_back(fold.initial.get());
   if (fold.first) exprs.push_back(fold.first.get());
   if (fold.inverse) exprs.push_back(fold.inverse.get());
   return ExpressionProgram::compile(std::span(exprs), ColumnSlots(layout), fold.columns);
}

} // namespace

/// What a thread needs to compute a batch of rows.
struct FoldProgram::Worker {
   Worker(const std::shared_ptr<const ExpressionProgram>& program, FunctionContext& context, Reservation& memory)
      : expressions(program, context, memory) {}

   ExpressionState expressions;
   alignas(16) std::byte values[batchRowsMax * 16]; ///< the states of a round, each at the place of its row
   ValidityWord validity[batchRowsMax / 64];
   uint32_t next[batchRowsMax];    ///< the next row of the same state
   uint32_t waiting[batchRowsMax]; ///< the first rows that the states have left
   RowIndex rows[batchRowsMax];    ///< of a round
   FoldState* states[batchRowsMax];
};

/// A worker for the time of one call.
class FoldProgram::Lease {
public:
   explicit Lease(FoldProgram& fold) : fold_(fold) {
      {
         const MutexLock guard(fold.mutex_);
         if (!fold.idle_.empty()) {
            worker_ = std::move(fold.idle_.back());
            fold.idle_.pop_back();
         }
      }
      if (!worker_) worker_ = std::make_unique<Worker>(fold.program_, fold.context_, fold.memory_);
   }
   ~Lease() {
      const MutexLock guard(fold_.mutex_);
      fold_.idle_.push_back(std::move(worker_));
   }
   Lease(const Lease&) = delete;
   Worker& operator*() const { return *worker_; }

private:
   FoldProgram& fold_;
   std::unique_ptr<Worker> worker_;
};

FoldProgram::FoldProgram(const sql::Fold& fold, FunctionContext& context, Reservation& memory)
   : program_(compile(fold)), type_(program_->representation(transitionIndex).physical), inputs_(fold.inputs.size()),
     isStrict_(fold.isStrict), isMoving_(fold.isMoving), hasInitial_(fold.initial != nullptr),
     hasFirst_(fold.first != nullptr), inverseIndex_(fold.inverse ? program_->expressionCount() - 1 : 0),
     context_(context), memory_(memory) {}

FoldProgram::~FoldProgram() = default;

bool FoldProgram::hasNull(const AggregateInput& input, uint32_t row) const {
   for (size_t i = 0; i < inputs_; ++i)
      if (input.args[i].isNull(row)) return true;
   return false;
}

/// Gives a state the initial value, if there is one.
void FoldProgram::begin(Worker& worker, std::byte* address, Arena& arena) const {
   auto& state = stateAt<FoldState>(address);
   if (!hasInitial_) return;
   Batch batch;
   batch.setDense(1);
   const Vector initial = program_->evaluate(worker.expressions, batch, batch.selection, otherIndex);
   state.isSet = true;
   state.isNull = initial.isNull(0);
   if (!state.isNull) state.value.keep(initial, 0, arena);
}

void FoldProgram::update(const AggregateInput& input, std::byte* const* states) {
   const Lease lease(*this);
   Worker& worker = *lease;
   Batch batch;
   uint32_t end = 0, waitingCount = 0;
   batch.columns.emplace_back();
   batch.columns.insert(batch.columns.end(), input.args.begin(), input.args.begin() + static_cast<ptrdiff_t>(inputs_));
   // Chain the rows of each state.
   const uint32_t count = input.rows.count();
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t row = input.rows.row(i);
      auto& state = stateAt<FoldState>(states[i]);
      if (!state.isSet) begin(worker, states[i], input.arena);
      if (isStrict_ && hasNull(input, row)) continue;
      worker.next[i] = noRow;
      end = std::max(end, row + 1);
      if (state.last == noRow)
         worker.waiting[waitingCount++] = i;
      else
         worker.next[state.last] = i;
      state.last = i;
   }
   for (uint32_t w = 0; w < waitingCount; ++w)
      stateAt<FoldState>(states[worker.waiting[w]]).last = noRow;

   const uint32_t width = physicalSize(type_);
   batch.rowCount = end;
   while (waitingCount > 0) {
      uint32_t taken = 0, firsts = 0, left = 0;
      std::fill_n(worker.validity, validityWords(end), ~ValidityWord{0});
      bool hasNulls = false;
      // Rows whose state begins with them come from the end of the list.
      for (uint32_t w = 0; w < waitingCount; ++w) {
         const uint32_t i = worker.waiting[w], row = input.rows.row(i);
         auto& state = stateAt<FoldState>(states[i]);
         worker.states[row] = &state;
         if (worker.next[i] != noRow) worker.waiting[left++] = worker.next[i];
         if (!state.isSet && hasFirst_) {
            worker.rows[batchRowsMax - ++firsts] = static_cast<RowIndex>(row);
            continue;
         }
         state.isSet = true;
         if (state.isNull && isStrict_) continue;
         worker.rows[taken++] = static_cast<RowIndex>(row);
         if (state.isNull) {
            setValidBit(worker.validity, row, false);
            std::memset(worker.values + size_t{row} * width, 0, width);
            hasNulls = true;
         } else {
            std::memcpy(worker.values + size_t{row} * width, state.value.value(), width);
         }
      }
      batch.columns[0] = Vector::flat(type_, worker.values, hasNulls ? worker.validity : nullptr);
      const auto take = [&](const RowIndex* rows, uint32_t number, uint32_t expression) {
         if (number == 0) return;
         batch.selection = Selection::list(rows, number);
         const Vector result = program_->evaluate(worker.expressions, batch, batch.selection, expression);
         for (uint32_t i = 0; i < number; ++i) {
            FoldState& state = *worker.states[rows[i]];
            state.isSet = true;
            state.isNull = result.isNull(rows[i]);
            ++state.rows;
            if (!state.isNull)
               state.value.keep(result, rows[i], input.arena);
            else if (isMoving_)
               throw SqlError(sqlstate::nullValueNotAllowed,
                              "moving-aggregate transition function must not return null");
         }
      };
      std::reverse(worker.rows + batchRowsMax - firsts, worker.rows + batchRowsMax);
      take(worker.rows + batchRowsMax - firsts, firsts, otherIndex);
      take(worker.rows, taken, transitionIndex);
      waitingCount = left;
   }
}

bool FoldProgram::remove(const AggregateInput& input, std::byte* address) {
   const Lease lease(*this);
   Worker& worker = *lease;
   auto& state = stateAt<FoldState>(address);
   const uint32_t width = physicalSize(type_);
   Batch batch;
   batch.columns.push_back(Vector::flat(type_, worker.values, nullptr));
   batch.columns.insert(batch.columns.end(), input.args.begin(), input.args.begin() + static_cast<ptrdiff_t>(inputs_));
   for (uint32_t i = 0; i < input.rows.count(); ++i) {
      const uint32_t row = input.rows.row(i);
      if (isStrict_ && hasNull(input, row)) continue;
      if (state.isNull) return false;
      if (state.rows == 1) { // the last row is not taken out: the state begins anew
         state.rows = 0;
         state.isSet = false;
         state.isNull = true;
         begin(worker, address, input.arena);
         continue;
      }
      std::memcpy(worker.values + size_t{row} * width, state.value.value(), width);
      worker.rows[0] = static_cast<RowIndex>(row);
      batch.rowCount = row + 1;
      batch.selection = Selection::list(worker.rows, 1);
      const Vector result = program_->evaluate(worker.expressions, batch, batch.selection, inverseIndex_);
      if (result.isNull(row)) return false;
      state.value.keep(result, row, input.arena);
      --state.rows;
   }
   return true;
}

const AggregateKernel& FoldProgram::kernel() {
   static const AggregateKernel fold = [] {
      AggregateKernel made;
      made.stateSize = sizeof(FoldState);
      made.initialize = [](std::byte* state) { new (state) FoldState(); };
      made.update = [](const AggregateInput& input, std::byte* const* states) { input.fold->update(input, states); };
      made.updateOne = [](const AggregateInput& input, std::byte* state) {
         std::byte* states[batchRowsMax];
         std::fill_n(states, input.rows.count(), state);
         input.fold->update(input, states);
      };
      made.finalize = [](const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
         for (uint32_t i = 0; i < count; ++i) {
            const auto& state = stateAt<FoldState>(states[i]);
            if (state.isNull)
               result.setNull(i);
            else
               putValue(result.type(), state.value.value(), i, result);
         }
      };
      made.ordered = true;
      return made;
   }();
   return fold;
}

} // namespace ouzel::executor
