#pragma once
#include <optional>

#include "executor/operator/join/nested_loop_join.hpp"

namespace ouzel::executor {

/// Joins batches of the left side with the right side, for one worker. A step takes one row of one side as constants
/// and up to a batch of the other side as vectors; the side with more rows is the one with vectors.
class NestedLooper final {
public:
   NestedLooper(const NestedLoopShape& shape, const NestedLoopRows& rows, QueryContext& context);
   /// Join the batch with all of the right side; as StreamingOperator::process.
   OperatorStatus process(QueryContext& context, const Batch& in, Batch& out);

   // The right side in parts.
   /// From now on process() joins with one batch of the right side only (number `index`), and gives pairs only.
   /// process() adds to `found` and `unknown`, by row of the left side, whether the row has a match and whether a
   /// predicate was NULL. Call between input batches.
   void setPart(const Batch& built, size_t index, uint8_t* found, uint8_t* unknown);
   /// After all parts: give the rows of `in` that depend on `found` and `unknown`. Most kinds of join have none.
   void giveRest(const Batch& in, uint8_t* found, uint8_t* unknown, Batch& out);
   /// Whether giveRest() may give rows.
   bool hasRest() const { return isOuter() || wantsOnlyExistence(); }

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
   void bind(NestedLoopShape::Column::From from, const Batch& batch, const uint32_t* row);
   void noteSurvivors();
   void noteTruth();
   void appendPairs();
   void givePairs(const Batch& in, Batch& out);
   void giveStep(Batch& out);
   void passProbeColumns(const Batch& in, Batch& out);
   bool isOuter() const {
      return shape_.kind == sql::JoinKind::Left || shape_.kind == sql::JoinKind::Full ||
             shape_.kind == sql::JoinKind::Single;
   }
   bool wantsOnlyExistence() const {
      return shape_.kind == sql::JoinKind::Semi || shape_.kind == sql::JoinKind::Anti ||
             shape_.kind == sql::JoinKind::Mark;
   }
   const Batch& built(size_t batch) const { return part_ ? *part_ : rows_.buffer.resident(batch); }
   size_t batchBegin() const { return part_ ? partIndex_ : 0; }
   size_t batchEnd() const { return part_ ? partIndex_ + 1 : rows_.buffer.batchCount(); }

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

   const Batch* part_ = nullptr; ///< the only batch of the right side to join with, see setPart(); null: all
   size_t partIndex_ = 0;

   // STATE of the input batch
   Phase phase_ = Phase::Closed;
   bool byProbeRow_ = false;
   uint32_t probe_ = 0;    ///< if byProbeRow_: number of the current live row
   size_t batch_ = 0;      ///< current batch of the right side
   uint32_t buildRow_ = 0; ///< next row, or start of the next slice
   uint64_t values_ = 0;   ///< number of values compared in this call
   // STATE of the step
   bool hasStep_ = false;
   uint32_t stepProbe_ = 0, stepBuild_ = 0; ///< row of the constant side
   size_t stepBatch_ = 0;
   Selection stepRows_, survivors_;
   uint32_t pairCount_ = 0;
   uint32_t openCount_ = 0;
   RowIndex open_[batchRowsMax]; ///< if only existence matters: probe rows without a match so far
   RowIndex kept_[batchRowsMax];
   uint8_t *found_ = ownFound_, *unknown_ = ownUnknown_; ///< by row of the input
   uint8_t ownFound_[batchRowsMax], ownUnknown_[batchRowsMax];
   RowIndex pairProbe_[batchRowsMax], pairRow_[batchRowsMax];
   uint32_t pairBatch_[batchRowsMax];
};

} // namespace ouzel::executor
