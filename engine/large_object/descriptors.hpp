#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/sql_type.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::engine {

/// A large object that a transaction has open.
struct LargeObjectDescriptor {
   Oid object = invalidOid;
   bool writes = false;        ///< it reads, too, and sees the newest state
   storage::Snapshot snapshot; ///< of a descriptor that only reads: what it sees
   int64_t position = 0;
   size_t level = 0; ///< savepoints that were open when it was opened
};

/// The descriptors of one transaction. As in PostgreSQL a new one gets the lowest free number.
class LargeObjectDescriptors {
public:
   int32_t open(LargeObjectDescriptor opened) {
      const auto free = std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) { return !slot; });
      const auto number = static_cast<int32_t>(free - slots_.begin());
      if (free == slots_.end())
         slots_.emplace_back(opened);
      else
         free->emplace(opened);
      return number;
   }
   LargeObjectDescriptor& require(int32_t number) {
      if (number < 0 || static_cast<size_t>(number) >= slots_.size() || !slots_[static_cast<size_t>(number)])
         throw SqlError(sqlstate::undefinedObject, "invalid large-object descriptor: " + std::to_string(number));
      return *slots_[static_cast<size_t>(number)];
   }
   void close(int32_t number) {
      require(number);
      slots_[static_cast<size_t>(number)].reset();
   }
   void closeAllOf(Oid object) {
      closeIf([&](const LargeObjectDescriptor& one) { return one.object == object; });
   }
   void clear() { slots_.clear(); }

   /// Savepoint number `level`, counted from 0, is rolled back to: what was opened since is closed.
   void rollbackTo(size_t level) {
      closeIf([&](const LargeObjectDescriptor& one) { return one.level > level; });
   }
   /// The savepoint is released: what was opened since belongs to what was before.
   void release(size_t level) {
      for (auto& slot : slots_)
         if (slot) slot->level = std::min(slot->level, level);
   }

private:
   template <typename Predicate>
   void closeIf(Predicate&& isClosed) {
      for (auto& slot : slots_)
         if (slot && isClosed(*slot)) slot.reset();
   }

   std::vector<std::optional<LargeObjectDescriptor>> slots_;
};

} // namespace ouzel::engine
