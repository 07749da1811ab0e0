#pragma once
#include <span>
#include <string>

#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"
#include "storage/base/byte_codec.hpp"

// Rows as bytes, column by column: for log records and stored samples. Not compressed, not aligned.

namespace ouzel::storage {

/// Write the live rows of `batch`.
void encodeBatch(const Batch& batch, std::string& out);

/// Read one batch; its vectors and strings are allocated in `arena`. Throws XX001.
Batch decodeBatch(ByteReader& in, Arena& arena);

} // namespace ouzel::storage
