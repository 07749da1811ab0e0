#include "executor/operator/nested_loop_join.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/error/sql_error.hpp"
#include "common/vector/dispatch.hpp"
#include "executor/materialize/live_column.hpp"

// Joins without keys. The right side is materialised; each batch of the left side is joined with all of it. A step
// takes one row of one side as constants and up to a batch of the other side as vectors, whichever makes the vectors
// longer.

namespace ouzel::executor {

using sql::JoinKind;
using Column = NestedLoopShape::Column;

namespace {

alignas(16) constexpr std::byte nullValue[16]{};
constexpr ValidityWord nullBits = 0;

Vector nullConstant(PhysicalType type) {
   return Vector::constant(type, nullValue, &nullBits);
}

/// One value of a vector as a constant.
Vector constantAt(const Vector& vector, uint32_t row) {
   if (vector.isNull(row)) return nullConstant(vector.type);
   const size_t offset = size_t{vector.positionOf(row)} * physicalSize(vector.type);
   return Vector::constant(vector.type, static_cast<const std::byte*>(vector.data) + offset, nullptr);
}

[[noreturn]] void throwMoreThanOneRow() {
   throw SqlError(sqlstate::cardinalityViolation, "more than one row returned by a subquery used as an expression");
}

/// Values compared in one call before the scheduler may look around.
constexpr uint64_t valuesPerCall = 4 << 20;

class Looper final : public LocalState {
public:
   Looper(const NestedLoopShape& shape, const NestedLoopRows& rows, QueryContext& context);
   OperatorStatus process(QueryContext& context, const Batch& in, Batch& out);

private:
   enum class Phase : uint8_t { Closed, Loop, Rest };

   void open(const Batch& in);
   OperatorStatus processEmptyBuild(const Batch& in, Batch& out);
   OperatorStatus processPairs(QueryContext& context, const Batch& in, Batch& out);
   OperatorStatus processExistence(QueryContext& context, const Batch& in, Batch& out);
   OperatorStatus processRest(const Batch& in, Batch& out);

   bool step(const Batch& in);
   bool stepProbeRow(const Batch& in);
   bool stepBuildRow(const Batch& in);
   void bind(Column::From from, const Batch& batch, const uint32_t* row);
   void noteSurvivors();
   void noteTruth();
   void appendPairs();
   void givePairs(const Batch& in, Batch& out);
   void giveStep(Batch& out);
   void passProbeColumns(const Batch& in, Batch& out);
   bool isOuter() const {
      return shape_.kind == JoinKind::Left || shape_.kind == JoinKind::Full || shape_.kind == JoinKind::Single;
   }
   bool wantsOnlyExistence() const {
      return shape_.kind == JoinKind::Semi || shape_.kind == JoinKind::Anti || shape_.kind == JoinKind::Mark;
   }
   const Batch& built(size_t batch) const { return rows_.buffer.batches()[batch]->batch; }

   // PROPERTIES
   const NestedLoopShape& shape_;
   const NestedLoopRows& rows_;
   const uint32_t rowsMax_;
   std::optional<ExpressionState> state_;
   Arena arena_;
   Batch joined_;
   struct Buffer {
      void* data = nullptr;
      ValidityWord* validity = nullptr;
      uint16_t* codes = nullptr;
   };
   std::vector<Buffer> buffers_; ///< by output column: build values of pairs, or codes of probe columns
   uint8_t* markData_ = nullptr;
   ValidityWord* markValidity_ = nullptr;

   // STATE of the input batch
   Phase phase_ = Phase::Closed;
   bool byProbeRow_ = false;
   uint32_t probe_ = 0;    ///< by probe row: number of the live row
   size_t batch_ = 0;      ///< of the buffer
   uint32_t buildRow_ = 0; ///< next row, or start of the next slice
   uint64_t values_ = 0;   ///< worked on in this call
   // STATE of the step
   bool hasStep_ = false;
   uint32_t stepProbe_ = 0, stepBuild_ = 0; ///< row of the constant side
   size_t stepBatch_ = 0;
   Selection stepRows_, survivors_;
   uint32_t pairCount_ = 0;
   uint32_t openCount_ = 0;
   RowIndex open_[batchRowsMax]; ///< probe rows that may still find a match, if only existence matters
   RowIndex kept_[batchRowsMax];
   uint8_t found_[batchRowsMax], unknown_[batchRowsMax]; ///< by row of the input
   RowIndex pairProbe_[batchRowsMax], pairRow_[batchRowsMax];
   uint32_t pairBatch_[batchRowsMax];
};

Looper::Looper(const NestedLoopShape& shape, const NestedLoopRows& rows, QueryContext& context)
   : shape_(shape), rows_(rows), rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)),
     arena_(&context.memory()), buffers_(shape.outputCount) {
   if (shape.predicate) state_.emplace(shape.predicate, context.functions(), &context.memory());
   joined_.columns.resize(shape.columns.size());
   if (shape.kind == JoinKind::Mark) {
      markData_ = arena_.allocateArray<uint8_t>(batchRowsMax);
      markValidity_ = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
      std::memset(markData_, 0, batchRowsMax);
   }
}

OperatorStatus Looper::process(QueryContext& context, const Batch& in, Batch& out) {
   values_ = 0;
   if (phase_ == Phase::Closed) {
      open(in);
      if (rows_.buffer.rowCount() == 0) return processEmptyBuild(in, out);
      phase_ = Phase::Loop;
   }
   if (phase_ == Phase::Rest) return processRest(in, out);
   return wantsOnlyExistence() ? processExistence(context, in, out) : processPairs(context, in, out);
}

void Looper::open(const Batch& in) {
   byProbeRow_ = rows_.buffer.rowCount() > in.liveRows();
   probe_ = 0;
   batch_ = 0;
   buildRow_ = 0;
   hasStep_ = false;
   pairCount_ = 0;
   std::memset(found_, 0, in.rowCount);
   std::memset(unknown_, 0, in.rowCount);
   openCount_ = in.liveRows();
   for (uint32_t i = 0; i < openCount_; ++i)
      open_[i] = in.selection.row(i);
}

OperatorStatus Looper::processEmptyBuild(const Batch& in, Batch& out) {
   // Nobody found anything: rows of outer joins get NULLs, Anti keeps all, marks are false.
   if (isOuter() || shape_.kind == JoinKind::Anti || shape_.kind == JoinKind::Mark) return processRest(in, out);
   out.setDense(0);
   return OperatorStatus::Done;
}

/// Columns of one side: as vectors, or as constants from one row.
void Looper::bind(Column::From from, const Batch& batch, const uint32_t* row) {
   for (size_t c = 0; c < shape_.columns.size(); ++c) {
      if (shape_.columns[c].from != from) continue;
      const Vector& source = batch.columns[shape_.columns[c].source];
      joined_.columns[c] = row ? constantAt(source, *row) : source;
   }
}

/// Set up the next step: joined_ and stepRows_. False at the end.
bool Looper::step(const Batch& in) {
   return byProbeRow_ ? stepProbeRow(in) : stepBuildRow(in);
}

bool Looper::stepProbeRow(const Batch& in) {
   while (probe_ < in.liveRows()) {
      const uint32_t row = in.selection.row(probe_);
      const bool isDone = wantsOnlyExistence() && found_[row];
      if (isDone || batch_ == rows_.buffer.batches().size()) {
         ++probe_;
         batch_ = 0;
         buildRow_ = 0;
         continue;
      }
      const Batch& batch = built(batch_);
      if (buildRow_ == batch.rowCount) {
         ++batch_;
         buildRow_ = 0;
         continue;
      }
      bind(Column::From::Probe, in, &row);
      bind(Column::From::Build, batch, nullptr);
      const uint32_t count = std::min(rowsMax_, batch.rowCount - buildRow_);
      joined_.rowCount = batch.rowCount;
      stepRows_ = count == batch.rowCount ? Selection::dense(count)
                                          : Selection::list(identityPositions.data() + buildRow_, count);
      stepProbe_ = row;
      stepBatch_ = batch_;
      buildRow_ += count;
      return true;
   }
   return false;
}

bool Looper::stepBuildRow(const Batch& in) {
   while (batch_ < rows_.buffer.batches().size()) {
      const Batch& batch = built(batch_);
      if (buildRow_ == batch.rowCount) {
         ++batch_;
         buildRow_ = 0;
         continue;
      }
      const uint32_t row = buildRow_++;
      stepRows_ = wantsOnlyExistence() ? Selection::list(open_, openCount_) : in.selection;
      if (stepRows_.count() == 0) return false;
      bind(Column::From::Probe, in, nullptr);
      bind(Column::From::Build, batch, &row);
      joined_.rowCount = in.rowCount;
      stepBuild_ = row;
      stepBatch_ = batch_;
      return true;
   }
   return false;
}

/// Flags of the pairs that hold.
void Looper::noteSurvivors() {
   if (survivors_.count() == 0) return;
   if (shape_.givesBuiltRowsLast) {
      if (byProbeRow_) {
         forEachRow(survivors_, [&](uint32_t row) { rows_.setMatched(stepBatch_, row); });
      } else {
         rows_.setMatched(stepBatch_, stepBuild_);
      }
   }
   if (!isOuter()) return;
   const bool isSingle = shape_.kind == JoinKind::Single;
   if (byProbeRow_) {
      if (isSingle && (found_[stepProbe_] || survivors_.count() > 1)) throwMoreThanOneRow();
      found_[stepProbe_] = 1;
   } else {
      forEachRow(survivors_, [&](uint32_t row) {
         if (isSingle && found_[row]) throwMoreThanOneRow();
         found_[row] = 1;
      });
   }
}

void Looper::appendPairs() {
   forEachRow(survivors_, [&](uint32_t row) {
      pairProbe_[pairCount_] = static_cast<RowIndex>(byProbeRow_ ? stepProbe_ : row);
      pairRow_[pairCount_] = static_cast<RowIndex>(byProbeRow_ ? row : stepBuild_);
      pairBatch_[pairCount_] = static_cast<uint32_t>(stepBatch_);
      ++pairCount_;
   });
}

/// The collected pairs: probe columns as dictionaries, build columns copied together.
void Looper::givePairs(const Batch& in, Batch& out) {
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      Buffer& buffer = buffers_[c];
      if (column.from == Column::From::Probe) {
         Vector vector = in.columns[column.source];
         if (vector.encoding != Encoding::Constant) {
            if (!buffer.codes) buffer.codes = arena_.allocateArray<uint16_t>(batchRowsMax);
            for (uint32_t k = 0; k < pairCount_; ++k)
               buffer.codes[k] = static_cast<uint16_t>(vector.positionOf(pairProbe_[k]));
            if (vector.encoding == Encoding::Flat) vector.dictionarySize = in.rowCount;
            vector.encoding = Encoding::Dictionary;
            vector.codes = buffer.codes;
         }
         out.columns[c] = vector;
         continue;
      }
      if (!buffer.data) {
         buffer.data = arena_.allocate(size_t{physicalSize(column.type)} * batchRowsMax, 16);
         buffer.validity = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
      }
      bool hasNulls = false;
      dispatchSize(column.type, [&](auto tag) {
         using T = decltype(tag);
         T* data = static_cast<T*>(buffer.data);
         for (uint32_t k = 0; k < pairCount_; ++k) {
            const Vector& source = built(pairBatch_[k]).columns[column.source];
            data[k] = static_cast<const T*>(source.data)[pairRow_[k]];
            const bool isNull = !isValidBit(source.validity, pairRow_[k]);
            setValidBit(buffer.validity, k, !isNull);
            hasNulls |= isNull;
         }
      });
      out.columns[c] = Vector::flat(column.type, buffer.data, hasNulls ? buffer.validity : nullptr);
   }
   out.setDense(pairCount_);
   pairCount_ = 0;
}

void Looper::giveStep(Batch& out) {
   out.columns.assign(joined_.columns.begin(), joined_.columns.begin() + shape_.outputCount);
   out.rowCount = joined_.rowCount;
   out.selection = survivors_;
   hasStep_ = false;
}

OperatorStatus Looper::processPairs(QueryContext& context, const Batch& in, Batch& out) {
   const bool givesPairs = shape_.kind != JoinKind::RightSemi && shape_.kind != JoinKind::RightAnti;
   while (true) {
      if (hasStep_) {
         // Many rows of one step are worth a batch without copying.
         const uint32_t count = survivors_.count();
         const bool isBig = count * 8 >= rowsMax_;
         if (isBig && pairCount_ == 0) {
            giveStep(out);
            return OperatorStatus::HaveOutput;
         }
         if (isBig || pairCount_ + count > rowsMax_) {
            givePairs(in, out);
            return OperatorStatus::HaveOutput;
         }
         appendPairs();
         hasStep_ = false;
      }
      if (values_ > valuesPerCall) {
         context.checkCancelled();
         out.setDense(0);
         return OperatorStatus::HaveOutput;
      }
      if (!step(in)) break;
      values_ += stepRows_.count() + 16;
      survivors_ = shape_.predicate ? shape_.predicate->filter(*state_, joined_, stepRows_, kept_) : stepRows_;
      noteSurvivors();
      hasStep_ = givesPairs && survivors_.count() > 0;
   }
   const bool hasRest = isOuter() && std::any_of(open_, open_ + openCount_, [&](RowIndex row) { return !found_[row]; });
   phase_ = hasRest ? Phase::Rest : Phase::Closed;
   if (pairCount_ > 0) {
      givePairs(in, out);
   } else {
      out.setDense(0);
   }
   return hasRest ? OperatorStatus::HaveOutput : OperatorStatus::NeedInput;
}

/// Enter the truth of a step's pairs into found_ and unknown_.
void Looper::noteTruth() {
   const auto note = [&](uint32_t row, bool isTrue, bool isNull) {
      const uint32_t probe = byProbeRow_ ? stepProbe_ : row;
      found_[probe] |= isTrue;
      unknown_[probe] |= isNull;
   };
   if (!shape_.predicate) {
      forEachRow(stepRows_, [&](uint32_t row) { note(row, true, false); });
   } else if (shape_.kind == JoinKind::Mark || shape_.nullAware) {
      const Vector truth = shape_.predicate->evaluate(*state_, joined_, stepRows_);
      forEachRow(stepRows_, [&](uint32_t row) {
         const bool isNull = truth.isNull(row);
         note(row, !isNull && truth.value<uint8_t>(row) != 0, isNull);
      });
   } else {
      const Selection holds = shape_.predicate->filter(*state_, joined_, stepRows_, kept_);
      forEachRow(holds, [&](uint32_t row) { note(row, true, false); });
   }
   if (byProbeRow_) return;
   uint32_t stillOpen = 0;
   for (uint32_t i = 0; i < openCount_; ++i) {
      const RowIndex row = open_[i];
      open_[stillOpen] = row;
      stillOpen += !found_[row];
   }
   openCount_ = stillOpen;
}

OperatorStatus Looper::processExistence(QueryContext& context, const Batch& in, Batch& out) {
   while (step(in)) {
      noteTruth();
      values_ += stepRows_.count() + 16;
      if (values_ > valuesPerCall) {
         context.checkCancelled();
         out.setDense(0);
         return OperatorStatus::HaveOutput;
      }
   }
   return processRest(in, out);
}

void Looper::passProbeColumns(const Batch& in, Batch& out) {
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      out.columns[c] = column.from == Column::From::Probe ? in.columns[column.source] : nullConstant(column.type);
   }
   out.rowCount = in.rowCount;
}

/// What is known only after all built rows were seen: rows without match, or with one (Semi), or all with a mark.
OperatorStatus Looper::processRest(const Batch& in, Batch& out) {
   phase_ = Phase::Closed;
   passProbeColumns(in, out);
   if (shape_.kind == JoinKind::Mark) {
      forEachRow(in.selection, [&](uint32_t row) {
         markData_[row] = found_[row];
         setValidBit(markValidity_, row, found_[row] || !unknown_[row]);
      });
      for (uint32_t c = 0; c < shape_.outputCount; ++c)
         if (shape_.columns[c].from == Column::From::Mark)
            out.columns[c] = Vector::flat(PhysicalType::Bool, markData_, markValidity_);
      out.selection = in.selection;
      return OperatorStatus::NeedInput;
   }
   const uint8_t wanted = shape_.kind == JoinKind::Semi ? 1 : 0;
   const bool dropsUnknown = shape_.kind == JoinKind::Anti && shape_.nullAware;
   uint32_t kept = 0;
   forEachRow(in.selection, [&](uint32_t row) {
      kept_[kept] = static_cast<RowIndex>(row);
      kept += found_[row] == wanted && !(dropsUnknown && unknown_[row]);
   });
   out.selection = kept == in.liveRows() ? in.selection : Selection::list(kept_, kept);
   return OperatorStatus::NeedInput;
}

class NestedLoopJoin final : public StreamingOperator {
public:
   NestedLoopJoin(const NestedLoopShape& shape, const NestedLoopRows& rows) : shape_(shape), rows_(rows) {}
   LocalStatePtr makeLocal(QueryContext& context) override { return std::make_unique<Looper>(shape_, rows_, context); }
   OperatorStatus process(QueryContext& context, LocalState& local, const Batch& in, Batch& out) override {
      return static_cast<Looper&>(local).process(context, in, out);
   }

private:
   const NestedLoopShape& shape_;
   const NestedLoopRows& rows_;
};

/// Collects the right side.
class NestedLoopBuild final : public Sink {
public:
   NestedLoopBuild(const NestedLoopShape& shape, NestedLoopRows& rows, std::vector<uint32_t> slots,
                   std::vector<Representation> columns)
      : shape_(shape), rows_(rows), inner_(rows.buffer, std::move(slots), std::move(columns)) {}

   void prepare(QueryContext&) override { rows_.buffer.clear(); }
   LocalStatePtr makeLocal(QueryContext& context) override { return inner_.makeLocal(context); }
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override {
      return inner_.consume(context, local, in);
   }
   void combine(QueryContext& context, LocalState& local) override { inner_.combine(context, local); }
   void finish(QueryContext& context) override {
      rows_.firstRows.clear();
      uint64_t first = 0;
      for (const auto& batch : rows_.buffer.batches()) {
         rows_.firstRows.push_back(first);
         first += batch->batch.rowCount;
      }
      if (shape_.givesBuiltRowsLast) rows_.flags = LargeMemory(first, context.memory());
   }

private:
   const NestedLoopShape& shape_;
   NestedLoopRows& rows_;
   BufferSink inner_;
};

struct BuiltLocal final : LocalState {
   size_t batch = SIZE_MAX;
   uint32_t next = 0;
   RowIndex rows[batchRowsMax];
};

/// After the loops: the right rows that had a match (RightSemi) or had none (Right, Full, RightAnti).
class BuiltRows final : public Source {
public:
   BuiltRows(const NestedLoopShape& shape, const NestedLoopRows& rows) : shape_(shape), rows_(rows) {}

   void prepare(QueryContext&) override { nextBatch_.store(0); }
   uint32_t workersMax() const override {
      return static_cast<uint32_t>(std::clamp<size_t>(rows_.buffer.batches().size(), 1, 1024));
   }
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<BuiltLocal>(); }
   SourceStatus next(QueryContext& context, LocalState& state, Batch& out) override {
      auto& local = static_cast<BuiltLocal&>(state);
      if (local.batch == SIZE_MAX) {
         const size_t index = nextBatch_.fetch_add(1);
         out.setDense(0);
         if (index >= rows_.buffer.batches().size()) return SourceStatus::Done;
         local.batch = index;
         local.next = 0;
      }
      const Batch& batch = rows_.buffer.batches()[local.batch]->batch;
      const uint32_t rowsMax = std::clamp(context.settings().batchRows, 1u, batchRowsMax);
      const bool wanted = shape_.kind == JoinKind::RightSemi;
      uint32_t count = 0;
      for (; local.next < batch.rowCount && count < rowsMax; ++local.next) {
         local.rows[count] = static_cast<RowIndex>(local.next);
         count += rows_.isMatched(local.batch, local.next) == wanted;
      }
      if (local.next == batch.rowCount) local.batch = SIZE_MAX;
      out.columns.resize(shape_.outputCount);
      for (uint32_t c = 0; c < shape_.outputCount; ++c) {
         const Column& column = shape_.columns[c];
         out.columns[c] = column.from == Column::From::Build ? batch.columns[column.source] : nullConstant(column.type);
      }
      out.rowCount = batch.rowCount;
      out.selection = Selection::list(local.rows, count);
      return SourceStatus::HaveOutput;
   }

private:
   const NestedLoopShape& shape_;
   const NestedLoopRows& rows_;
   std::atomic<size_t> nextBatch_{0};
};

} // namespace

std::vector<Stage> buildNestedLoopJoin(PlanBuilder& builder, const sql::plan::Node& node) {
   const sql::ColumnTable& table = builder.context().columns();
   auto* shape = builder.own<NestedLoopShape>();
   auto* rows = builder.own<NestedLoopRows>();
   shape->kind = node.joinKind;
   shape->nullAware = node.nullAware;
   shape->givesBuiltRowsLast = node.joinKind == JoinKind::Right || node.joinKind == JoinKind::Full ||
                               node.joinKind == JoinKind::RightSemi || node.joinKind == JoinKind::RightAnti;
   shape->outputCount = static_cast<uint32_t>(node.output.size());

   // The output, then what the predicates read besides.
   std::vector<sql::ColumnId> layout = node.output, read;
   for (const sql::ExprPtr& predicate : node.predicates)
      sql::collectColumns(*predicate, read);
   for (const sql::ColumnId column : read)
      if (std::find(layout.begin(), layout.end(), column) == layout.end()) layout.push_back(column);
   const ColumnSlots probe(std::span<const sql::ColumnId>(node.children[0]->output));
   const ColumnSlots build(std::span<const sql::ColumnId>(node.children[1]->output));
   std::vector<uint32_t> bufferSlots;
   std::vector<Representation> bufferColumns;
   for (const sql::ColumnId column : layout) {
      const PhysicalType type = table[column].repr.physical;
      if (node.joinKind == JoinKind::Mark && column == node.markColumn) {
         shape->columns.push_back({Column::From::Mark, 0, PhysicalType::Bool});
      } else if (const auto slot = probe.find(column)) {
         shape->columns.push_back({Column::From::Probe, *slot, type});
      } else if (const auto built = build.find(column)) {
         shape->columns.push_back({Column::From::Build, static_cast<uint32_t>(bufferSlots.size()), type});
         bufferSlots.push_back(*built);
         bufferColumns.push_back(table[column].repr);
      } else {
         throwInternal("a joined column that no side gives");
      }
   }
   if (!node.predicates.empty())
      shape->predicate = ExpressionProgram::compileConjunction(
          node.predicates, ColumnSlots(std::span<const sql::ColumnId>(layout)), table);

   const uint32_t profile = builder.profileOf(node);
   builder.addPipeline(builder.produce(*node.children[1]),
                       builder.own<NestedLoopBuild>(*shape, *rows, std::move(bufferSlots), std::move(bufferColumns)),
                       profile);
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   PlanBuilder::append(stages, builder.own<NestedLoopJoin>(*shape, *rows), profile);
   if (shape->givesBuiltRowsLast) {
      Stage last;
      last.source = builder.own<BuiltRows>(*shape, *rows);
      last.sourceProfile = profile;
      stages.push_back(std::move(last));
   }
   return stages;
}

} // namespace ouzel::executor
