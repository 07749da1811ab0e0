#include "server/failed_logins.hpp"

#include <algorithm>

namespace ouzel::server {

namespace {

constexpr uint32_t doublingsMax = 5;

std::string keyOf(const std::string& address, const std::string& role) {
   return address + '\0' + role; // neither has a null byte
}

} // namespace

void FailedLogins::makeRoom(int64_t now) {
   if (entries_.size() < entriesMax) return;
   std::erase_if(entries_, [&](const auto& entry) { return now - entry.second.last > forgottenAfterNanos; });
   if (entries_.size() < entriesMax) return;
   entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                   [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

int64_t FailedLogins::failed(const std::string& address, const std::string& role, int64_t now) {
   if (baseMillis_ == 0) return 0;
   std::string key = keyOf(address, role);
   const MutexLock lock(mutex_);
   if (!entries_.contains(key)) makeRoom(now);
   Entry& entry = entries_[std::move(key)];
   if (now - entry.last > forgottenAfterNanos) entry.failures = 0;
   entry.last = now;
   const uint32_t doublings = std::min(entry.failures, doublingsMax);
   ++entry.failures;
   return (int64_t{baseMillis_} << doublings) * 1'000'000;
}

void FailedLogins::succeeded(const std::string& address, const std::string& role) {
   const MutexLock lock(mutex_);
   entries_.erase(keyOf(address, role));
}

size_t FailedLogins::entries() const {
   const MutexLock lock(mutex_);
   return entries_.size();
}

} // namespace ouzel::server
