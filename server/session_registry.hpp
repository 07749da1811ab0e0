#pragma once
#include <cstdint>
#include <unordered_map>

#include "common/sync/mutex.hpp"
#include "protocol/doorkeeper.hpp"

namespace ouzel::server {

/// The open sessions, for CancelRequest, shutdown and max_connections. A Backend is registered from its opening until
/// just before its destruction, and it is called only under the mutex, so that it cannot be destroyed meanwhile.
/// Thread-safe.
class SessionRegistry {
public:
   /// The last `reserved` of the places are for superusers.
   SessionRegistry(uint32_t sessionsMax, uint32_t reserved);

   /// Reserve one of the `sessionsMax` places. Throws 53300 when all are taken, 57P03 after cancelAll().
   void reserve(bool isSuperuser);
   /// Release a reserved place for which add() was not called.
   void unreserve();
   void add(const protocol::BackendKey& key, Backend& backend);
   void remove(int32_t processId);

   /// Cancel the running statement of the session with this key. False: no session has it.
   bool cancel(const protocol::BackendKey& key);
   bool cancel(int32_t processId, CancelReason reason); ///< false: there is no such session
   bool contains(int32_t processId) const;
   /// Shutdown: cancel all sessions; reserve() throws from now on.
   void cancelAll();
   uint32_t sessions() const;

private:
   struct Entry {
      int32_t secret;
      Backend* backend;
   };
   const uint32_t sessionsMax_, reserved_;
   mutable Mutex mutex_;
   std::unordered_map<int32_t, Entry> entries_ GUARDED_BY(mutex_);
   uint32_t places_ GUARDED_BY(mutex_) = 0;
   bool isShuttingDown_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::server
