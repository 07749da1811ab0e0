#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ouzel::io {

/// One file operation. The buffer belongs to the operation until its completion was seen.
struct RingRequest {
   enum class Kind : uint8_t { Read, Write, Sync /* fdatasync; buffer and offset unused */ };
   Kind kind = Kind::Read;
   int descriptor = -1;
   void* buffer = nullptr;
   uint32_t size = 0;
   uint64_t offset = 0;
   uint64_t userData = 0; ///< copied to the completion
};

struct RingCompletion {
   uint64_t userData = 0;
   /// Bytes transferred, perhaps fewer than requested, or a negative errno.
   int32_t result = 0;
};

/// Batched asynchronous file I/O of one thread by io_uring. Where the kernel or the container forbids io_uring,
/// submit() makes plain system calls. Not thread-safe: each thread has its own ring.
class Ring {
public:
   enum class Backend : uint8_t { Automatic, Synchronous };
   /// `depth`: most requests in flight.
   explicit Ring(uint32_t depth, Backend backend = Backend::Automatic);
   /// Waits for the requests in flight.
   ~Ring();
   Ring(const Ring&) = delete;
   Ring& operator=(const Ring&) = delete;

   bool isAsynchronous() const;
   /// A descriptor that is readable while completions wait to be reaped; -1 without io_uring, where submit() completes
   /// requests.
   int handle() const;
   uint32_t inFlight() const; ///< queued or submitted, completion not yet seen
   bool hasRoom() const;
   /// Queues a request. REQUIRES: hasRoom().
   void prepare(const RingRequest& request);
   /// Hands all queued requests to the kernel.
   void submit();
   /// Submits queued requests, waits until at least `atLeast` completions have come, writes up to completions.size() of
   /// them and returns their number.
   size_t reap(std::span<RingCompletion> completions, uint32_t atLeast = 0);

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
