#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/env/clock.hpp"
#include "common/sync/mutex.hpp"
#include "engine/setting/settings.hpp"

namespace ouzel::engine {

/// The configuration's values of settings, with which sessions begin. A reload replaces them; sessions notice by the
/// version. Thread-safe.
class SettingDefaults {
public:
   void set(SettingList list) {
      const MutexLock lock(mutex_);
      list_ = std::make_shared<const SettingList>(std::move(list));
      version_.fetch_add(1, std::memory_order_release);
      loadedAt_ = wallClockMicros();
   }
   /// When the configuration was read last: microseconds since 2000-01-01 UTC.
   int64_t loadedAt() const { return loadedAt_; }
   std::shared_ptr<const SettingList> get() const {
      const MutexLock lock(mutex_);
      return list_;
   }
   uint64_t version() const { return version_.load(std::memory_order_acquire); }

private:
   mutable Mutex mutex_;
   std::shared_ptr<const SettingList> list_ GUARDED_BY(mutex_) = std::make_shared<const SettingList>();
   std::atomic<uint64_t> version_{0};
   std::atomic<int64_t> loadedAt_{wallClockMicros()};
};

} // namespace ouzel::engine
