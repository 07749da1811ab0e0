#pragma once
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace ouzel::storage {

/// Names of objects that no table in memory needs any more, but that the newest manifest or the log may still name: a
/// start replays both from there. The checkpoint that leaves them behind removes them. Thread-safe.
class Garbage {
public:
   void add(std::string name) {
      const std::lock_guard lock(mutex_);
      names_.insert(std::move(name));
   }
   void add(const std::set<std::string>& names) {
      const std::lock_guard lock(mutex_);
      names_.insert(names.begin(), names.end());
   }
   std::set<std::string> take() {
      const std::lock_guard lock(mutex_);
      return std::exchange(names_, {});
   }
   size_t count() const {
      const std::lock_guard lock(mutex_);
      return names_.size();
   }

private:
   mutable std::mutex mutex_;
   std::set<std::string> names_;
};

} // namespace ouzel::storage
