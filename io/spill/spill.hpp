#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Spilling: pages of operators go to devices (directories, memory of other machines, buckets) and come back. Pages are
// compressed or not, collected in staging areas, and written and read asynchronously.
//
//     SpillSpace::write -> SpillLane (encode, staging area) -> SpillFile on a SpillDevice -> SpillReader (read, decode)
//
// The lane takes extents of files, one after the other. Placement chooses the device of each: the cheapest that has
// room, and similar ones in proportion to their speed.

namespace ouzel {
class MemoryLedger;
}

namespace ouzel::io {

/// How one query's pages are written. The rates of SpillOptions hold, too.
struct SpillPolicy {
   uint64_t writeRateMax = 0, readRateMax = 0; ///< bytes per second and device; 0: as fast as it goes
   static constexpr int regulated = -1;
   int level = regulated;    ///< or a fixed level of the scale; 0: no compression
   int64_t logBytesMin = -1; ///< log_temp_files in bytes: the log tells of a space that wrote so much; -1: of none
   /// For experiments: bytes that every reader reads ahead, instead of what its operator asks for; 0: one page at a
   /// time, when it is needed; -1: as the operator asks.
   int64_t aheadBytes = -1;
};

/// What moving bytes to and from a device costs, as measured, or as usual for its kind before it was measured.
struct TransferCost {
   double writeNanosPerByte = 0, readNanosPerByte = 0;
   double roundNanos = 0; ///< of a request or a batch of requests, besides their bytes
};

struct SpillOptions {
   std::vector<std::string> targets; ///< one per device: directories, or addresses (spill_target.hpp)
   /// Bytes per second and device; 0: as fast as it goes.
   uint64_t writeRateMax = 0, readRateMax = 0;
   /// Most bytes of one device's files together; 0: no limit.
   uint64_t bytesMax = 0;
   bool encrypts = false;          ///< with a random key that stays in memory
   MemoryLedger* memory = nullptr; ///< staging areas are charged to it
};

/// Owns the spill devices of the process, the lanes in which threads write, and the measured bandwidths. Outlives every
/// SpillSpace. Thread-safe.
class SpillManager {
public:
   /// Creates missing directories. Does not connect to other machines. Throws 22023 for invalid addresses.
   explicit SpillManager(SpillOptions options);
   ~SpillManager();
   /// Bytes, requests and speed of one device.
   struct Device {
      std::string name;                    ///< its directory or address, without a password
      uint64_t bytesAllocated, bytesInUse; ///< bytes of files; of them, of pages
      uint64_t rawBytesWritten, bytesWritten, rawBytesRead, bytesRead;
      double writeBandwidth, readBandwidth; ///< bytes per second as measured; 0: not yet
      double roundNanos;                    ///< of a request besides its bytes, as measured; 0: not yet
      uint64_t writeRequests, readRequests;
      uint64_t failures;                      ///< requests that failed, other than for lack of space
      uint64_t readRounds;                    ///< in which readRequests were made, several at once
      uint64_t writeWaitNanos, readWaitNanos; ///< of threads that could not go on (spill_tally.hpp)
   };
   std::vector<Device> devices() const;
   /// Nanoseconds to write a byte of an operator's rows and to read it back, on the cheapest device that is not
   /// avoided, compressed as pages were up to now. Without the work of compressing, and without rates of a query's own.
   double nanosPerByte() const;
   /// One decision of a regulator, after a run of pages.
   struct Decision {
      int64_t at; ///< microseconds since 2000-01-01
      uint32_t lane, device, levelBefore, levelAfter;
      double cpuNanos, ioNanos; ///< per raw byte, before: CPU of operator and codec; device
   };
   /// The most recent decisions, oldest first.
   std::vector<Decision> decisions() const;
   /// Sets the rates of all devices or of one, from the next page on.
   void setRates(uint64_t writeRateMax, uint64_t readRateMax, std::optional<uint32_t> device = {});

   struct State;

private:
   friend class SpillSpace;
   friend class SpillReader;
   std::unique_ptr<State> state_;
};

/// The place of a page: 16 bytes in memory for each page on disk.
struct SpilledPage {
   uint64_t locator = 0; ///< device, offset and stored size
   uint32_t rawBytes = 0;
   uint32_t storedBytes() const; ///< on the device, in units of its blocks
};

/// The names of the scale's levels, from 0.
const std::vector<std::string>& spillLevelNames();

/// Counters of a SpillSpace.
struct SpillStatistics {
   uint64_t pagesWritten = 0, rawBytesWritten = 0, bytesWritten = 0, bytesRead = 0;
   std::vector<uint64_t> pagesByLevel; ///< index: level of the scale
};

/// Owns the spilled pages of one query, in one file per device. The destructor frees all pages. When the process ends,
/// even by a crash, the kernel removes the files of directories, and other machines drop theirs after a time; objects
/// of a bucket are left. Thread-safe.
class SpillSpace {
public:
   explicit SpillSpace(SpillManager& manager, SpillPolicy policy = {});
   /// Waits for writes in flight.
   ~SpillSpace();
   SpillSpace(const SpillSpace&) = delete;
   SpillSpace& operator=(const SpillSpace&) = delete;

   /// Stores the concatenation of the parts as one page of at most pageBytesMax. The parts are copied before the
   /// return. The write goes on in the background, and a later call throws its error. Waits only when all staging areas
   /// of the thread are in flight. Throws 53100 and 58030.
   SpilledPage write(std::span<const std::span<const std::byte>> parts);
   static constexpr size_t pageBytesMax = size_t{16} << 20;
   /// Frees the page's space.
   void free(const SpilledPage& page);
   SpillStatistics statistics() const;
   /// Of the device where the next pages will probably be stored.
   TransferCost transferCost() const;

   struct State;

private:
   void logSize() const;
   friend class SpillReader;
   std::unique_ptr<State> state_;
};

/// Reads pages back in the order of add(), some of them ahead of next(). Requests are made in rounds: when at most half
/// of the bytes that may be ahead are left, the other half is asked for at once. A space may have any number of
/// readers. Used by one thread.
class SpillReader {
public:
   /// Most pages ahead of next(), however few bytes they have: requests in flight of one device.
   static constexpr size_t pagesAheadMax = 32;
   /// `aheadBytes`: most bytes in flight or waiting for next(), but at least one page; 0: a page is asked for by
   /// next().
   explicit SpillReader(SpillSpace& space, size_t aheadBytes = size_t{2} << 20);
   ~SpillReader();
   SpillReader(const SpillReader&) = delete;
   SpillReader& operator=(const SpillReader&) = delete;

   /// Appends a page to the pages to be read. `isLastUse`: its space is freed when it has been read.
   void add(const SpilledPage& page, bool isLastUse = true);
   /// Asks for the first pages, so that they come while the caller does something else. next() does it otherwise.
   void start();
   bool isEmpty() const;
   /// Raw bytes of the next page. REQUIRES: !isEmpty().
   uint32_t nextBytes() const;
   /// Waits for the next page and decodes it to `target`, which has room for nextBytes(). Throws 58030, and XX001 when
   /// the page is damaged.
   void next(std::byte* target);

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
