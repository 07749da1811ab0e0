#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/ring/ring.hpp"
#include "io/spill/page_codec.hpp"
#include "io/spill/regulator.hpp"
#include "io/spill/spill_state.hpp"

// Writing. A lane is a ring and a few staging areas; whoever holds its mutex may use it, in practice always the same
// thread. Pages are encoded behind one another into the open area, which lies in an extent of the query's file; a full
// area is handed to the kernel and comes back when it was written.
//
//   free --openArea--> open --submitArea--> in the kernel --reap--> [waits for the throttle] --release--> free

namespace ouzel::io {

/// Memory for O_DIRECT.
struct AlignedDelete {
   void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
AlignedBytes allocateAligned(size_t bytes);

class SpillLane {
public:
   SpillLane(SpillManager::State& manager, uint32_t number);
   ~SpillLane();

   Mutex mutex;

   SpilledPage write(SpillSpace::State& space, std::span<const std::span<const std::byte>> parts, size_t rawBytes)
       REQUIRES(mutex);
   /// Wait until no area of the space overlaps the extent, handing over the open one if it does.
   void settle(SpillSpace::State& space, uint32_t device, SpillExtent extent) REQUIRES(mutex);
   /// The space goes: wait for what is in the kernel, drop what is not.
   void forget(SpillSpace::State& space) REQUIRES(mutex);

   /// steadyNanos() of the last write. No lock is needed.
   int64_t lastUse() const { return lastUse_.load(std::memory_order_relaxed); }

   static constexpr size_t areaCount = 8; ///< deeper only adds latency
   /// Four pages of 64 KiB, or one of 256, as they are, with their headers.
   static constexpr size_t areaBytes = unitBytesMax + 8192;

private:
   struct Area {
      AlignedBytes bytes;
      SpillSpace::State* space = nullptr; ///< null: free
      SpillFile* file = nullptr;
      uint32_t device = 0;
      uint64_t offset = 0; ///< in the file
      size_t used = 0;
      size_t written = 0;
      size_t padding = 0; ///< of used
      bool isInKernel = false;
      bool isCharged = false;
      int64_t due = 0;      ///< the throttle's
      int64_t begun = 0;    ///< steadyNanos()
      int64_t ended = 0;    ///< when the kernel said so
      uint64_t atBegin = 0; ///< of the flow
   };

   void openExtent(SpillSpace::State& space, size_t rawBytes) REQUIRES(mutex);
   void closeExtent() REQUIRES(mutex);
   void openArea() REQUIRES(mutex);
   /// `pads`: up to the next border of the device's physical blocks, if the extent goes that far.
   void submitArea(bool pads) REQUIRES(mutex);
   void prepareArea(Area& area) REQUIRES(mutex);
   /// Look at what the kernel has finished, waiting for at least one area if `mustWait`.
   void reap(bool mustWait) REQUIRES(mutex);
   void release(Area& area, bool isExact) REQUIRES(mutex);
   void regulate(SpillSpace::State& space) REQUIRES(mutex);
   void calibrate(SpillSpace::State& space) REQUIRES(mutex);
   std::span<const std::byte> gather(std::span<const std::span<const std::byte>> parts, size_t& part, size_t& skip,
                                     size_t bytes) REQUIRES(mutex);

   // PROPERTIES
   SpillManager::State& manager_;
   const uint32_t number_;

   // STATE
   Ring ring_ GUARDED_BY(mutex);
   UnitEncoder encoder_ GUARDED_BY(mutex);
   std::array<Area, areaCount> areas_ GUARDED_BY(mutex);
   std::vector<std::byte> scratch_ GUARDED_BY(mutex); ///< a unit that several parts make up
   uint32_t nextDevice_ GUARDED_BY(mutex);
   std::atomic<int64_t> lastUse_{0};
   std::thread::id lastThread_ GUARDED_BY(mutex);
   int64_t waitedNanos_ GUARDED_BY(mutex) = 0; ///< in all
   struct PerDevice {
      Regulator regulator;
      int64_t lastPage = 0; ///< steadyNanos(); 0: another thread's
      int64_t waitedAtLastPage = 0;
      int64_t runBegin = 0, waitedAtRunBegin = 0;
      std::vector<uint64_t> written; ///< offsets of areas that are full and on the device, for calibrate()
   };
   std::vector<PerDevice> perDevice_ GUARDED_BY(mutex);
   // What is open. The area, when there is one, ends at cursor_, and extent_ at or behind it.
   SpillSpace::State* space_ GUARDED_BY(mutex) = nullptr;           ///< null: nothing
   const SpillSpace::State* lastSpace_ GUARDED_BY(mutex) = nullptr; ///< that something was opened for; perhaps gone
   SpillFile* file_ GUARDED_BY(mutex) = nullptr;
   uint32_t device_ GUARDED_BY(mutex) = 0;
   SpillExtent extent_ GUARDED_BY(mutex);
   uint64_t cursor_ GUARDED_BY(mutex) = 0;
   Area* area_ GUARDED_BY(mutex) = nullptr;
};

} // namespace ouzel::io
