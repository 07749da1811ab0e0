#pragma once
#include "common/sync/mutex.hpp"
#include "engine/lock/lock_manager.hpp"

// The state of a lock, for lock_manager.cpp and lock_graph.cpp only.

namespace ouzel::engine {

constexpr uint16_t bitOf(LockMode mode) {
   return static_cast<uint16_t>(1u << static_cast<unsigned>(mode));
}

/// For each mode the set of conflicting modes, as in the PostgreSQL manual's table.
constexpr uint16_t conflictMasks[lockModes] = {
    0,
    /* AccessShare          */ 0b1'0000'0000,
    /* RowShare             */ 0b1'1000'0000,
    /* RowExclusive         */ 0b1'1110'0000,
    /* ShareUpdateExclusive */ 0b1'1111'0000,
    /* Share                */ 0b1'1101'1000,
    /* ShareRowExclusive    */ 0b1'1111'1000,
    /* Exclusive            */ 0b1'1111'1100,
    /* AccessExclusive      */ 0b1'1111'1110,
};
constexpr uint16_t conflictsOf(LockMode mode) {
   return conflictMasks[static_cast<size_t>(mode)];
}
constexpr bool masksAreSymmetric() {
   for (size_t a = 1; a < lockModes; ++a)
      for (size_t b = 1; b < lockModes; ++b)
         if ((conflictMasks[a] >> b & 1) != (conflictMasks[b] >> a & 1)) return false;
   return true;
}
static_assert(masksAreSymmetric());
static_assert(lockModes <= 16, "a set of modes is 16 bits");

inline uint16_t LockManager::Held::allModes() const {
   uint16_t all = modes;
   for (size_t mode = 1; mode < lockModes; ++mode)
      if (sessionCounts[mode] > 0) all = static_cast<uint16_t>(all | 1u << mode);
   return all;
}

/// Guarded by its partition's mutex.
struct LockManager::Lock {
   LockTag tag;
   uint32_t granted[lockModes] = {}; ///< holders by mode
   Held* holders = nullptr;
   std::vector<Waiter*> queue; ///< first come, first served

   bool isUnused() const { return !holders && queue.empty(); }
};

/// One waiting thread; lives on its stack. `lock`, `owner`, `mode` and `forSession` do not change; `mutex` guards the
/// flags.
struct LockManager::Waiter {
   Lock* lock;
   LockOwner* owner;
   LockMode mode;
   bool forSession;
   Mutex mutex;
   CondVar changed;
   bool isGranted GUARDED_BY(mutex) = false;
   bool isInterrupted GUARDED_BY(mutex) = false;
   bool hasGivenUp = false; ///< a deadlock ends with it, though it is in the queue still. Guarded by all partitions
};

struct LockManager::Partition {
   struct Hash {
      size_t operator()(const LockTag& tag) const {
         uint64_t h = (tag.object * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(tag.kind)) ^ tag.detail;
         h *= 0xbf58476d1ce4e5b9;
         return h ^ h >> 29;
      }
   };
   alignas(64) Mutex mutex;
   std::unordered_map<LockTag, Lock, Hash> locks GUARDED_BY(mutex); // addresses stay
};

} // namespace ouzel::engine
