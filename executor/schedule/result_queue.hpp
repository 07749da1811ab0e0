#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/materialize/column_page.hpp"
#include "executor/pipeline/owned_batch.hpp"

namespace ouzel::executor {

/// The batches of a result that the session has not taken yet. Workers push, the session's thread takes. All but take()
/// is thread-safe.
///
///    Bounded   at most batchesMax batches, in memory: workers wait for a slow client
///    Storing   all batches are on disk, and there is always room: workers run to the end of the result
///
///    Bounded --storeRest()--> Storing          another query needs the memory of this query's operators
///    Storing --no space on disk--------> Bounded, with more than batchesMax batches: workers wait again
///    Storing --stored more than it may-> Bounded for good: the result costs more than the memory is worth
///
/// Stored batches are freed on disk when they are taken.
class ResultQueue {
public:
   static constexpr size_t batchesMax = 8;

   /// `disk` null: batches cannot be stored.
   ResultQueue(std::vector<Representation> columns, Reservation& memory, io::SpillManager* disk,
               io::SpillPolicy policy);

   /// False: the next batch has to wait. Storing, it stores batches that are still in memory.
   bool hasRoom();
   /// Batches of one thread keep their order. Takes the batch even without room. Throws 58030.
   void push(std::unique_ptr<OwnedBatch> batch);
   /// The next batch; null if there is none now. `madeRoom`: workers may have been waiting. Throws 53200 and 58030.
   std::unique_ptr<OwnedBatch> take(bool& madeRoom);
   bool isEmpty();
   /// What the next batch is charged to.
   Reservation& batchMemory() { return isStoring() ? onTheWay_ : memory_; }

   /// A worker has found no room, and since then nothing was taken for so long that the client seems to rest.
   bool isResting() const;
   /// From now on, store batches, up to `bytesMax` bytes of them. False: it has stored too much before, or cannot.
   bool storeRest(uint64_t bytesMax);
   bool isStoring() const { return isStoring_.load(std::memory_order_relaxed); }
   /// Some batches were stored: workers may be far ahead of the client.
   bool hasStored() const { return hasStored_.load(std::memory_order_relaxed); }

private:
   struct Entry {
      std::unique_ptr<OwnedBatch> batch; ///< null: on disk
      SpilledColumnPage stored;
   };
   bool store(Entry& entry);
   bool storeResident() REQUIRES(mutex_);
   std::unique_ptr<OwnedBatch> load(const SpilledColumnPage& stored);

   // PROPERTIES
   const std::vector<Representation> columns_;
   std::vector<PhysicalType> types_;
   Reservation& memory_;
   /// Of batches and pages on their way to disk and back, which must come through when memory is short: about one for
   /// each worker, and one for the client.
   MemoryLedger uncounted_{SIZE_MAX};
   Reservation onTheWay_{uncounted_};
   io::SpillManager* const disk_;
   const io::SpillPolicy policy_;
   // STATE
   std::atomic<bool> isStoring_{false}, hasStored_{false};
   std::atomic<uint64_t> storedBytes_{0}, storedBytesMax_{0};
   std::atomic<int64_t> fullSince_{0}; ///< steadyNanos() when a worker first found no room; 0: nobody has
   std::once_flag spaceMade_;
   std::unique_ptr<io::SpillSpace> space_; // its own: the query's ends with the query's operators
   Mutex mutex_;
   std::deque<Entry> entries_ GUARDED_BY(mutex_);
   size_t residentCount_ GUARDED_BY(mutex_) = 0;
   size_t expected_ GUARDED_BY(mutex_) = 0; ///< the first so many entries are being read ahead
   // Of the thread that takes.
   std::unique_ptr<io::SpillReader> reader_;
   std::unique_ptr<ColumnPage> page_;
};

} // namespace ouzel::executor
