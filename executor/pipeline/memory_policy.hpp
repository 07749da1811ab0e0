#pragma once
#include <cstdint>

#include "common/memory/eviction.hpp"

namespace ouzel::executor {

/// When operators that hash begin to store their rows by partition of the hash.
enum class Partitioning : uint8_t {
   Adaptive, ///< when the next page would be as large as a small page for each partition
   Never,    ///< when rows have to be spilled
   Always,   ///< from the first row
};

/// How a query's operators use the memory they are granted. Tests and measurements change the policy; production keeps
/// the defaults.
struct MemoryPolicy {
   bool spillsAlways = false;     ///< ouzel.spill_all: no grant grows beyond 16 KiB
   bool spillsEverything = false; ///< ouzel.spill_choice: an operator that spills spills all partitions
   Partitioning partitioning = Partitioning::Adaptive; ///< ouzel.partition
   Eviction eviction = Eviction::Priced;               ///< ouzel.evict
   /// Instead of what the transfer policy finds best; 0: as it finds.
   uint32_t fanIn = 0;   ///< ouzel.policy_fan_in: runs that a sort merges at once
   double leftShare = 0; ///< ouzel.policy_left_share: part of a nested loop's memory that holds its left side
};

} // namespace ouzel::executor
