#pragma once
#include <memory>
#include <span>
#include <string>

#include "common/thread/repeating_task.hpp"
#include "io/spill/area_device.hpp"
#include "io/spill/memory_address.hpp"
#include "io/spill/resp_connection.hpp"

namespace ouzel::io {

/// Spills to the memory of another machine, a Valkey or Redis server. A written staging area is one key. Keys expire.
/// The process renews them while it lives, so those of a process that was killed go by themselves.
class MemoryDevice final : public AreaDevice {
public:
   /// Does not connect.
   explicit MemoryDevice(MemoryAddress address);
   /// Waits for removals, a short time if the server is gone.
   ~MemoryDevice() override;

   std::unique_ptr<SpillChannel> makeChannel(uint32_t depth) override;

   const MemoryAddress& address() const { return address_; }
   const std::string& ttlMillis() const { return ttlMillis_; }
   /// Connects. Null: the server cannot be reached, which failed() has been told; `error` is the errno.
   std::unique_ptr<RespConnection> open(int& error);
   /// Writes and removes a small key. False: the server does not take it, which failed() has been told.
   bool probe(int& error);
   /// The errno of an error reply.
   static int errorOf(const std::string& reply);

protected:
   bool removeNow(std::span<const std::string> names) override;

private:
   /// False: the server is gone.
   bool tryRemove(std::span<const std::string> names);
   void renewKeys();

   // PROPERTIES
   const MemoryAddress address_;
   const std::string ttlMillis_;
   const std::unique_ptr<TlsClientContext> tls_; ///< null: without TLS

   // STATE
   std::unique_ptr<RespConnection> removing_; ///< used by removeNow()
   std::atomic<uint64_t> probes_{0};
   RepeatingTask renewal_;
};

} // namespace ouzel::io
