#pragma once
#include <memory>
#include <vector>

#include "engine/core/session_core.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/materialize/column_page.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::engine {

class QueryExecution;

/// The rows of a cursor WITH HOLD that its transaction had not given when it ended, in order. The first of them stay in
/// memory, which is charged to the database's ledger; the others are on disk. Each row is given once, and its place is
/// then free. Owned by its portal; used by the session's thread.
class HeldRows final : private ResultSink {
public:
   HeldRows(SessionCore& core, std::vector<ResultColumn> columns);

   /// Takes all rows that the query has left.
   void fill(QueryExecution& execution);
   const std::vector<ResultColumn>& columns() const { return columns_; }
   /// As QueryExecution::run().
   bool run(uint64_t maxRows, ResultSink* sink);
   uint64_t givenRows() const { return given_; }

private:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override;
   void keep(std::unique_ptr<executor::OwnedBatch> batch);
   const Batch* current();
   void leave();

   const std::vector<ResultColumn> columns_;
   Reservation memory_;
   io::SpillSpace space_;
   const size_t residentBytesMax_;
   std::vector<uint32_t> slots_; // 0, 1, ...: the columns of a batch
   executor::BatchBuilder builder_;
   size_t residentBytes_ = 0;
   std::vector<std::unique_ptr<executor::OwnedBatch>> resident_;
   std::vector<executor::SpilledColumnPage> stored_; // come after resident_
   executor::ColumnPage page_;
   size_t at_ = 0;         // batch to give next: of resident_, then of stored_
   uint32_t givenOf_ = 0;  // rows of that batch that were given
   bool isLoaded_ = false; // page_ and loaded_ are that batch
   Batch loaded_;
   uint64_t given_ = 0;
};

} // namespace ouzel::engine
