#pragma once
#include <vector>

#include "catalog/object/snapshot.hpp"
#include "sql/algebra/operators.hpp"

// The keys that decide how rows are locked: those that foreign keys may reference. An UPDATE that keeps them takes
// LockStrength::NoKeyUpdate, which goes with LockStrength::KeyShare.

namespace ouzel::sql {

/// For each part of the table, or for the table alone: attributes of it that are a key; empty: it has none. Keys
/// without NULLs come first.
std::vector<std::vector<int16_t>> rowKeys(const catalog::Snapshot& snapshot, const TableRef& table);

/// Sets Dml::mayKeepKeys and Dml::storedKeys. `stored`: the columns of the row as it is stored. REQUIRES: the statement
/// is complete but for RETURNING.
void setKeptKeys(const catalog::Snapshot& snapshot, const std::vector<GetColumn>& stored, Dml& dml);

} // namespace ouzel::sql
