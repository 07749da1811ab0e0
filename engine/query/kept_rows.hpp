#pragma once
#include <memory>
#include <vector>

#include "engine/core/session_core.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/materialize/column_page.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::engine {

/// Rows that outlive the query that made them, by number from 0: those of cursors, and those that triggers see. The
/// first ones stay in memory, which is charged to the database's ledger; the others are on disk. Used by one thread at
/// a time.
class KeptRows {
public:
   KeptRows(SessionCore& core, std::vector<Representation> columns);
   KeptRows(const KeptRows&) = delete;

   /// Memory for the rows of one object. A session may have many, and for long.
   static constexpr size_t residentBytesMax = size_t{1} << 20;

   /// Copies the live rows of a batch.
   void add(const Batch& batch);
   uint64_t count() const { return count_ + (builder_.isEmpty() ? 0 : builder_.current()->rowCount); }
   size_t bytes() const { return bytes_ + builder_.bytes(); }
   void clear();
   /// The batch with the row, valid until the next call. `first`: the batch's first row. REQUIRES: row < count().
   const Batch& batchOf(uint64_t row, uint64_t& first);

private:
   void keep(std::unique_ptr<executor::OwnedBatch> batch);

   Reservation memory_;
   io::SpillSpace space_;
   const bool spillsAlways_;
   std::vector<uint32_t> slots_; // 0, 1, ...: the columns of a batch
   executor::BatchBuilder builder_;
   size_t bytes_ = 0; // of the batches
   std::vector<std::unique_ptr<executor::OwnedBatch>> resident_;
   std::vector<executor::SpilledColumnPage> stored_; // come after resident_
   std::vector<uint64_t> firsts_;                    // by batch of both: its first row
   uint64_t count_ = 0;                              // of the batches; later rows are in builder_
   executor::ColumnPage page_;
   size_t loadedAt_ = SIZE_MAX; // page_ and loaded_ are this one of stored_
   Batch loaded_;
};

} // namespace ouzel::engine
