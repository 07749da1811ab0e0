#pragma once
#include <cstdint>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"

// Windows over ranges of rows: a range may begin in the middle of a partition. Its rows need the count of the
// partition's earlier rows and the running states of aggregates, and nothing else of them.

namespace ouzel::executor {

struct WindowPlan;

/// What the rows of a partition pass on to its later rows: their number, the number of their peer groups, and the state
/// of each aggregate.
struct WindowCarry {
   uint64_t rows = 0, groups = 0;
   std::vector<std::byte> states; ///< by call
   std::vector<size_t> stateAt;   ///< by call: where in `states`
   /// Without rows.
   static WindowCarry none(const WindowPlan& plan);
   std::byte* state(size_t call) { return states.data() + stateAt[call]; }
   const std::byte* state(size_t call) const { return states.data() + stateAt[call]; }
   /// Add later rows of the same partition.
   void add(const WindowPlan& plan, const WindowCarry& later, Reservation& memory);
};

/// Whether all results follow from a WindowCarry and the rows of a range that splits no peer group, and are the same as
/// without ranges. Sums of floating-point numbers are not: they depend on the order of the additions.
bool mayCarry(const WindowPlan& plan);

/// Computes what each range gets from the ranges before it, as soon as these have been added. Thread-safe.
class CarryChain {
public:
   CarryChain(const WindowPlan& plan, uint32_t ranges, Reservation& memory);

   struct Range {
      std::vector<std::byte> firstPartition, lastPartition; ///< keys
      bool isOnePartition = false;
      WindowCarry last; ///< of the rows of the last partition
   };
   /// True: other ranges can go on now. REQUIRES: the range has rows.
   bool add(uint32_t number, Range range);
   /// What the range's first partition gets. False: a range before it is missing. Called once per range.
   bool take(uint32_t number, WindowCarry& out);

private:
   const WindowPlan& plan_;
   Reservation& memory_;
   Mutex mutex_;
   struct Entry {
      Range range;
      bool isAdded = false;
      WindowCarry before;
   };
   std::vector<Entry> entries_ GUARDED_BY(mutex_);
   uint32_t known_ GUARDED_BY(mutex_) = 0; // first range whose `before` is not known
   WindowCarry running_ GUARDED_BY(mutex_);
   std::vector<std::byte> partition_ GUARDED_BY(mutex_); // of running_
};

} // namespace ouzel::executor
