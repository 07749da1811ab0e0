#include "executor/operator/join/nested_looper.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/value/dispatch.hpp"
#include "executor/materialize/live_column.hpp"
#include "executor/materialize/row_batch.hpp"
#include "executor/operator/join/join_rows.hpp"

namespace ouzel::executor {

using sql::JoinKind;
using Column = NestedLoopShape::Column;

namespace {

/// One value of a vector as a constant.
Vector constantAt(const Vector& vector, uint32_t row) {
   if (vector.isNull(row)) return absentVector(vector.type);
   const size_t offset = size_t{vector.positionOf(row)} * physicalSize(vector.type);
   return Vector::constant(vector.type, static_cast<const std::byte*>(vector.data) + offset, nullptr);
}

/// After comparing so many values, process() returns, so that the worker's slice can end.
constexpr uint64_t valuesPerCall = 4 << 20;

} // namespace

NestedLooper::NestedLooper(const NestedLoopShape& shape, const NestedLoopRows& rows, QueryContext& context)
   : shape_(shape), rows_(rows), rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)),
     arena_(&context.memory()), buffers_(shape.outputCount) {
   if (shape.predicate) state_.emplace(shape.predicate, context.functions(), context.memory());
   joined_.columns.resize(shape.columns.size());
   if (shape.kind == JoinKind::Mark) {
      markData_ = arena_.allocateArray<uint8_t>(batchRowsMax);
      markValidity_ = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
      std::memset(markData_, 0, batchRowsMax);
   }
}

OperatorStatus NestedLooper::process(QueryContext& context, const Batch& in, Batch& out) {
   values_ = 0;
   if (phase_ == Phase::Closed) {
      open(in);
      if (rows_.buffer.rowCount() == 0) return processEmptyBuild(in, out);
      phase_ = Phase::Loop;
   }
   if (phase_ == Phase::Rest) return processRest(in, out);
   return wantsOnlyExistence() ? processExistence(context, in, out) : processPairs(context, in, out);
}

void NestedLooper::open(const Batch& in) {
   byProbeRow_ = (part_ ? part_->rowCount : rows_.buffer.rowCount()) > in.liveRows();
   probe_ = 0;
   batch_ = batchBegin();
   buildRow_ = 0;
   hasStep_ = false;
   pairCount_ = 0;
   if (!part_) {
      std::memset(found_, 0, in.rowCount);
      std::memset(unknown_, 0, in.rowCount);
   }
   openCount_ = 0;
   for (uint32_t i = 0; i < in.liveRows(); ++i) {
      open_[openCount_] = in.selection.row(i);
      openCount_ += !(part_ && found_[open_[openCount_]]);
   }
}

void NestedLooper::setPart(const Batch& built, size_t index, uint8_t* found, uint8_t* unknown) {
   part_ = &built;
   partIndex_ = index;
   found_ = found;
   unknown_ = unknown;
}

void NestedLooper::giveRest(const Batch& in, uint8_t* found, uint8_t* unknown, Batch& out) {
   found_ = found;
   unknown_ = unknown;
   processRest(in, out);
}

OperatorStatus NestedLooper::processEmptyBuild(const Batch& in, Batch& out) {
   // No row has a match: outer joins give all rows with NULLs, Anti gives all rows, and all marks are false.
   if (isOuter() || shape_.kind == JoinKind::Anti || shape_.kind == JoinKind::Mark) return processRest(in, out);
   out.setDense(0);
   return OperatorStatus::Done;
}

/// Set the columns of one side in joined_: vectors, or, with `row`, constants from that row.
void NestedLooper::bind(Column::From from, const Batch& batch, const uint32_t* row) {
   for (size_t c = 0; c < shape_.columns.size(); ++c) {
      if (shape_.columns[c].from != from) continue;
      const Vector& source = batch.columns[shape_.columns[c].source];
      joined_.columns[c] = row ? constantAt(source, *row) : source;
   }
}

/// Set joined_ and stepRows_ for the next step. False at the end.
bool NestedLooper::step(const Batch& in) {
   return byProbeRow_ ? stepProbeRow(in) : stepBuildRow(in);
}

bool NestedLooper::stepProbeRow(const Batch& in) {
   while (probe_ < in.liveRows()) {
      const uint32_t row = in.selection.row(probe_);
      const bool isDone = wantsOnlyExistence() && found_[row];
      if (isDone || batch_ == batchEnd()) {
         ++probe_;
         batch_ = batchBegin();
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

bool NestedLooper::stepBuildRow(const Batch& in) {
   while (batch_ < batchEnd()) {
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

/// Set match flags for the pairs of the step that satisfy the predicate.
void NestedLooper::noteSurvivors() {
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

void NestedLooper::appendPairs() {
   forEachRow(survivors_, [&](uint32_t row) {
      pairProbe_[pairCount_] = static_cast<RowIndex>(byProbeRow_ ? stepProbe_ : row);
      pairRow_[pairCount_] = static_cast<RowIndex>(byProbeRow_ ? row : stepBuild_);
      pairBatch_[pairCount_] = static_cast<uint32_t>(stepBatch_);
      ++pairCount_;
   });
}

/// Give the collected pairs: probe columns as dictionaries, build columns copied into flat vectors.
void NestedLooper::givePairs(const Batch& in, Batch& out) {
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

void NestedLooper::giveStep(Batch& out) {
   out.columns.assign(joined_.columns.begin(), joined_.columns.begin() + shape_.outputCount);
   out.rowCount = joined_.rowCount;
   out.selection = survivors_;
   hasStep_ = false;
}

OperatorStatus NestedLooper::processPairs(QueryContext& context, const Batch& in, Batch& out) {
   const bool givesPairs = shape_.kind != JoinKind::RightSemi && shape_.kind != JoinKind::RightAnti;
   while (true) {
      if (hasStep_) {
         // Many rows of one step are given as a batch of their own, without copying.
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
   const bool hasRest =
       !part_ && isOuter() && std::any_of(open_, open_ + openCount_, [&](RowIndex row) { return !found_[row]; });
   phase_ = hasRest ? Phase::Rest : Phase::Closed;
   if (pairCount_ > 0) {
      givePairs(in, out);
   } else {
      out.setDense(0);
   }
   return hasRest ? OperatorStatus::HaveOutput : OperatorStatus::NeedInput;
}

/// Add the truth of the predicate for a step's pairs to found_ and unknown_.
void NestedLooper::noteTruth() {
   const auto note = [&](uint32_t row, bool isTrue, bool isNull) {
      const uint32_t probe = byProbeRow_ ? stepProbe_ : row;
      found_[probe] |= isTrue;
      unknown_[probe] |= isNull;
   };
   if (!shape_.predicate) {
      forEachRow(stepRows_, [&](uint32_t row) { note(row, true, false); });
   } else if (shape_.kind == JoinKind::Mark) {
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

OperatorStatus NestedLooper::processExistence(QueryContext& context, const Batch& in, Batch& out) {
   while (step(in)) {
      noteTruth();
      values_ += stepRows_.count() + 16;
      if (values_ > valuesPerCall) {
         context.checkCancelled();
         out.setDense(0);
         return OperatorStatus::HaveOutput;
      }
   }
   if (!part_) return processRest(in, out);
   phase_ = Phase::Closed;
   out.setDense(0);
   return OperatorStatus::NeedInput;
}

void NestedLooper::passProbeColumns(const Batch& in, Batch& out) {
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      out.columns[c] = column.from == Column::From::Probe ? in.columns[column.source] : absentVector(column.type);
   }
   out.rowCount = in.rowCount;
}

/// Gives the rows that are known only after all built rows were compared: rows without a match (outer, Anti), rows with
/// a match (Semi), or all rows with marks (Mark).
OperatorStatus NestedLooper::processRest(const Batch& in, Batch& out) {
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
   uint32_t kept = 0;
   forEachRow(in.selection, [&](uint32_t row) {
      kept_[kept] = static_cast<RowIndex>(row);
      kept += found_[row] == wanted;
   });
   out.selection = kept == in.liveRows() ? in.selection : Selection::list(kept_, kept);
   return OperatorStatus::NeedInput;
}

} // namespace ouzel::executor
