#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/materialize/column_page.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/pipeline/reclaimer.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::executor {

/// Rows stored as batches: a CTE, a recursion's working table, RETURNING. Filled by a BatchStoreSink or add(), then
/// read by BufferSources or Readers; not both at once. With spilling allowed, batches added when memory is used up go
/// to disk; those of a CTE also go to disk later, when others need their memory: the last ones first, since readers
/// begin with the first.
class BatchStore final : public Reclaimer {
public:
   BatchStore();
   ~BatchStore() override;
   BatchStore(const BatchStore&) = delete;
   BatchStore& operator=(const BatchStore&) = delete;

   /// Call before the first add(), and only for buffers that are read through a Reader or a BatchStoreSource. Memory is
   /// then charged to a grant of the buffer.
   void allowSpilling(QueryContext& context);
   /// All batches have been added. They may go to disk from now on. `readings`: how often they will be read, by Readers
   /// that do not free them.
   void settle(uint32_t readings);
   /// Thread-safe.
   void add(std::unique_ptr<OwnedBatch> batch);
   void clear();
   /// Moves the rows in memory to disk, too, and leaves the memory to others until clear(). After the last add().
   /// REQUIRES: spilling is allowed.
   void spillRest();
   /// REQUIRES: spilling is not allowed.
   const std::vector<std::shared_ptr<OwnedBatch>>& batches() const;
   /// REQUIRES: the batch is in memory.
   const Batch& resident(size_t index) const { return batches_[index]->batch; }
   uint32_t batchRows(size_t index) const {
      return batches_[index] ? batches_[index]->batch.rowCount : stored_[index].rows;
   }
   /// Bytes to read from disk for the batch.
   size_t batchDiskBytes(size_t index) const { return batches_[index] ? 0 : stored_[index].bytes; }
   /// Bytes of all batches on disk: of their rows, and as they are stored there.
   struct DiskBytes {
      size_t raw = 0, stored = 0;
   };
   DiskBytes diskBytes() const;
   /// A builder of batches for the store: small enough to be moved to disk and back one at a time.
   BatchBuilder makeBuilder(std::vector<Representation> columns, QueryContext& context) const;
   /// Memory that a reader may use: at least `bytesMin`, more if the grant has room.
   size_t freeBytes(size_t bytesMin) const;
   uint64_t rowCount() const { return rows_; }
   size_t batchCount() const { return batches_.size(); }
   /// The reservation to which batches to be added must be charged.
   Reservation& memory(QueryContext& context) const;
   bool hasSpilled() const { return spilledBytes_.load(std::memory_order_relaxed) > 0; }
   void describe(OperatorProfile& profile) const;

   size_t reclaimableBytes() const override { return reclaimable_.load(std::memory_order_relaxed); }
   uint32_t readings() const override { return readings_; }
   size_t reclaim(size_t bytes) override;

   /// Reads batches for one thread. Batches may be asked for in any order; ascending order is best.
   class Reader {
   public:
      /// `isLastUse`: each batch on disk is read only once, and its space is freed then. `aheadBytes`: most bytes that
      /// are read before they are asked for.
      Reader(const BatchStore& buffer, QueryContext& context, bool isLastUse, size_t aheadBytes = size_t{1} << 20);
      ~Reader();
      /// Read ahead: batches [from, end), or these batches, will be asked for next, in this order.
      void expect(size_t from, size_t end);
      void expect(std::span<const size_t> indices);
      /// The batch, valid until the next call.
      const Batch& batch(size_t index);
      /// The memory of the batch that batch(index) gave last: the batch is valid as long. Null: the store has the
      /// batch.
      std::unique_ptr<ColumnPage> takePage(size_t index);

   private:
      void add(size_t index);

      const BatchStore& buffer_;
      const bool isLastUse_;
      const size_t aheadBytes_;
      QueryContext& context_;
      std::unique_ptr<io::SpillReader> disk_;
      std::vector<size_t> expected_; // batches being read ahead, in order, from expectedAt_ on
      size_t expectedAt_ = 0;
      std::shared_ptr<const OwnedBatch> resident_; ///< the batch, if it is in memory: reclaim() may drop it
      std::unique_ptr<ColumnPage> page_;
      size_t pageIndex_ = SIZE_MAX;
      Batch batch_;
   };

private:
   void store(size_t index) REQUIRES(mutex_);

   /// Guards the members below while workers add, and the batches from settle() on. Other readers begin after the last
   /// worker has ended, and take no lock, so no member is annotated as guarded.
   mutable Mutex mutex_;
   std::unique_ptr<MemoryGrant> grant_; // null: no spilling
   QueryContext* context_ = nullptr;
   std::vector<std::shared_ptr<OwnedBatch>> batches_; // null: on disk
   std::vector<SpilledColumnPage> stored_;            // by batch; shorter if all later batches are in memory
   std::vector<PhysicalType> types_;
   MemoryLedger uncounted_{SIZE_MAX}; // of page_: writing must work when memory is short
   Reservation pageMemory_{uncounted_};
   std::unique_ptr<ColumnPage> page_; // for writing
   size_t firstResident_ = 0;         // no batch before is in memory
   uint64_t rows_ = 0;
   std::atomic<uint64_t> spilledBytes_{0}, storedBytes_{0};
   // From settle() on.
   uint32_t readings_ = 0;
   size_t reclaimEnd_ = 0; // batches from here on are on disk
   std::atomic<size_t> reclaimable_{0};
};

/// Copies rows into a BatchStore: buffer column i is input slot slots[i].
class BatchStoreSink final : public Sink {
public:
   /// `readings`: if the rows may go to disk once they are all there, how often they will be read; see settle().
   BatchStoreSink(BatchStore& buffer, std::vector<uint32_t> slots, std::vector<Representation> columns,
                  std::optional<uint32_t> readings = {})
      : buffer_(buffer), slots_(std::move(slots)), columns_(std::move(columns)), readings_(readings) {}
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;
   void finish(QueryContext&) override {
      if (readings_) buffer_.settle(*readings_);
   }

private:
   BatchStore& buffer_;
   const std::vector<uint32_t> slots_;
   const std::vector<Representation> columns_;
   const std::optional<uint32_t> readings_;
};

/// Reads a BatchStore: output column i is buffer column slots[i].
class BatchStoreSource final : public Source {
public:
   /// `ordered`: one worker gives the rows in the order in which they were added. `isLastUse`: the last reading of the
   /// buffer, which frees its space on disk.
   BatchStoreSource(const BatchStore& buffer, std::vector<uint32_t> slots, bool ordered = false, bool isLastUse = false)
      : buffer_(buffer), slots_(std::move(slots)), ordered_(ordered), isLastUse_(isLastUse) {}
   void prepare(QueryContext&) override { next_.store(0); }
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   double consumed() const override {
      const size_t all = buffer_.batchCount();
      return all == 0 ? 1 : std::min(1.0, static_cast<double>(next_.load()) / static_cast<double>(all));
   }
   void describe(OperatorProfile& profile) const override { buffer_.describe(profile); }

private:
   const BatchStore& buffer_;
   const std::vector<uint32_t> slots_;
   const bool ordered_, isLastUse_;
   std::atomic<size_t> next_{0};
};

} // namespace ouzel::executor
