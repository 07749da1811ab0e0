#pragma once
#include <cstdint>
#include <functional>

#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Why a checkpoint runs.
enum class CheckpointKind : uint8_t {
   Background, ///< on request, or because the log has grown
   Commit,     ///< commits wait for it: does only what they need, with all threads
   Clean,      ///< at close(); no transaction is open
};

/// Run body(0) ... body(count - 1) in parallel. Background: on half as many threads as there are workers, at low
/// priority. Commit, with a store over a network: on up to 16 threads of their own, since they wait for requests.
/// Otherwise on the workers.
void forEachPiece(const StorageContext& context, uint64_t count, CheckpointKind kind,
                  const std::function<void(uint64_t)>& body);

} // namespace ouzel::storage
