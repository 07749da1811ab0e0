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
#include "io/spill/page_codec.hpp"
#include "io/spill/regulator.hpp"
#include "io/spill/spill_state.hpp"

// The writing side. A lane is a channel to each device and some staging areas, used by the thread that holds its mutex,
// in practice always the same thread. A lane encodes pages one behind the other into its open area, which stages bytes
// of an extent of the query's file. A full area is submitted to the channel and is free again when it is written.
//
//   free --openArea--> open --submitArea--> in flight --reap--> [waits for the throttle] --release--> free

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
   /// Waits until no area of the space overlaps the extent. Submits the open area first if it overlaps.
   void awaitWrites(SpillSpace::State& space, uint32_t device, SpillExtent extent) REQUIRES(mutex);
   /// Called by the space's destructor: waits for areas in flight, drops the open one, and frees the areas' memory.
   void forget(SpillSpace::State& space) REQUIRES(mutex);

   /// steadyNanos() of the last write. Needs no lock.
   int64_t lastUse() const { return lastUse_.load(std::memory_order_relaxed); }

   static constexpr size_t areaCount = 8; ///< a deeper queue only adds latency
   /// Room for four uncompressed pages of 64 KiB, or one of 256 KiB, with headers.
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
      size_t padding = 0; ///< bytes at the end of `used` that belong to no page
      bool isInFlight = false;
      bool hasFailed = false;
      bool isCharged = false;
      int64_t due = 0;      ///< steadyNanos() at which the throttle lets the write end
      int64_t begun = 0;    ///< steadyNanos()
      int64_t ended = 0;    ///< steadyNanos() when the completion was seen
      uint64_t atBegin = 0; ///< Flow::begin() at `begun`
   };

   void openExtent(SpillSpace::State& space, size_t rawBytes) REQUIRES(mutex);
   void closeExtent() REQUIRES(mutex);
   void openArea() REQUIRES(mutex);
   /// All areas are in use: waits until one is free or some time has passed.
   void awaitArea() REQUIRES(mutex);
   /// Submits the open area. `pads`: fills it with zeros up to the next border of physical blocks, if the extent
   /// reaches it.
   void submitArea(bool pads) REQUIRES(mutex);
   void prepareArea(Area& area) REQUIRES(mutex);
   /// Takes completions and releases written areas. `mustWait`: waits for at least one area.
   void reap(bool mustWait) REQUIRES(mutex);
   size_t takeCompletions(bool mustWait) REQUIRES(mutex);
   void complete(Area& area, int32_t result) REQUIRES(mutex);
   /// Waits until a channel with requests in flight has something to do.
   void waitForAny() REQUIRES(mutex);
   uint32_t inFlight() const REQUIRES(mutex);
   void release(Area& area, bool isExact) REQUIRES(mutex);
   void regulate(SpillSpace::State& space) REQUIRES(mutex);
   void calibrate(SpillSpace::State& space) REQUIRES(mutex);
   std::span<const std::byte> gather(std::span<const std::span<const std::byte>> parts, size_t& part, size_t& skip,
                                     size_t bytes) REQUIRES(mutex);

   // PROPERTIES
   SpillManager::State& manager_;
   const uint32_t number_;

   // STATE
   std::vector<std::unique_ptr<SpillChannel>> channels_ GUARDED_BY(mutex); ///< by device; null: not used yet
   UnitEncoder encoder_ GUARDED_BY(mutex);
   std::array<Area, areaCount> areas_ GUARDED_BY(mutex);
   std::vector<std::byte> scratch_ GUARDED_BY(mutex); ///< a unit gathered from several parts
   std::atomic<int64_t> lastUse_{0};
   std::thread::id lastThread_ GUARDED_BY(mutex);
   int64_t waitedNanos_ GUARDED_BY(mutex) = 0; ///< sum of all waits
   struct PerDevice {
      Regulator regulator;
      int64_t lastPage = 0; ///< steadyNanos(); 0: written by another thread
      int64_t waitedAtLastPage = 0;
      int64_t runBegin = 0, waitedAtRunBegin = 0;
      std::vector<uint64_t> written; ///< offsets of written areas that calibrate() can read
   };
   std::vector<PerDevice> perDevice_ GUARDED_BY(mutex);
   // The open extent and area. The open area, if any, ends at cursor_; extent_ ends at or behind cursor_.
   SpillSpace::State* space_ GUARDED_BY(mutex) = nullptr;           ///< null: no extent is open
   const SpillSpace::State* lastSpace_ GUARDED_BY(mutex) = nullptr; ///< last space with an open extent; may be gone
   SpillFile* file_ GUARDED_BY(mutex) = nullptr;
   uint32_t device_ GUARDED_BY(mutex) = 0;
   SpillExtent extent_ GUARDED_BY(mutex);
   uint64_t cursor_ GUARDED_BY(mutex) = 0;
   Area* area_ GUARDED_BY(mutex) = nullptr;
};

} // namespace ouzel::io
