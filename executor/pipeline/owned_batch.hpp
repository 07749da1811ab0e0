#pragma once
#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"

namespace ouzel::executor {

/// A batch that owns its rows: flat vectors, strings in its own arena. Charged to the query's reservation.
struct OwnedBatch {
   Batch batch;
   Arena arena;
};

} // namespace ouzel::executor
