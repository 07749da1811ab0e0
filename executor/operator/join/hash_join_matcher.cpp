#include "executor/operator/join/hash_join_matcher.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "common/error/sql_error.hpp"
#include "executor/materialize/key_hash.hpp"
#include "executor/materialize/row_batch.hpp"
#include "executor/materialize/row_compare.hpp"
#include "executor/operator/join/join_rows.hpp"

// A batch of probe rows is joined in waves. A wave finds for each of its probe rows the next match along the row's
// chain: the first wave is all that a unique build side needs, and its joined rows are the input under a narrower
// selection. Further matches are collected into batches of pairs, whose probe columns are dictionaries over the input's
// vectors.

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;

HashJoinMatcher::HashJoinMatcher(const HashJoinShape& shape, const HashJoinTable& table, QueryContext& context)
   : shape_(shape), table_(&table), zeroHashes_(context.settings().zeroHashes),
     rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)), arena_(&context.memory()),
     keyVectors_(table.rows().keys().size()), buffers_(shape.columns.size()) {
   if (shape.probeKeys) keyState_.emplace(shape.probeKeys, context.functions(), context.memory());
   if (shape.residual) residualState_.emplace(shape.residual, context.functions(), context.memory());
   joined_.columns.resize(shape.columns.size());
   for (size_t c = 0; c < shape.columns.size(); ++c) {
      if (shape.columns[c].from != Column::From::Build) continue;
      buffers_[c].data = arena_.allocate(size_t{physicalSize(shape.columns[c].type)} * batchRowsMax, 16);
      buffers_[c].validity = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
      std::memset(buffers_[c].data, 0, size_t{physicalSize(shape.columns[c].type)} * batchRowsMax);
   }
   if (shape.kind == JoinKind::Mark) {
      markData_ = arena_.allocateArray<uint8_t>(batchRowsMax);
      markValidity_ = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
      std::memset(markData_, 0, batchRowsMax);
   }
}

OperatorStatus HashJoinMatcher::process(QueryContext& context, const Batch& in, Batch& out) {
   switch (phase_) {
   case Phase::Closed:
      if (table_->rowCount() == 0) return processEmptyBuild(in, out);
      open(in);
      switch (shape_.kind) {
      case JoinKind::Semi:
      case JoinKind::Anti:
      case JoinKind::Mark: return processExistence(in, out);
      case JoinKind::RightSemi:
      case JoinKind::RightAnti: out.setDense(0); return markBuildSide(context, in);
      default: return processFirstWave(in, out);
      }
   case Phase::Pairs: return processPairs(in, out);
   case Phase::Rest: return processRest(in, out);
   }
   return OperatorStatus::NeedInput;
}

/// The table has no rows. (The build side may have had rows with NULL keys, which were dropped.)
OperatorStatus HashJoinMatcher::processEmptyBuild(const Batch& in, Batch& out) {
   liveCount_ = in.liveRows();
   std::memset(found_, 0, liveCount_);
   const bool unknown = shape_.nullAware && table_->sawNullKey();
   switch (shape_.kind) {
   case JoinKind::Left:
   case JoinKind::Full:
   case JoinKind::Single: return processRest(in, out);
   case JoinKind::Anti:
      if (unknown) break;
      passProbeColumns(in, out);
      out.selection = in.selection;
      return OperatorStatus::NeedInput;
   case JoinKind::Mark:
      std::memset(unknown_, unknown ? 1 : 0, liveCount_);
      passProbeColumns(in, out);
      addMark(in, out);
      return OperatorStatus::NeedInput;
   default: break;
   }
   out.setDense(0);
   return OperatorStatus::Done;
}

/// Sets keyVectors_ to the values of the keys.
void HashJoinMatcher::evaluateKeys(const Batch& in) {
   if (shape_.probeKeys) {
      shape_.probeKeys->evaluateAll(*keyState_, in, in.selection, keyVectors_.data());
      return;
   }
   std::copy_n(in.columns.begin(), keyVectors_.size(), keyVectors_.begin());
}

const uint64_t* HashJoinMatcher::hashInput(const Batch& in) {
   DCHECK(phase_ == Phase::Closed); // between input batches
   evaluateKeys(in);
   keys_.bind(keyVectors_, in.selection);
   hashKeys(keys_.data(), keys_.size(), in.liveRows(), zeroHashes_, hashes_);
   isHashed_ = true;
   return hashes_;
}

void HashJoinMatcher::keepHashes(const RowIndex* live, uint32_t count) {
   for (uint32_t i = 0; i < count; ++i)
      hashes_[i] = hashes_[live[i]];
}

/// Find the chains of the live rows, and run the first wave.
void HashJoinMatcher::open(const Batch& in) {
   DCHECK(in.liveRows() <= batchRowsMax);
   liveCount_ = in.liveRows();
   if (!isHashed_ || !shape_.probeKeys) evaluateKeys(in);
   keys_.bind(keyVectors_, in.selection);
   joinable_ = nullptr;
   joinableCount_ = liveCount_;
   const auto& keys = table_->rows().keys();
   for (uint32_t k = 0; k < keys.size(); ++k) {
      if (keys[k].nullsEqual || !keys_[k].validity) continue;
      uint32_t kept = 0;
      for (uint32_t i = 0; i < joinableCount_; ++i) {
         const RowIndex live = joinable_ ? joinable_[i] : static_cast<RowIndex>(i);
         joinableRows_[kept] = live;
         kept += !keys_[k].isNull(live);
      }
      joinable_ = joinableRows_;
      joinableCount_ = kept;
   }
   if (joinableCount_ == liveCount_) joinable_ = nullptr;
   if (table_->isDirect()) {
      candidateCount_ = table_->lookupDirect(keys_[0], joinable_, joinableCount_, rows_, candidates_);
   } else {
      if (!isHashed_) hashKeys(keys_.data(), keys_.size(), liveCount_, zeroHashes_, hashes_);
      candidateCount_ = table_->lookup(hashes_, joinable_, joinableCount_, rows_, candidates_);
   }
   DCHECK(candidateCount_ <= joinableCount_);
   isHashed_ = false;
   verify();
}

/// Follow each candidate's chain to the next row with an equal key. Sets matched_, in ascending order.
void HashJoinMatcher::verify() {
   if (table_->isDirect()) {
      std::memcpy(matched_, candidates_, candidateCount_ * sizeof(RowIndex));
      matchedCount_ = candidateCount_;
      matchedTaken_ = 0;
      return;
   }
   const auto& keys = table_->rows().keys();
   matchedCount_ = matchedTaken_ = 0;
   bool isSorted = true;
   while (candidateCount_ > 0) {
      uint32_t kept = candidateCount_, rejectedCount = 0;
      for (uint32_t k = 0; k < keys.size() && kept > 0; ++k)
         kept = keepEqual(table_->layout(), k, keys_[k], rows_, keys[k].nullsEqual, candidates_, kept, rejected_,
                          rejectedCount);
      if (kept > 0) {
         isSorted = matchedCount_ == 0 && isSorted;
         std::memcpy(matched_ + matchedCount_, candidates_, kept * sizeof(RowIndex));
         matchedCount_ += kept;
      }
      if (rejectedCount == 0) break;
      candidateCount_ = 0;
      for (uint32_t i = 0; i < rejectedCount; ++i) {
         const RowIndex live = rejected_[i];
         const std::byte* next = HashJoinTable::next(rows_[live]);
         __builtin_prefetch(next);
         rows_[live] = next;
         candidates_[candidateCount_] = live;
         candidateCount_ += next != nullptr;
      }
      isSorted = false;
   }
   DCHECK(matchedCount_ <= liveCount_);
   candidateCount_ = 0;
   if (!isSorted && matchedCount_ > 1) sortMatched();
}

void HashJoinMatcher::sortMatched() {
   uint64_t bits[batchRowsMax / 64];
   const uint32_t words = (liveCount_ + 63) / 64;
   std::memset(bits, 0, words * sizeof(uint64_t));
   for (uint32_t i = 0; i < matchedCount_; ++i)
      bits[matched_[i] >> 6] |= uint64_t{1} << (matched_[i] & 63);
   uint32_t at = 0;
   for (uint32_t w = 0; w < words; ++w)
      for (uint64_t word = bits[w]; word != 0; word &= word - 1)
         matched_[at++] = static_cast<RowIndex>(w * 64 + static_cast<uint32_t>(std::countr_zero(word)));
   DCHECK(at == matchedCount_); // each probe row matched once in this wave
}

/// The next wave: the next match of each matched row. False when there is no match.
bool HashJoinMatcher::advance() {
   if (table_->isUnique()) {
      matchedCount_ = matchedTaken_ = 0;
      return false;
   }
   candidateCount_ = 0;
   for (uint32_t i = 0; i < matchedCount_; ++i) {
      const RowIndex live = matched_[i];
      const std::byte* next = HashJoinTable::next(rows_[live]);
      rows_[live] = next;
      candidates_[candidateCount_] = live;
      candidateCount_ += next != nullptr;
   }
   if (table_->isLarge())
      for (uint32_t i = 0; i < candidateCount_; ++i)
         __builtin_prefetch(rows_[candidates_[i]]);
   verify();
   return matchedCount_ > 0;
}

/// Makes pairs of live rows live[0..count) that keep their positions in the input. The caller sets pairRows_.
uint32_t HashJoinMatcher::usePositions(const Batch& in, const RowIndex* live, uint32_t count) {
   pairCount_ = count;
   if (count == in.rowCount && in.selection.isDense()) {
      positions_ = nullptr; // all rows
   } else if (in.selection.isDense()) {
      std::memcpy(pairPositions_, live, count * sizeof(RowIndex));
      positions_ = pairPositions_;
   } else {
      const RowIndex* rows = in.selection.rows();
      for (uint32_t k = 0; k < count; ++k)
         pairPositions_[k] = rows[live[k]];
      positions_ = pairPositions_;
   }
   return count;
}

/// Move matches of this and the following waves to the list of pairs, until the list is full or no match is left.
void HashJoinMatcher::takePairs() {
   pairCount_ = 0;
   positions_ = nullptr;
   while (pairCount_ < rowsMax_) {
      if (matchedTaken_ == matchedCount_ && (matchedCount_ == 0 || !advance())) break;
      const uint32_t count = std::min(rowsMax_ - pairCount_, matchedCount_ - matchedTaken_);
      for (uint32_t i = 0; i < count; ++i) {
         const RowIndex live = matched_[matchedTaken_ + i];
         pairLive_[pairCount_ + i] = live;
         pairRows_[pairCount_ + i] = rows_[live];
      }
      matchedTaken_ += count;
      pairCount_ += count;
   }
}

void HashJoinMatcher::bindProbeColumns(const Batch& in, bool asPairs) {
   if (!asPairs) {
      for (size_t c = 0; c < shape_.columns.size(); ++c)
         if (shape_.columns[c].from == Column::From::Probe) joined_.columns[c] = in.columns[shape_.columns[c].source];
      return;
   }
   // Positions of the pairs' probe rows in the input; these are the codes for all flat columns of the input.
   const RowIndex* list = in.selection.rows();
   uint16_t* rowCodes = pairPositions_;
   for (uint32_t k = 0; k < pairCount_; ++k)
      rowCodes[k] = list ? list[pairLive_[k]] : pairLive_[k];
   for (size_t c = 0; c < shape_.columns.size(); ++c) {
      if (shape_.columns[c].from != Column::From::Probe) continue;
      const Vector& source = in.columns[shape_.columns[c].source];
      Vector& target = joined_.columns[c];
      target = source;
      switch (source.encoding) {
      case Encoding::Constant: break;
      case Encoding::Flat:
         target.encoding = Encoding::Dictionary;
         target.codes = rowCodes;
         target.dictionarySize = in.rowCount;
         target.dictionaryId = 0;
         break;
      case Encoding::Dictionary:
         if (!buffers_[c].codes) buffers_[c].codes = arena_.allocateArray<uint16_t>(batchRowsMax);
         for (uint32_t k = 0; k < pairCount_; ++k)
            buffers_[c].codes[k] = source.codes[rowCodes[k]];
         target.codes = buffers_[c].codes;
         break;
      }
   }
}

void HashJoinMatcher::gatherBuild(uint32_t column, bool mayBeAbsent) {
   DCHECK(column < buffers_.size());
   DCHECK(shape_.columns[column].from == Column::From::Build);
   const Column& info = shape_.columns[column];
   const Buffer& buffer = buffers_[column];
   const GatherTarget target{buffer.data, buffer.validity};
   const bool hasNulls =
       positions_ ? gatherColumn(table_->layout(), info.source, pairRows_, positions_, pairCount_, mayBeAbsent, target)
                  : gatherColumn(table_->layout(), info.source, pairRows_, pairCount_, mayBeAbsent, target);
   joined_.columns[column] = Vector::flat(info.type, buffer.data, hasNulls ? buffer.validity : nullptr);
}

/// Remove all pairs but those at positions `kept` (a subset of the pairs' positions).
void HashJoinMatcher::compactPairs(const Selection& kept, bool asPairs) {
   DCHECK(kept.count() <= pairCount_);
   DCHECK(!kept.isDense());
   const uint32_t count = kept.count();
   const RowIndex* list = kept.rows();
   uint32_t k = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const RowIndex position = list[i];
      if (asPairs || !positions_) {
         k = position;
      } else {
         while (positions_[k] != position)
            ++k;
      }
      pairRows_[i] = pairRows_[k];
      pairLive_[i] = pairLive_[k];
      ++k;
   }
   positions_ = list;
   pairCount_ = count;
}

/// Join the pairs: keep those for which the residual predicate holds, mark matches on both sides, gather output
/// columns.
Selection HashJoinMatcher::joinPairs(const Batch& in, bool asPairs, bool needsOutput) {
   joined_.rowCount = asPairs ? pairCount_ : in.rowCount;
   Selection rows = positions_ ? Selection::list(positions_, pairCount_) : Selection::dense(pairCount_);
   if (shape_.residual || needsOutput) bindProbeColumns(in, asPairs);
   if (shape_.residual) {
      for (uint32_t c = 0; c < shape_.columns.size(); ++c)
         if (shape_.columns[c].isResidual && shape_.columns[c].from == Column::From::Build) gatherBuild(c, false);
      joined_.selection = rows;
      const Selection kept = shape_.residual->filter(*residualState_, joined_, rows, kept_);
      if (kept.count() < rows.count()) {
         rows = kept;
         compactPairs(kept, asPairs);
      }
      if (isOuter() || shape_.kind == JoinKind::Semi || shape_.kind == JoinKind::Anti) {
         for (uint32_t k = 0; k < pairCount_; ++k) {
            uint8_t& found = found_[pairLive_[k]];
            if (shape_.kind == JoinKind::Single && found) throwMoreThanOneRow();
            found = 1;
         }
      }
   }
   if (foundBefore_) {
      for (uint32_t k = 0; k < pairCount_; ++k) {
         uint8_t& found = foundBefore_[pairLive_[k]];
         if (isSingleRow_ && found) throwMoreThanOneRow();
         found = 1;
      }
   }
   if (table_->rows().hasMatchFlags())
      for (uint32_t k = 0; k < pairCount_; ++k)
         table_->rows().setMatched(pairRows_[k]);
   if (needsOutput)
      for (uint32_t c = 0; c < shape_.outputCount; ++c)
         if (shape_.columns[c].from == Column::From::Build && !(shape_.residual && shape_.columns[c].isResidual))
            gatherBuild(c, false);
   return rows;
}

void HashJoinMatcher::give(Batch& out, const Selection& rows) {
   out.columns.assign(joined_.columns.begin(), joined_.columns.begin() + shape_.outputCount);
   out.rowCount = joined_.rowCount;
   out.selection = rows;
}

void HashJoinMatcher::passProbeColumns(const Batch& in, Batch& out) {
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c)
      if (shape_.columns[c].from == Column::From::Probe) out.columns[c] = in.columns[shape_.columns[c].source];
   out.rowCount = in.rowCount;
}

/// Gives all rows, with the mark column made from found_ and unknown_.
void HashJoinMatcher::addMark(const Batch& in, Batch& out) {
   bool anyUnknown = false;
   for (uint32_t i = 0; i < liveCount_; ++i) {
      const uint32_t row = in.selection.row(i);
      const bool unknown = !found_[i] && unknown_[i];
      markData_[row] = found_[i];
      setValidBit(markValidity_, row, !unknown);
      anyUnknown |= unknown;
   }
   for (uint32_t c = 0; c < shape_.outputCount; ++c)
      if (shape_.columns[c].from == Column::From::Mark)
         out.columns[c] = Vector::flat(PhysicalType::Bool, markData_, anyUnknown ? markValidity_ : nullptr);
   out.selection = in.selection;
}

/// Semi, Anti, Mark: at most one output row for each input row.
OperatorStatus HashJoinMatcher::processExistence(const Batch& in, Batch& out) {
   std::memset(found_, 0, liveCount_);
   const bool isMark = shape_.kind == JoinKind::Mark;
   if (isMark) std::memset(unknown_, 0, liveCount_);
   if (!shape_.residual) {
      for (uint32_t i = 0; i < matchedCount_; ++i)
         found_[matched_[i]] = 1;
   } else {
      while (matchedCount_ > 0) {
         usePositions(in, matched_, matchedCount_);
         for (uint32_t k = 0; k < pairCount_; ++k) {
            pairLive_[k] = matched_[k];
            pairRows_[k] = rows_[matched_[k]];
         }
         if (!isMark) {
            joinPairs(in, false, false);
         } else {
            bindProbeColumns(in, false);
            for (uint32_t c = 0; c < shape_.columns.size(); ++c)
               if (shape_.columns[c].isResidual && shape_.columns[c].from == Column::From::Build) gatherBuild(c, false);
            joined_.rowCount = in.rowCount;
            joined_.selection = positions_ ? Selection::list(positions_, pairCount_) : Selection::dense(pairCount_);
            const Vector holds = shape_.residual->evaluate(*residualState_, joined_, joined_.selection);
            for (uint32_t k = 0; k < pairCount_; ++k) {
               const uint32_t position = positions_ ? positions_[k] : k;
               const bool isNull = holds.isNull(position);
               unknown_[pairLive_[k]] |= isNull;
               found_[pairLive_[k]] |= !isNull && holds.value<uint8_t>(position) != 0;
            }
         }
         // Rows with a match need no further wave.
         uint32_t open = 0;
         for (uint32_t i = 0; i < matchedCount_; ++i) {
            matched_[open] = matched_[i];
            open += !found_[matched_[i]];
         }
         matchedCount_ = open;
         advance();
      }
   }
   const uint32_t live = liveCount_;
   const bool isNullAware = shape_.nullAware;
   if (isMark) {
      if (isNullAware)
         for (uint32_t i = 0; i < live; ++i)
            unknown_[i] = table_->sawNullKey() || keys_[0].isNull(i);
      passProbeColumns(in, out);
      addMark(in, out);
      return OperatorStatus::NeedInput;
   }
   if (isNullAware && table_->sawNullKey()) {
      out.setDense(0);
      return OperatorStatus::Done;
   }
   const uint8_t wanted = shape_.kind == JoinKind::Semi ? 1 : 0;
   uint32_t kept = 0;
   for (uint32_t i = 0; i < live; ++i) {
      kept_[kept] = in.selection.row(i);
      kept += found_[i] == wanted && !(isNullAware && keys_[0].isNull(i));
   }
   passProbeColumns(in, out);
   out.selection = kept == live ? in.selection : Selection::list(kept_, kept);
   return OperatorStatus::NeedInput;
}

/// RightSemi, RightAnti: probing sets match flags of built rows, and gives no rows.
OperatorStatus HashJoinMatcher::markBuildSide(QueryContext& context, const Batch& in) {
   if (!shape_.residual) {
      while (matchedCount_ > 0) {
         // Who marks a row goes on to mark the next row with its key. So a chain ends at a row that has a mark, and
         // each is followed about once, however many probe rows have the key.
         uint32_t marked = 0;
         for (uint32_t i = 0; i < matchedCount_; ++i) {
            const std::byte* row = rows_[matched_[i]];
            if (table_->rows().isMatched(row)) continue;
            table_->rows().setMatched(row);
            matched_[marked++] = matched_[i];
         }
         matchedCount_ = marked;
         advance();
      }
      return OperatorStatus::NeedInput;
   }
   for (takePairs(); pairCount_ > 0; takePairs()) {
      context.checkCancelled();
      joinPairs(in, true, false);
   }
   return OperatorStatus::NeedInput;
}

OperatorStatus HashJoinMatcher::processFirstWave(const Batch& in, Batch& out) {
   if (isOuter() && !shape_.residual) {
      // Every live row is given, with its first match or with NULLs.
      const uint32_t matched = matchedCount_;
      usePositions(in, identityPositions.data(), liveCount_);
      if (matched < liveCount_) {
         std::memset(pairRows_, 0, liveCount_ * sizeof(pairRows_[0]));
         for (uint32_t i = 0; i < matched; ++i)
            pairRows_[matched_[i]] = rows_[matched_[i]];
      } else {
         std::memcpy(pairRows_, rows_, liveCount_ * sizeof(pairRows_[0]));
      }
      if (table_->rows().hasMatchFlags())
         for (uint32_t i = 0; i < matched; ++i)
            table_->rows().setMatched(rows_[matched_[i]]);
      bindProbeColumns(in, false);
      for (uint32_t c = 0; c < shape_.outputCount; ++c) {
         if (shape_.columns[c].from != Column::From::Build) continue;
         if (matched == 0) {
            joined_.columns[c] = absentVector(shape_.columns[c].type);
         } else {
            gatherBuild(c, matched < liveCount_);
         }
      }
      joined_.rowCount = in.rowCount;
      give(out, in.selection);
      if (!advance()) return OperatorStatus::NeedInput;
      if (shape_.kind == JoinKind::Single) throwMoreThanOneRow();
      phase_ = Phase::Pairs;
      return OperatorStatus::HaveOutput;
   }
   if (isOuter()) std::memset(found_, 0, liveCount_);
   usePositions(in, matched_, matchedCount_);
   for (uint32_t k = 0; k < pairCount_; ++k) {
      pairLive_[k] = matched_[k];
      pairRows_[k] = rows_[matched_[k]];
   }
   give(out, joinPairs(in, false, true));
   advance();
   return afterPairs();
}

OperatorStatus HashJoinMatcher::processPairs(const Batch& in, Batch& out) {
   takePairs();
   give(out, joinPairs(in, true, true));
   if (matchedTaken_ == matchedCount_ && matchedCount_ > 0) advance();
   return afterPairs();
}

/// Sets the phase after a batch of pairs. The next wave has run.
OperatorStatus HashJoinMatcher::afterPairs() {
   if (matchedCount_ > 0) {
      phase_ = Phase::Pairs;
      return OperatorStatus::HaveOutput;
   }
   if (isOuter() && shape_.residual && std::memchr(found_, 0, liveCount_)) {
      phase_ = Phase::Rest;
      return OperatorStatus::HaveOutput;
   }
   phase_ = Phase::Closed;
   return OperatorStatus::NeedInput;
}

/// Gives the live rows without a match, with NULLs for the build side.
OperatorStatus HashJoinMatcher::processRest(const Batch& in, Batch& out) {
   uint32_t kept = 0;
   for (uint32_t i = 0; i < liveCount_; ++i) {
      kept_[kept] = in.selection.row(i);
      kept += !found_[i];
   }
   passProbeColumns(in, out);
   for (uint32_t c = 0; c < shape_.outputCount; ++c)
      if (shape_.columns[c].from == Column::From::Build) out.columns[c] = absentVector(shape_.columns[c].type);
   out.selection = kept == liveCount_ ? in.selection : Selection::list(kept_, kept);
   phase_ = Phase::Closed;
   return OperatorStatus::NeedInput;
}

} // namespace ouzel::executor
