#pragma once
#include <memory>
#include <vector>

#include "engine/query/kept_rows.hpp"
#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

/// The rows of a cursor, and its position among them. The query runs only as far as rows are asked for; those that it
/// has given are kept, as far as the cursor may scroll back to them. A cursor WITH HOLD keeps all rows when its
/// transaction commits. Owned by its portal; used by the session's thread.
class CursorRows final : private ResultSink {
public:
   /// May the cursor go back? As long as its rows are few: a cursor declared with neither SCROLL nor NO SCROLL.
   enum class Scroll : uint8_t { Never, WhileFew, Always };
   CursorRows(SessionCore& core, std::unique_ptr<QueryExecution> query, Scroll scroll);
   ~CursorRows() override;

   const std::vector<ResultColumn>& columns() const { return columns_; }
   const std::vector<sql::RowPlace>& places() const { return places_; }
   /// The values of the hidden columns of the row that the cursor is on; none: it is on no row.
   std::optional<std::vector<Value>> hiddenValues();
   /// The row that the cursor is on has become another one: for hiddenValues() of this row.
   void setHidden(std::vector<Value> values) { moved_ = Moved{next_, std::move(values)}; }
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
   void keepFewer();
   void requireScroll() const;
   void give(uint64_t row, uint64_t count, ResultSink& sink);

   const std::vector<ResultColumn> columns_; // without hidden ones
   const std::vector<sql::RowPlace> places_;
   std::unique_ptr<QueryExecution> query_;
   Scroll scroll_;
   KeptRows kept_; // from keptFrom_ on
   // Rows are counted from 0.
   uint64_t end_ = 0;      // rows that the query has given
   uint64_t keptFrom_ = 0; // rows from here to end_ are kept, if any
   uint64_t next_ = 0;     // row that a FETCH gives; the cursor is on the one before
   bool isAfterEnd_ = false;
   ResultSink* out_ = nullptr; // for rows()
   std::vector<Value> last_;   // hidden values of the row before end_, where rows are not kept
   struct Moved {
      uint64_t next; // of the row
      std::vector<Value> values;
   };
   std::optional<Moved> moved_;
};

} // namespace ouzel::engine
