#pragma once
#include <cstddef>
#include <cstdint>

namespace ouzel {

/// What leaves memory first when an operator wants more than there is: pages of tables, which can be fetched again, or
/// the operator's own rows, which have to be written and read back. The fixed orders are those that Kuiper, Boncz and
/// Mühleisen compare ("Robust External Hash Aggregation in the Solid State Age"); none of them is always best.
enum class Eviction : uint8_t {
   Priced,         ///< what costs less time
   TableFirst,     ///< pages of tables, until none is left
   TemporaryFirst, ///< rows of operators, until pages of tables have half of the memory
   Mixed,          ///< pages of tables until they have a quarter of the memory
};

/// A cache that gives memory to operators. Thread-safe.
class EvictableMemory {
public:
   virtual ~EvictableMemory() = default;
   struct Bytes {
      size_t evictable = 0; ///< nobody uses them now
      size_t kept = 0;      ///< of these, what the cache would keep from an operator that can spill; others get all
   };
   virtual Bytes bytes(Eviction eviction) const = 0;
   /// Turns tell the cache which pages are used again and again. A query with much memory remembers the turn in which
   /// it began, and ends that turn when it ends.
   virtual uint32_t turn() const = 0;
   virtual void endTurn(uint32_t begun) = 0;
};

} // namespace ouzel
