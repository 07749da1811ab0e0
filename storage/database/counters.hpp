#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"

namespace ouzel::storage {

/// The state of each sequence. Transactions do not roll these numbers back: Committer::setCounter() logs a number and
/// then sets it here. Thread-safe.
class Counters {
public:
   using Numbers = std::map<Oid, Counter>;

   void set(Oid id, Counter counter) {
      const MutexLock lock(numbersMutex_);
      numbers_[id] = counter;
   }
   std::optional<Counter> find(Oid id) const {
      const MutexLock lock(numbersMutex_);
      const auto it = numbers_.find(id);
      return it == numbers_.end() ? std::nullopt : std::optional(it->second);
   }
   std::vector<Oid> ids() const {
      const MutexLock lock(numbersMutex_);
      std::vector<Oid> ids;
      for (const auto& [id, counter] : numbers_)
         ids.push_back(id);
      return ids;
   }
   void forget(Oid id) {
      const MutexLock lock(numbersMutex_);
      numbers_.erase(id);
   }
   Numbers all() const {
      const MutexLock lock(numbersMutex_);
      return numbers_;
   }
   void replaceAll(Numbers numbers) {
      const MutexLock lock(numbersMutex_);
      numbers_ = std::move(numbers);
   }

private:
   mutable Mutex numbersMutex_; ///< guards the members below
   Numbers numbers_ GUARDED_BY(numbersMutex_);
};

} // namespace ouzel::storage
