#pragma once
#include <cstdint>
#include <unordered_map>

#include "common/sync/mutex.hpp"
#include "protocol/backend.hpp"

namespace ouzel::server {

/// Which sessions are open, for CancelRequest and shutdown. A Backend is registered from when it was opened until just
/// before it is destroyed; it is only touched under the lock, so it cannot go away meanwhile. Thread-safe.
class SessionRegistry {
public:
   explicit SessionRegistry(uint32_t sessionsMax) : sessionsMax_(sessionsMax) {}

   /// Take one of the places. Throws 53300 when all are taken, 57P03 after cancelAll().
   void reserve();
   /// Give back a place that was reserved and not used.
   void unreserve();
   void add(const protocol::BackendKey& key, protocol::Backend& backend);
   void remove(int32_t processId);

   /// True when the key was that of an open session.
   bool cancel(const protocol::BackendKey& key);
   void cancel(int32_t processId, protocol::CancelReason reason);
   /// Shutdown: cancel all, and refuse whoever comes later.
   void cancelAll();
   uint32_t sessions() const;

private:
   struct Entry {
      int32_t secret;
      protocol::Backend* backend;
   };
   const uint32_t sessionsMax_;
   mutable Mutex mutex_;
   std::unordered_map<int32_t, Entry> entries_ GUARDED_BY(mutex_);
   uint32_t places_ GUARDED_BY(mutex_) = 0;
   bool isShuttingDown_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::server
