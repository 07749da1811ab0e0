#pragma once
#include <deque>
#include <memory>

#include "io/spill/memory_device.hpp"

namespace ouzel::io {

/// Requests to a memory server over one connection, all of them pipelined: a round trip carries as many as are in
/// flight. Replies come in the order of the requests. Connects at first use, and again when the connection is lost:
/// then the requests in flight fail.
class MemoryChannel final : public SpillChannel {
public:
   MemoryChannel(MemoryDevice& device, uint32_t depth) : device_(device), depth_(depth) {}

   uint32_t inFlight() const override { return static_cast<uint32_t>(requests_.size()); }
   bool hasRoom() const override { return requests_.size() < depth_; }
   void connect() override;
   void write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) override;
   void read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) override;
   void submit() override;
   size_t reap(std::span<RingCompletion> completions, bool mustWait) override;
   void abandon() override;
   Wait wait() const override;

private:
   struct Request {
      uint64_t userData = 0;
      uint32_t replies = 0; ///< that have not come
      size_t size = 0;
      std::deque<size_t> parts{}; ///< Reads: sizes of the parts that have not come
      int64_t due = 0;            ///< steadyNanos() at which a simulated round ends; 0: none
      int error = 0;
   };
   /// False: the server cannot be reached, and `error` tells why.
   bool tryConnect(int& error);
   Request& queue(uint64_t userData, size_t size);
   void takeReplies();
   void takeReply(const RespConnection::Reply& reply);
   void failAll(int error, std::string_view reason);
   size_t complete(std::span<RingCompletion> completions);

   MemoryDevice& device_;
   const uint32_t depth_;
   std::unique_ptr<RespConnection> connection_;
   std::deque<Request> requests_; ///< completed ones are in front
};

} // namespace ouzel::io
