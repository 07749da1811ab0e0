#pragma once
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/sort/sort_spill.hpp"

namespace ouzel::executor {

/// The pages of spilled runs that merges read at the same time. A page is read once, for the merge that asks first, and
/// stays in memory until the last of its users has released it. Pages without users are never read.
///
///    addRun() --> use() --> start(), by one thread --> acquire() and release(), by any
///
/// A run's pages are read in their order. A thread that wants a page waits for the disk, or for a thread that reads the
/// same run.
class RunPages {
public:
   struct Page {
      ColumnPage rows;
      ColumnPiece piece;
   };
   RunPages(const SortRowLayout& layout, Reservation& memory);
   ~RunPages();

   /// `run` must outlive this object. `aheadBytes`: memory for reading ahead, as much of it as there is.
   void addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes);
   /// Pages [from, end) of the run get one more user.
   void use(uint32_t run, size_t from, size_t end);
   /// Begin to read.
   void start();

   const Page& acquire(uint32_t run, size_t page);
   void release(uint32_t run, size_t page);

private:
   struct Run {
      const SpilledRun* run = nullptr;
      Mutex mutex;
      std::unique_ptr<io::SpillReader> reader GUARDED_BY(mutex);
      size_t next GUARDED_BY(mutex) = 0; // first page that was not read yet
      std::vector<std::unique_ptr<Page>> pages GUARDED_BY(mutex);
      std::vector<uint32_t> users GUARDED_BY(mutex); // by page: how many have not released it
   };
   std::unique_ptr<Page> emptyPage();
   void load(Run& run, size_t page) REQUIRES(run.mutex);

   std::vector<PhysicalType> types_;
   const uint32_t keyWidth_;
   Reservation& memory_;
   size_t aheadBytes_ = 0;
   std::vector<std::unique_ptr<Run>> runs_;
   Mutex mutex_;
   std::vector<std::unique_ptr<Page>> free_ GUARDED_BY(mutex_); // to be reused
};

} // namespace ouzel::executor
