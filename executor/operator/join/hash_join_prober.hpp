#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "executor/operator/join/hash_join_table.hpp"

// A batch of probe rows is joined in waves. A wave finds for each of its probe rows the next match along the row's
// chain: the first wave is all that a unique build side needs, and its joined rows are the input under a narrower
// selection. Further matches are collected into batches of pairs, whose probe columns are dictionaries over the input's
// vectors.

namespace ouzel::executor {

/// What probing needs to know of a join. Immutable.
struct HashJoinShape {
   /// A column of the joined rows. The node's output comes first, then what only the residual predicate reads.
   struct Column {
      enum class From : uint8_t { Probe, Build, Mark } from;
      uint32_t source; ///< slot of the probe batches, or column of the built rows
      PhysicalType type;
      bool isResidual; ///< read by the residual predicate
   };

   sql::JoinKind kind = sql::JoinKind::Inner;
   bool nullAware = false;
   std::shared_ptr<const ExpressionProgram> probeKeys; ///< null: the first columns of the batch
   std::shared_ptr<const ExpressionProgram> residual;  ///< null: none
   std::vector<Column> columns;
   uint32_t outputCount = 0;
};

/// One worker's probing of a table. Several hundred KiB: made once per lane.
class HashJoinProber final {
public:
   HashJoinProber(const HashJoinShape& shape, const HashJoinTable& table, QueryContext& context);
   /// As StreamingOperator::process.
   OperatorStatus process(QueryContext& context, const Batch& in, Batch& out);

   /// Evaluate and hash the keys of a batch ahead of process(), which may then be called with fewer of its rows after
   /// keepHashes() of the ascending numbers they had among the live rows.
   const uint64_t* hashInput(const Batch& in);
   void keepHashes(const RowIndex* live, uint32_t count);
   const LiveColumns& keys() const { return keys_; }
   const std::vector<Vector>& keyVectors() const { return keyVectors_; }
   /// For a batch whose rows' hashes are known: where they are to be put before process().
   uint64_t* hashesToFill() {
      isHashed_ = true;
      return hashes_;
   }

   /// The table is one of several that hold a part of the rows each. Inner: whoever finds a match is noted in
   /// found[live row]; `isSingleRow`: a second one is an error.
   void noteFound(uint8_t* found, bool isSingleRow) {
      foundBefore_ = found;
      isSingleRow_ = isSingleRow;
   }
   /// Semi, Anti, Mark, after process(): which live rows have found a match, and for which a predicate was NULL.
   const uint8_t* found() const { return found_; }
   const uint8_t* unknown() const { return unknown_; }

private:
   enum class Phase : uint8_t { Closed, Pairs, Rest };

   // The input batch.
   OperatorStatus processEmptyBuild(const Batch& in, Batch& out);
   void evaluateKeys(const Batch& in);
   void open(const Batch& in);
   OperatorStatus processExistence(const Batch& in, Batch& out);
   OperatorStatus processFirstWave(const Batch& in, Batch& out);
   OperatorStatus processPairs(const Batch& in, Batch& out);
   OperatorStatus processRest(const Batch& in, Batch& out);
   OperatorStatus markBuildSide(QueryContext& context, const Batch& in);
   OperatorStatus afterPairs();

   // Waves: candidates_ and rows_ in, matched_ and rows_ out.
   void verify();
   bool advance();
   void sortMatched();

   // Joined rows.
   void takePairs();
   uint32_t usePositions(const Batch& in, const RowIndex* live, uint32_t count);
   void bindProbeColumns(const Batch& in, bool asPairs);
   void gatherBuild(uint32_t column, bool mayBeAbsent);
   Selection joinPairs(const Batch& in, bool asPairs, bool needsOutput);
   void compactPairs(const Selection& kept, bool asPairs);
   void passProbeColumns(const Batch& in, Batch& out);
   void give(Batch& out, const Selection& rows);
   void addMark(const Batch& in, Batch& out);

   bool isOuter() const {
      return shape_.kind == sql::JoinKind::Left || shape_.kind == sql::JoinKind::Full ||
             shape_.kind == sql::JoinKind::Single;
   }

   // PROPERTIES
   const HashJoinShape& shape_;
   const HashJoinTable* table_;
   const bool zeroHashes_;
   const uint32_t rowsMax_;
   std::optional<ExpressionState> keyState_, residualState_;
   Arena arena_;
   std::vector<Vector> keyVectors_;
   LiveColumns keys_;
   Batch joined_;
   struct Buffer {
      void* data = nullptr;
      ValidityWord* validity = nullptr;
      uint16_t* codes = nullptr;
   };
   std::vector<Buffer> buffers_; ///< by joined column
   uint8_t* markData_ = nullptr;
   ValidityWord* markValidity_ = nullptr;

   uint8_t* foundBefore_ = nullptr;
   bool isSingleRow_ = false;

   // STATE of the input batch
   bool isHashed_ = false; ///< keyVectors_ and hashes_ are there already
   Phase phase_ = Phase::Closed;
   uint32_t liveCount_ = 0;
   const RowIndex* joinable_ = nullptr; ///< live rows without NULL keys; null: all
   uint32_t joinableCount_ = 0;
   uint32_t candidateCount_ = 0, matchedCount_ = 0, matchedTaken_ = 0;
   uint32_t pairCount_ = 0;
   const RowIndex* positions_ = nullptr; ///< where in joined_ pair k lies; null: at k
   uint64_t hashes_[batchRowsMax];
   const std::byte* rows_[batchRowsMax]; ///< by live row: where its chain has been followed to
   RowIndex candidates_[batchRowsMax];   ///< live rows whose rows_ entry is to be compared
   RowIndex rejected_[batchRowsMax];
   RowIndex matched_[batchRowsMax]; ///< live rows whose rows_ entry matches
   RowIndex joinableRows_[batchRowsMax];
   uint8_t found_[batchRowsMax];   ///< by live row: has had a match
   uint8_t unknown_[batchRowsMax]; ///< by live row: a residual predicate was NULL
   const std::byte* pairRows_[batchRowsMax];
   RowIndex pairLive_[batchRowsMax];
   RowIndex pairPositions_[batchRowsMax];
   RowIndex kept_[batchRowsMax];
};

} // namespace ouzel::executor
