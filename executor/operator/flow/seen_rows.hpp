#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/pipeline/hash_filter.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::executor {

/// Finds rows by their hashes: where are the rows of a recursive UNION that may equal a new one? Used by one thread.
///
/// Entries of 16 bytes lie in a hash table while memory lasts. A table that may not grow is written to disk as a run,
/// in order of hashes, and begins anew. Runs of a level that has become full are merged into one of the next. A filter
/// in memory has the hashes of all runs, so that new hashes mostly need no reading; others need a page of each run.
class SeenRows {
public:
   /// The number of a batch, and of the row in the batch.
   struct Place {
      uint32_t batch = 0, row = 0;
   };
   struct Probe {
      uint64_t hash = 0;
      uint32_t row = 0; ///< the caller's
   };
   using Found = std::function<void(const Probe& probe, Place place)>;

   /// `space` null: everything stays in memory. `interrupt` is called now and then, and may throw.
   SeenRows(QueryBudget& budget, io::SpillSpace* space, std::function<void()> interrupt);

   void add(uint64_t hash, Place place);
   /// Calls found() for each place that was added with the hash of a probe. Sorts the probes.
   void find(std::span<Probe> probes, const Found& found);
   bool hasSpilled() const { return !runs_.empty(); }
   /// Memory that the recursion can count on for its rows that were seen.
   size_t floor() { return grant_.floor(); }

private:
   struct Entry {
      uint64_t hash;
      uint32_t batch; ///< from 1; 0: a free slot
      uint32_t row;
   };
   /// Entries on disk in order of their hashes.
   struct Run {
      std::vector<io::SpilledPage> pages;
      std::vector<uint64_t> firsts; ///< by page, the first hash
      uint32_t level = 0;
   };
   class RunReader;
   class RunWriter;

   bool mayGrow(size_t slots);
   void grow(size_t slots);
   void put(const Entry& entry);
   void writeRun();
   void mergeLast(size_t count);
   void findInRun(const Run& run, std::span<const Probe> probes, const Found& found);

   io::SpillSpace* const space_;
   const std::function<void()> interrupt_;
   MemoryGrant grant_;
   LargeMemory table_; ///< slots_ entries; linear probing
   size_t slots_ = 0, used_ = 0;
   std::vector<Run> runs_; ///< by falling level
   std::unique_ptr<HashFilter> filter_;
   LargeMemory page_; ///< read by findInRun()
};

} // namespace ouzel::executor
