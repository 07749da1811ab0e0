#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// What does not fit into memory goes to local disks and comes back (FACTS A.1, I.3). Operators hand over pages; pages
// are compressed or not, collected in staging areas, and written and read asynchronously with O_DIRECT.

namespace ouzel {
class MemoryLedger;
}

namespace ouzel::io {

/// How one query's pages are written; the process's own rates hold besides.
struct SpillPolicy {
   uint64_t writeRateMax = 0, readRateMax = 0; ///< bytes per second and device; 0: as fast as it goes
   static constexpr int regulated = -1;
   int level = regulated; ///< or always this level of the scale, 0 being none
};

struct SpillOptions {
   std::vector<std::string> directories; ///< one per device
   /// Bytes per second and device; 0: as fast as it goes.
   uint64_t writeRateMax = 0, readRateMax = 0;
   /// A device's files may take so much together; 0: what there is.
   uint64_t bytesMax = 0;
   bool encrypts = false;          ///< with a key that is never written anywhere
   MemoryLedger* memory = nullptr; ///< staging areas are charged to it
};

/// The devices of the process, the staging areas of its threads and what is known of their speed. Thread-safe; outlives
/// every SpillSpace.
class SpillManager {
public:
   /// Makes the directories when they are not there.
   explicit SpillManager(SpillOptions options);
   ~SpillManager();
   /// What the devices hold and have done, in the order of the options.
   struct Device {
      std::string directory;
      uint64_t bytesAllocated, bytesInUse; ///< of files; of these, by pages
      uint64_t rawBytesWritten, bytesWritten, rawBytesRead, bytesRead;
      double writeBandwidth, readBandwidth; ///< bytes per second as measured; 0: not yet
   };
   std::vector<Device> devices() const;
   /// What a regulator did after a run of pages.
   struct Decision {
      int64_t at; ///< microseconds since 2000-01-01
      uint32_t lane, device, levelBefore, levelAfter;
      double cpuNanos, ioNanos; ///< per raw byte at the level before: operator and codec; writing and reading back
   };
   /// The last ones, oldest first.
   std::vector<Decision> decisions() const;
   /// Take effect with the next page.
   void setRates(uint64_t writeRateMax, uint64_t readRateMax);

   struct State;

private:
   friend class SpillSpace;
   friend class SpillReader;
   std::unique_ptr<State> state_;
};

/// Where a page lies. 16 bytes in memory for each page on disk.
struct SpilledPage {
   uint64_t locator = 0; ///< device, offset and stored size
   uint32_t rawBytes = 0;
   uint32_t storedBytes() const; ///< on the device, in units of its blocks
};

/// The names of the scale's levels, from 0.
std::vector<std::string> spillLevelNames();

/// What a space has done so far.
struct SpillStatistics {
   uint64_t pagesWritten = 0, rawBytesWritten = 0, bytesWritten = 0, bytesRead = 0;
   std::vector<uint64_t> pagesByLevel; ///< index: level of the scale
};

/// The spilled pages of one query. Its files have no name, so that nothing is left whatever happens to the process; all
/// of the space goes when this does. Thread-safe.
class SpillSpace {
public:
   explicit SpillSpace(SpillManager& manager, SpillPolicy policy = {});
   /// Waits for what is in flight.
   ~SpillSpace();
   SpillSpace(const SpillSpace&) = delete;
   SpillSpace& operator=(const SpillSpace&) = delete;

   /// Store the parts, one behind the other, as one page of at most pageBytesMax. They have been copied when this
   /// returns; the write itself goes on in the background, and its error is thrown by a later call. Waits only when all
   /// staging areas of the thread are in flight. Throws 53100 and 58030.
   SpilledPage write(std::span<const std::span<const std::byte>> parts);
   static constexpr size_t pageBytesMax = size_t{16} << 20;
   /// The page is not wanted any more: its space can be used again.
   void free(const SpilledPage& page);
   SpillStatistics statistics() const;

   struct State;

private:
   friend class SpillReader;
   std::unique_ptr<State> state_;
};

/// Brings pages back in the order they are asked for, some of them ahead of time. One thread's; any number per space.
class SpillReader {
public:
   /// `aheadBytes`: as much may be in flight or wait to be fetched, at least one page.
   explicit SpillReader(SpillSpace& space, size_t aheadBytes = size_t{2} << 20);
   ~SpillReader();
   SpillReader(const SpillReader&) = delete;
   SpillReader& operator=(const SpillReader&) = delete;

   /// Will be asked for after those added before. `isLastUse`: its space is freed when it has been read.
   void add(const SpilledPage& page, bool isLastUse = true);
   bool isEmpty() const;
   /// Raw bytes of the next page. REQUIRES: !isEmpty().
   uint32_t nextBytes() const;
   /// Fetch the next page to `target`, which has room for nextBytes(); waits for it. Throws 58030, and XX001 when the
   /// page is not what was written.
   void next(std::byte* target);

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
