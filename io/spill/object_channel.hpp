#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/net/socket.hpp"
#include "io/object_store/object_store.hpp"
#include "io/spill/object_device.hpp"

namespace ouzel::io {

/// Puts and reads of objects. Threads of the device run puts, the store's run reads, and both report the end here.
class ObjectChannel final : public SpillChannel {
public:
   ObjectChannel(ObjectDevice& device, uint32_t depth);
   ~ObjectChannel() override;

   uint32_t inFlight() const override { return static_cast<uint32_t>(requests_.size()); }
   bool hasRoom() const override { return requests_.size() < depth_; }
   void write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) override;
   void read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) override;
   void submit() override {}
   size_t reap(std::span<RingCompletion> completions, bool mustWait) override;
   void abandon() override;
   Wait wait() const override;

private:
   struct Request {
      explicit Request(uint64_t itsUserData, size_t itsSize) : userData(itsUserData), size(itsSize) {}
      const uint64_t userData;
      const size_t size;
      /// Reads: what has to live until they are done.
      std::vector<std::unique_ptr<ObjectReader>> readers;
      std::vector<std::unique_ptr<PendingRead>> reads;
      uint32_t left = 0; ///< parts that are not done; guarded by the channel's mutex
      int error = 0;     ///< guarded by the channel's mutex
   };
   /// Reports the end of a part. Called by any thread.
   void finish(Request& request, const std::exception_ptr& error);

   ObjectDevice& device_;
   const uint32_t depth_;
   FileDescriptor ended_; ///< readable when a request has ended
   std::deque<std::unique_ptr<Request>> requests_;
   Mutex mutex_; // guards `left` and `error` of requests
   CondVar changed_;
};

} // namespace ouzel::io
