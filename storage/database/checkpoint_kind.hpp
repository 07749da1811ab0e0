#pragma once
#include <cstdint>
#include <functional>

#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Why there is a checkpoint.
enum class CheckpointKind : uint8_t {
   Background, ///< somebody asked, or the log has grown
   Commit,     ///< commits wait for it: no more than they need, at once
   Clean,      ///< the last one; nobody works beside it
};

/// Run body(0) ... body(count - 1) in parallel. Background: in half as many threads as there are workers, which wait
/// for others. Commit: what waits for a network waits at the same time.
void forEachPiece(const StorageContext& context, uint64_t count, CheckpointKind kind,
                  const std::function<void(uint64_t)>& body);

} // namespace ouzel::storage
