#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "io/spill/page_codec.hpp"
#include "io/spill/placement.hpp"
#include "io/spill/spill.hpp"
#include "io/spill/spill_device.hpp"

// The states of SpillManager and SpillSpace. For this room only.

namespace ouzel::io {

class SpillLane;
class ReadLane;

inline constexpr size_t spillLevelsMax = 16;

/// A page's place, packed into 64 bits: device 6, size in blocks of 512 bytes 16, offset in such blocks 42. 0: a page
/// without bytes.
struct SpillLocator {
   static constexpr uint64_t unit = 512;
   uint32_t device = 0;
   SpillExtent extent;

   uint64_t packed() const { return (uint64_t{device} << 58) | (extent.size / unit << 42) | (extent.offset / unit); }
   static SpillLocator unpack(uint64_t packed) {
      constexpr uint64_t offsets = (uint64_t{1} << 42) - 1;
      return {static_cast<uint32_t>(packed >> 58), {(packed & offsets) * unit, ((packed >> 42) & 0xffff) * unit}};
   }
};
static_assert(pageBound(SpillSpace::pageBytesMax, 4096) / SpillLocator::unit <= 0xffff);

struct SpillManager::State {
   explicit State(SpillOptions options);
   ~State();

   // PROPERTIES
   std::vector<std::unique_ptr<SpillDevice>> devices;
   std::unique_ptr<SpillSeal> seal; ///< null: pages are not encrypted

   // STATE
   std::optional<Reservation> memory;
   std::atomic<double> readWork{-1}; ///< nanoseconds per raw byte that readers' operators take
   /// Made at first use, destroyed with the manager.
   std::vector<std::atomic<SpillLane*>> lanes;
   Mutex mutex;                                                      // guards making lanes and the members below
   std::vector<std::unique_ptr<ReadLane>> readers GUARDED_BY(mutex); ///< free read lanes
   std::deque<SpillManager::Decision> decisions GUARDED_BY(mutex);
   Placement placement GUARDED_BY(mutex);

   /// Returns a lane that no other thread is using, with its mutex locked. The analysis cannot name the mutex of a
   /// returned lane.
   SpillLane& lockLane() NO_THREAD_SAFETY_ANALYSIS;
   /// Number of lanes that have written lately and so share the devices.
   uint32_t activeLanes() const;
   void record(const SpillManager::Decision& decision);
   /// The device of the next extent, or none when all were tried.
   std::optional<uint32_t> place(SpillSpace::State& space, uint64_t tried, size_t bytes);
   std::unique_ptr<ReadLane> takeReader();
   void giveReader(std::unique_ptr<ReadLane> reader);
};

struct SpillSpace::State {
   State(SpillManager::State& m, SpillPolicy p);

   /// An extent whose bytes are in a staging area and not on the device yet.
   struct Pending {
      uint32_t device;
      SpillExtent extent;
      SpillLane* lane;
   };

   /// The flow that measures this query's bandwidth: the query's own if it has a rate, else the device's.
   Flow& writes(uint32_t device) {
      return policy.writeRateMax > 0 ? shares[device].writes : manager.devices[device]->writes;
   }
   Flow& reads(uint32_t device) {
      return policy.readRateMax > 0 ? shares[device].reads : manager.devices[device]->reads;
   }
   int64_t writeDue(uint32_t device, uint64_t bytes) {
      return std::max(shares[device].writes.throttle.due(bytes), manager.devices[device]->writes.throttle.due(bytes));
   }
   int64_t readDue(uint32_t device, uint64_t bytes) {
      return std::max(shares[device].reads.throttle.due(bytes), manager.devices[device]->reads.throttle.due(bytes));
   }
   SpillFile& file(uint32_t device);
   /// What each device costs.
   std::vector<TransferCost> transferCosts();
   /// Nanoseconds that `bytes` cost on each device, written and read back.
   std::vector<double> costs(size_t bytes);
   /// The same for a device that does what devices of its kind are taken to do.
   double usualCost(uint32_t device, size_t bytes) const;
   /// Keeps the first error of a write in the background.
   void fail(uint32_t device, int error);
   void throwIfFailed();
   void addPending(const Pending& pending);
   /// Sets the real size of a submitted area. The bytes behind it belong to other areas from now on.
   void shrinkPending(uint32_t device, SpillExtent extent);
   void removePending(uint32_t device, uint64_t offset);
   /// Waits until no staging area has bytes of the extent.
   void awaitWrites(uint32_t device, SpillExtent extent);
   void free(const SpilledPage& page);

   /// The query's own rates on a device.
   struct Share {
      Flow writes, reads;
   };

   // PROPERTIES
   SpillManager::State& manager;
   const SpillPolicy policy;
   std::vector<Share> shares; ///< by device

   // STATE
   std::atomic<uint64_t> pagesWritten{0}, rawBytesWritten{0}, bytesWritten{0}, bytesRead{0};
   std::array<std::atomic<uint64_t>, spillLevelsMax> pagesByLevel{};

private:
   std::vector<Pending>::iterator findPending(uint32_t device, uint64_t offset) REQUIRES(mutex_);

   Mutex mutex_;                                                      // guards the members below
   std::vector<std::unique_ptr<SpillFile>> files_ GUARDED_BY(mutex_); ///< one per device; null: not used yet
   std::vector<Pending> pending_ GUARDED_BY(mutex_);                  ///< a few per lane
   std::atomic<bool> hasFailed_{false};
   uint32_t failedDevice_ GUARDED_BY(mutex_) = 0;
   int failedError_ GUARDED_BY(mutex_) = 0;
};

} // namespace ouzel::io
