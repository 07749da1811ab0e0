#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/sync/mutex.hpp"

namespace ouzel::server {

/// Who has failed to log in lately, by address and role, and how long the next answer to a wrong password is kept back:
/// the first one for `baseMillis`, each further one twice as long as the one before, up to 32 times of it. Bounded:
/// when it is full, the entry whose last failure is the oldest goes. Thread-safe.
class FailedLogins {
public:
   /// 0: answers are never kept back.
   explicit FailedLogins(uint32_t baseMillis) : baseMillis_(baseMillis) {}

   /// Note a failure at `now` (steadyNanos()). Returns for how many nanoseconds its answer is to be kept back.
   int64_t failed(const std::string& address, const std::string& role, int64_t now) EXCLUDES(mutex_);
   void succeeded(const std::string& address, const std::string& role) EXCLUDES(mutex_);
   size_t entries() const EXCLUDES(mutex_);

   static constexpr size_t entriesMax = 4096;
   static constexpr int64_t forgottenAfterNanos = 60'000'000'000;

private:
   struct Entry {
      uint32_t failures = 0;
      int64_t last = 0;
   };
   void makeRoom(int64_t now) REQUIRES(mutex_);

   const uint32_t baseMillis_;
   mutable Mutex mutex_;
   std::unordered_map<std::string, Entry> entries_ GUARDED_BY(mutex_); // by address and role
};

} // namespace ouzel::server
