#include "common/value/range_types.hpp"

#include <array>
#include <atomic>

namespace ouzel {

namespace {

/// A list per hash of the OID. Lists only grow at their fronts, and entries stay as they are, so that nobody needs a
/// lock.
class Remembered {
public:
   const RangeType* find(Oid type, Oid RangeType::*member) const {
      const Entry* entry = heads_[type % heads_.size()].load(std::memory_order_acquire);
      while (entry && entry->type.*member != type)
         entry = entry->next;
      return entry ? &entry->type : nullptr;
   }
   void add(const RangeType& type, Oid RangeType::*member) {
      const RangeType* known = find(type.*member, member);
      if (known && known->subtype == type.subtype && known->domain == type.domain) return;
      std::atomic<const Entry*>& head = heads_[type.*member % heads_.size()];
      auto* entry = new Entry{type, head.load(std::memory_order_relaxed)}; // never freed
      const Entry* front = entry->next;
      while (!head.compare_exchange_weak(front, entry, std::memory_order_release, std::memory_order_relaxed))
         entry->next = front;
   }

private:
   struct Entry {
      RangeType type;
      const Entry* next;
   };
   std::array<std::atomic<const Entry*>, 64> heads_{};
};

Remembered& ranges() {
   static Remembered all;
   return all;
}
Remembered& multiranges() {
   static Remembered all;
   return all;
}

} // namespace

void rememberRangeType(Oid range, Oid multirange, const SqlType& subtype) {
   const RangeType type{range, multirange, subtype.oid, false, nullptr, nullptr, subtype.domain};
   ranges().add(type, &RangeType::range);
   multiranges().add(type, &RangeType::multirange);
}

const RangeType* rememberedRangeType(Oid range) {
   return ranges().find(range, &RangeType::range);
}

const RangeType* rememberedMultirangeType(Oid multirange) {
   return multiranges().find(multirange, &RangeType::multirange);
}

} // namespace ouzel
