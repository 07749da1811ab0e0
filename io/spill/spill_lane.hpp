#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

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

/// Every call REQUIRES: mutex is held.
class SpillLane {
public:
   SpillLane(SpillManager::State& manager, uint32_t number);
   ~SpillLane();

   std::mutex mutex;

   SpilledPage write(SpillSpace::State& space, std::span<const std::span<const std::byte>> parts, size_t rawBytes);
   /// Wait until no area of the space overlaps the extent, handing over the open one if it does.
   void settle(SpillSpace::State& space, uint32_t device, SpillExtent extent);
   /// The space goes: wait for what is in the kernel, drop what is not.
   void forget(SpillSpace::State& space);

   /// steadyNanos() of the last write. No lock is needed.
   int64_t lastUse() const { return lastUse_.load(std::memory_order_relaxed); }

   static constexpr size_t areaCount = 8; ///< deeper only adds latency (FACTS 0.1)
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

   void openExtent(SpillSpace::State& space, size_t rawBytes);
   void closeExtent();
   void openArea();
   /// `pads`: up to the next border of the device's physical blocks, if the extent goes that far.
   void submitArea(bool pads);
   void prepareArea(Area& area);
   /// Look at what the kernel has finished, waiting for at least one area if `mustWait`.
   void reap(bool mustWait);
   void release(Area& area, bool isExact);
   void regulate(SpillSpace::State& space);
   void calibrate(SpillSpace::State& space);
   std::span<const std::byte> gather(std::span<const std::span<const std::byte>> parts, size_t& part, size_t& skip,
                                     size_t bytes);

   // PROPERTIES
   SpillManager::State& manager_;
   const uint32_t number_;

   // STATE
   Ring ring_;
   UnitEncoder encoder_;
   std::array<Area, areaCount> areas_;
   std::vector<std::byte> scratch_; ///< a unit that several parts make up
   uint32_t nextDevice_;
   std::atomic<int64_t> lastUse_{0};
   std::thread::id lastThread_;
   int64_t waitedNanos_ = 0; ///< in all
   struct PerDevice {
      Regulator regulator;
      int64_t lastPage = 0; ///< steadyNanos(); 0: another thread's
      int64_t waitedAtLastPage = 0;
      int64_t runBegin = 0, waitedAtRunBegin = 0;
      std::vector<uint64_t> written; ///< offsets of areas that are full and on the device, for calibrate()
   };
   std::vector<PerDevice> perDevice_;
   // What is open. The area, when there is one, ends at cursor_, and extent_ at or behind it.
   SpillSpace::State* space_ = nullptr;           ///< null: nothing
   const SpillSpace::State* lastSpace_ = nullptr; ///< that something was opened for; perhaps gone
   SpillFile* file_ = nullptr;
   uint32_t device_ = 0;
   SpillExtent extent_;
   uint64_t cursor_ = 0;
   Area* area_ = nullptr;
};

} // namespace ouzel::io
