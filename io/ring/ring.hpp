#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ouzel::io {

/// What to do with a buffer and a place in a file. The buffer belongs to the operation until its completion was seen.
struct RingRequest {
   enum class Kind : uint8_t { Read, Write, Sync /* fdatasync; buffer and offset unused */ };
   Kind kind = Kind::Read;
   int descriptor = -1;
   void* buffer = nullptr;
   uint32_t size = 0;
   uint64_t offset = 0;
   uint64_t userData = 0; ///< comes back with the completion
};

struct RingCompletion {
   uint64_t userData = 0;
   /// Bytes done, perhaps fewer than asked for, or a negative errno.
   int32_t result = 0;
};

/// Batched asynchronous file I/O of one thread: io_uring, or, where the kernel or the container forbids it, calls that
/// are made when they are submitted. Not thread-safe: one ring per thread.
class Ring {
public:
   enum class Backend : uint8_t { Automatic, Synchronous };
   /// At most `depth` requests are in flight.
   explicit Ring(uint32_t depth, Backend backend = Backend::Automatic);
   /// Waits for what is in flight.
   ~Ring();
   Ring(const Ring&) = delete;
   Ring& operator=(const Ring&) = delete;

   bool isAsynchronous() const;
   uint32_t inFlight() const; ///< queued or submitted, completion not yet seen
   bool hasRoom() const;
   /// Queue a request. REQUIRES: hasRoom().
   void prepare(const RingRequest& request);
   /// Hand all queued requests to the kernel.
   void submit();
   /// Fetch completions: waits until at least `atLeast` have come (submitting first), writes up to completions.size()
   /// of them and returns how many.
   size_t reap(std::span<RingCompletion> completions, uint32_t atLeast = 0);

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
