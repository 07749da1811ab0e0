#pragma once
#include <cstdint>

#include "executor/materialize/live_column.hpp"
#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// Hash one key column of live rows [0, count). With `combine` the column's hash is mixed into hashes[i], else it is
/// stored there. Values equal under SQL's = hash equal; NULL hashes as hashOfNull.
void hashColumn(const LiveColumn& column, uint32_t count, bool combine, uint64_t* hashes);

/// Hash all key columns; without key columns every hash is 0. `zeroHashes` is the test setting that makes all keys
/// collide.
void hashKeys(const LiveColumn* columns, uint32_t columnCount, uint32_t count, bool zeroHashes, uint64_t* hashes);

/// Hash columns 0..columnCount-1 (at least one) of `count` stored rows that lie one behind the other, as hashKeys().
void hashRows(const RowLayout& layout, uint32_t columnCount, const std::byte* rows, uint32_t count, uint64_t* hashes);

} // namespace ouzel::executor
