#pragma once
#include <cstdint>

namespace ouzel::storage {

/// What the log has done since the server has started.
struct LogUse {
   uint64_t frames = 0, bytes = 0; ///< appended
   uint64_t writes = 0, syncs = 0;
   int64_t writeNanos = 0, syncNanos = 0;
};

/// The checkpoints since the server has started.
struct CheckpointUse {
   uint64_t scheduled = 0; ///< because the log or memory had grown, or commits waited
   uint64_t requested = 0; ///< by CHECKPOINT
   int64_t nanos = 0;      ///< of those that ended well
};

} // namespace ouzel::storage
