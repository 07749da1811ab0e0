#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/env/clock.hpp"
#include "io/ring/ring.hpp"
#include "io/spill/flow.hpp"

// What the pages of queries are stored on: a local directory (directory_device.hpp), the memory of another machine
// (memory_device.hpp), or a bucket (object_device.hpp). A query has one SpillFile on each device that it uses, and a
// lane one SpillChannel to each.
//
// Calls of these interfaces are per extent, staging area or page that is read, never per row.

namespace ouzel::io {

class SpillDevice;

/// A place in a file, in bytes.
struct SpillExtent {
   uint64_t offset = 0, size = 0;
};

/// The pages of one query on one device, addressed by offset. The destructor removes them. Thread-safe.
class SpillFile {
public:
   explicit SpillFile(SpillDevice& device);
   virtual ~SpillFile() = default;
   SpillFile(const SpillFile&) = delete;
   SpillFile& operator=(const SpillFile&) = delete;

   SpillDevice& device() const { return device_; }
   /// No other file of the process has or had it.
   uint64_t number() const { return number_; }
   /// Unit of offsets, sizes and addresses of requests.
   uint32_t blockBytes() const { return blockBytes_; }
   /// Requests end at multiples of this offset where they can: elsewhere they cost more.
   virtual uint32_t borderBytes() const { return blockBytes_; }

   /// Allocates from `min` to `want` bytes. Throws 53100 and 58030.
   virtual SpillExtent allocate(uint64_t min, uint64_t want) = 0;
   virtual void free(SpillExtent extent) = 0;

protected:
   SpillDevice& device_;
   uint32_t blockBytes_ = 512;

private:
   const uint64_t number_;
};

/// Requests of one thread to one device, several in flight. A buffer belongs to its request until the completion was
/// seen. The channel reports failed requests to its device. The destructor returns when no request uses its buffer any
/// more. Used by one thread at a time.
class SpillChannel {
public:
   virtual ~SpillChannel() = default;
   virtual uint32_t inFlight() const = 0; ///< queued or submitted, completion not yet seen
   virtual bool hasRoom() const = 0;
   /// Connects if there is no connection. After a failure, asks the device whether it takes writes again, because
   /// pages that it refuses later are lost. Throws 53100 and 58030, and has reported that to the device.
   virtual void connect() {}
   /// Queue a request. REQUIRES: hasRoom().
   virtual void write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) = 0;
   virtual void read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) = 0;
   /// Hands all queued requests to the device.
   virtual void submit() = 0;
   /// Submits queued requests, writes up to completions.size() completions that have come, and returns their number.
   /// `mustWait`: waits for one if none has come, for a device across a network at most a tenth of a second. A request
   /// that fails, or makes no progress for long, completes with an error.
   virtual size_t reap(std::span<RingCompletion> completions, bool mustWait) = 0;
   /// Gives up the requests in flight, or waits for them. Returns when no request uses its buffer any more.
   virtual void abandon() = 0;
   /// What to wait for, when a thread waits for several channels: one of `events` (POLLIN, POLLOUT) of the handle, or
   /// the time `until`, steadyNanos(). Neither: reap() has completions now.
   struct Wait {
      int handle = -1;
      int16_t events = 0;
      int64_t until = 0; ///< 0: none
   };
   virtual Wait wait() const = 0;
};

/// A device that all queries spill to. Thread-safe.
class SpillDevice {
public:
   /// What a device is taken to do until it is measured.
   struct Prior {
      double bandwidth;  ///< bytes per second
      double roundNanos; ///< of a request without bytes
      /// Most that a measured round counts; 0: as measured. For a device that others may be using meanwhile, so that
      /// the measurement takes their time, too.
      double roundNanosMax = 0;
   };
   SpillDevice(std::string itsName, Prior itsPrior) : name(std::move(itsName)), prior(itsPrior) {}
   virtual ~SpillDevice() = default;
   SpillDevice(const SpillDevice&) = delete;
   SpillDevice& operator=(const SpillDevice&) = delete;

   /// Throws 58030 and 53100.
   virtual std::unique_ptr<SpillFile> makeFile() = 0;
   /// `depth`: most requests in flight.
   virtual std::unique_ptr<SpillChannel> makeChannel(uint32_t depth) = 0;

   /// Waits for space that ended queries are giving back. False: there is none.
   virtual bool awaitSpace() { return false; }

   enum class Doing : uint8_t { Create, Extend, Write, Read };
   /// Throws the error of a failed request: 53100 when the device is full, else 58030.
   [[noreturn]] virtual void throwFailure(Doing doing, int error) const = 0;
   /// "invalid page in ...": what was read is not what was written.
   virtual std::string damageText() const = 0;

   /// Reports a request that failed with the errno: for some time, longer after each failure in a row, extents are
   /// placed elsewhere if they can be. `reason`: for the log, if it tells more than the errno.
   void failed(int error, std::string_view reason = {});
   /// Reports that there is no room for another extent. Nothing is lost, and the device is asked again soon, since
   /// queries end.
   void refused();
   /// Reports a request that did not fail. Failures are in a row until the device has worked as long as it was avoided.
   void succeeded() {
      if (failuresInRow_.load(std::memory_order_relaxed) > 0) forgive();
   }
   /// Whether a request has failed since proven().
   bool isDoubtful() const { return isDoubtful_.load(std::memory_order_relaxed); }
   /// Reports that the device was seen to take writes.
   void proven() { isDoubtful_.store(false, std::memory_order_relaxed); }
   /// Reports how long a request with few bytes took. Others may have been in flight, so it is an upper bound, and the
   /// smallest one counts.
   void noteRound(int64_t nanos) {
      double sample = static_cast<double>(std::max<int64_t>(nanos, 1));
      if (prior.roundNanosMax > 0) sample = std::min(sample, prior.roundNanosMax);
      double before = round_.load(std::memory_order_relaxed);
      while ((before == 0 || sample < before) &&
             !round_.compare_exchange_weak(before, sample, std::memory_order_relaxed)) {
      }
   }
   /// Nanoseconds of a request besides the transfer of its bytes; 0: not known.
   double roundNanos() const { return round_.load(std::memory_order_relaxed); }
   /// Counts requests and waits (spill_tally.hpp), for the device and for the thread's tally.
   void countWrites(uint64_t requests);
   void countReads(uint64_t requests);
   void countReadRound();
   void countReadBytes(uint64_t bytes);
   void countWriteWait(uint64_t nanos);
   void countReadWait(uint64_t nanos);
   bool isAvoided() const { return avoidedUntil_.load(std::memory_order_relaxed) > steadyNanos(); }

   // PROPERTIES
   const std::string name; ///< a directory, or an address without its password
   const Prior prior;
   uint64_t bytesMax = 0; ///< most bytes of all files together; 0: no limit

   // STATE
   Flow writes, reads;
   std::atomic<uint64_t> bytesAllocated{0}; ///< of all files
   std::atomic<uint64_t> bytesInUse{0};     ///< of pages, as a part of bytesAllocated
   std::atomic<uint64_t> rawBytesWritten{0}, bytesWritten{0}, rawBytesRead{0}, bytesRead{0};
   std::atomic<uint64_t> writeRequests{0}, readRequests{0}, failures{0}, readRounds{0};
   std::atomic<uint64_t> writeWaitNanos{0}, readWaitNanos{0}; ///< of all threads

private:
   void avoid(int64_t nanos);
   void forgive();

   std::atomic<double> round_{0};
   std::atomic<bool> isDoubtful_{false};
   std::atomic<uint32_t> failuresInRow_{0};
   std::atomic<int64_t> avoidedUntil_{0}; ///< steadyNanos()
};

} // namespace ouzel::io
