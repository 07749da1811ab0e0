#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "executor/operator/join/hash_join_table.hpp"

// A batch of probe rows is joined in waves. A wave finds for each of its probe rows the next match along the row's
// chain. A unique build side needs only the first wave; the joined rows of the first wave are the input batch under a
// narrower selection. Matches of later waves are collected into batches of pairs, whose probe columns are dictionaries
// over the input's vectors.

namespace ouzel::executor {

/// The plan of a hash join as the prober needs it: kind, keys, residual predicate, columns. Immutable.
struct HashJoinShape {
   /// A column of the joined rows. The node's output columns come first, then columns that only the residual predicate
   /// reads.
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

/// Finds the matches of probe batches in a table, for one worker. Has several hundred KiB: made once per lane.
///
/// Phases of an input batch (Semi, Anti, Mark, RightSemi and RightAnti joins need one call, and stay Closed):
///
///    Closed --open(), first wave--> Pairs --no more matches--> Rest --> Closed
///
/// Pairs: later waves give batches of pairs. Rest: outer joins with a residual predicate give the probe rows without a
/// match. A phase without rows is skipped.
class HashJoinMatcher final {
public:
   HashJoinMatcher(const HashJoinShape& shape, const HashJoinTable& table, QueryContext& context);
   /// Between batches: look for matches in this table.
   void useTable(const HashJoinTable& table) { table_ = &table; }
   /// Join a batch; as StreamingOperator::process.
   OperatorStatus process(QueryContext& context, const Batch& in, Batch& out);

   /// Evaluate and hash the keys of a batch before process(). process() may then get fewer of the batch's live rows:
   /// call keepHashes() with the ascending numbers that the remaining rows have among the live rows.
   const uint64_t* hashInput(const Batch& in);
   void keepHashes(const RowIndex* live, uint32_t count);
   const LiveColumns& keys() const { return keys_; }
   const std::vector<Vector>& keyVectors() const { return keyVectors_; }
   /// For a batch with known hashes: the array into which the caller puts the hashes of the live rows before process().
   uint64_t* hashesToFill() {
      isHashed_ = true;
      return hashes_;
   }

   /// The table holds a chunk of the build side; kind is Inner. Live rows with a match are marked in found[live row].
   /// `isSingleRow`: a second match of a row is an error.
   void noteFound(uint8_t* found, bool isSingleRow) {
      foundBefore_ = found;
      isSingleRow_ = isSingleRow;
   }
   /// Semi, Anti, Mark, after process(): by live row, whether it has a match, and whether a predicate was NULL.
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

   // Waves. Input: candidates_ and rows_. Output: matched_ and rows_.
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
   bool isHashed_ = false; ///< keyVectors_ and hashes_ are set for the next process()
   Phase phase_ = Phase::Closed;
   uint32_t liveCount_ = 0;
   const RowIndex* joinable_ = nullptr; ///< live rows without NULL keys; null: all
   uint32_t joinableCount_ = 0;
   uint32_t candidateCount_ = 0, matchedCount_ = 0, matchedTaken_ = 0;
   uint32_t pairCount_ = 0;
   const RowIndex* positions_ = nullptr; ///< position of pair k in joined_; null: k
   uint64_t hashes_[batchRowsMax];
   const std::byte* rows_[batchRowsMax]; ///< by live row: the current row of its chain
   RowIndex candidates_[batchRowsMax];   ///< live rows whose rows_ entry has to be compared
   RowIndex rejected_[batchRowsMax];
   RowIndex matched_[batchRowsMax]; ///< live rows whose rows_ entry matches
   RowIndex joinableRows_[batchRowsMax];
   uint8_t found_[batchRowsMax];   ///< by live row: has a match
   uint8_t unknown_[batchRowsMax]; ///< by live row: a residual predicate was NULL
   const std::byte* pairRows_[batchRowsMax];
   RowIndex pairLive_[batchRowsMax];
   RowIndex pairPositions_[batchRowsMax];
   RowIndex kept_[batchRowsMax];
};

} // namespace ouzel::executor
