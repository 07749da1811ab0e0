#include "server/session_registry.hpp"

#include "common/error/check.hpp"

namespace ouzel::server {

SessionRegistry::SessionRegistry(uint32_t sessionsMax, uint32_t reserved)
   : sessionsMax_(sessionsMax), reserved_(reserved) {
   DCHECK(reserved_ < sessionsMax_);
}

void SessionRegistry::reserve(bool isSuperuser) {
   MutexLock lock(mutex_);
   if (isShuttingDown_) throw SqlError(sqlstate::cannotConnectNow, "the database system is shutting down");
   if (places_ >= sessionsMax_) throw SqlError(sqlstate::tooManyConnections, "sorry, too many clients already");
   if (!isSuperuser && places_ >= sessionsMax_ - reserved_)
      throw SqlError(sqlstate::tooManyConnections,
                     "remaining connection slots are reserved for non-replication superuser connections");
   ++places_;
}

void SessionRegistry::unreserve() {
   MutexLock lock(mutex_);
   DCHECK(places_ > entries_.size()); // one place has no session
   --places_;
}

void SessionRegistry::add(const protocol::BackendKey& key, Backend& backend) {
   MutexLock lock(mutex_);
   DCHECK(!entries_.contains(key.processId));
   entries_[key.processId] = {key.secret, &backend};
   DCHECK(entries_.size() <= places_); // reserve() was called before
   if (isShuttingDown_) backend.cancel(CancelReason::Shutdown);
}

void SessionRegistry::remove(int32_t processId) {
   MutexLock lock(mutex_);
   if (entries_.erase(processId) != 0) --places_;
}

bool SessionRegistry::cancel(const protocol::BackendKey& key) {
   MutexLock lock(mutex_);
   const auto found = entries_.find(key.processId);
   if (found == entries_.end() || found->second.secret != key.secret) return false;
   found->second.backend->cancel(CancelReason::Request);
   return true;
}

bool SessionRegistry::cancel(int32_t processId, CancelReason reason) {
   MutexLock lock(mutex_);
   const auto found = entries_.find(processId);
   if (found == entries_.end()) return false;
   found->second.backend->cancel(reason);
   return true;
}

bool SessionRegistry::contains(int32_t processId) const {
   MutexLock lock(mutex_);
   return entries_.contains(processId);
}

void SessionRegistry::cancelAll() {
   MutexLock lock(mutex_);
   isShuttingDown_ = true;
   for (const auto& [processId, entry] : entries_)
      entry.backend->cancel(CancelReason::Shutdown);
}

uint32_t SessionRegistry::sessions() const {
   MutexLock lock(mutex_);
   return static_cast<uint32_t>(entries_.size());
}

} // namespace ouzel::server
