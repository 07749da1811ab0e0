#pragma once
#include <cstdint>

namespace ouzel::executor {

/// When operators that hash begin to store their rows by partition of the hash.
enum class Partitioning : uint8_t {
   Adaptive, ///< once it costs nothing any more
   Never,    ///< only when rows have to be spilled
   Always,   ///< from the first row
};

/// How a query's operators use the memory they are granted. Tests and measurements set it; production leaves the
/// defaults.
struct MemoryPolicy {
   bool spillsAlways = false;     ///< ouzel.spill_all: nobody may grow beyond a few pages
   bool spillsEverything = false; ///< ouzel.spill_choice: who has to spill spills all of its partitions
   Partitioning partitioning = Partitioning::Adaptive; ///< ouzel.partition
};

} // namespace ouzel::executor
