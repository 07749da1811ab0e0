#pragma once
#include <memory>
#include <vector>

#include "engine/query/query_execution.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/materialize/column_page.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::engine {

/// The rows of a cursor, and its position among them. The query runs only as far as rows are asked for; those that it
/// has given are kept, as far as the cursor may scroll back to them. A cursor WITH HOLD keeps all rows when its
/// transaction commits. The first rows kept stay in memory, which is charged to the database's ledger; the others are
/// on disk. Owned by its portal; used by the session's thread.
class CursorRows final : private ResultSink {
public:
   /// May the cursor go back? As long as its rows are few: a cursor declared with neither SCROLL nor NO SCROLL.
   enum class Scroll : uint8_t { Never, WhileFew, Always };
   CursorRows(SessionCore& core, std::unique_ptr<QueryExecution> query, Scroll scroll);
   ~CursorRows() override;

   const std::vector<ResultColumn>& columns() const { return columns_; }
   /// Null: all rows are held.
   const QueryExecution* query() const { return query_.get(); }
   /// Take all rows that the query has left, and end it.
   void hold();

   // FETCH and, without a sink, MOVE. Each returns the number of rows it has passed that a FETCH gives.
   static constexpr uint64_t all = UINT64_MAX;
   uint64_t forward(uint64_t count, ResultSink* sink);
   uint64_t backward(uint64_t count, ResultSink* sink);
   uint64_t absolute(int64_t row, ResultSink* sink); ///< a negative one counts from the end
   uint64_t relative(int64_t rows, ResultSink* sink);
   uint64_t again(ResultSink* sink); ///< the row that was given last
   bool hasGiven() const { return end_ > 0; }
   bool isAfterEnd() const { return isAfterEnd_; }

private:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override;
   void keep(std::unique_ptr<executor::OwnedBatch> batch);
   void keepFewer();
   void requireScroll() const;
   void give(uint64_t row, uint64_t count, ResultSink& sink);
   const Batch& batchOf(uint64_t row, uint64_t& first);

   const std::vector<ResultColumn> columns_;
   std::unique_ptr<QueryExecution> query_;
   Scroll scroll_;
   Reservation memory_;
   io::SpillSpace space_;
   const bool spillsAlways_;
   std::vector<uint32_t> slots_; // 0, 1, ...: the columns of a batch
   executor::BatchBuilder builder_;
   size_t keptBytes_ = 0; // of the batches
   std::vector<std::unique_ptr<executor::OwnedBatch>> resident_;
   std::vector<executor::SpilledColumnPage> stored_; // come after resident_
   std::vector<uint64_t> firsts_;                    // by batch of both: its first row
   executor::ColumnPage page_;
   size_t loadedAt_ = SIZE_MAX; // page_ and loaded_ are this one of stored_
   Batch loaded_;
   // Rows are counted from 0.
   uint64_t end_ = 0;      // rows that the query has given
   uint64_t keptFrom_ = 0; // rows from here to end_ are kept, if any
   uint64_t keptTo_ = 0;   // end of the batches; later rows are in builder_
   uint64_t next_ = 0;     // row that a FETCH gives; the cursor is on the one before
   bool isAfterEnd_ = false;
   ResultSink* out_ = nullptr; // for rows()
};

} // namespace ouzel::engine
