#pragma once
#include <set>
#include <string>
#include <utility>

#include "common/sync/mutex.hpp"

namespace ouzel::storage {

/// Names of objects that no table in memory needs any more, but that the newest manifest or the log may still name: a
/// start from these needs the objects. A checkpoint takes the names, and removes the objects when its manifest does not
/// name them. Thread-safe.
class Garbage {
public:
   void add(std::string name) {
      const MutexLock lock(mutex_);
      names_.insert(std::move(name));
   }
   void add(const std::set<std::string>& names) {
      const MutexLock lock(mutex_);
      names_.insert(names.begin(), names.end());
   }
   std::set<std::string> take() {
      const MutexLock lock(mutex_);
      return std::exchange(names_, {});
   }
   size_t count() const {
      const MutexLock lock(mutex_);
      return names_.size();
   }

private:
   mutable Mutex mutex_;
   std::set<std::string> names_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
