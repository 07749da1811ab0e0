#pragma once
#include "engine/core/session_core.hpp"

// Exclusion constraints: no two rows for which all operators of an index's key columns are true. One whose operators
// are all equality is a unique key with other messages; see unique_keys.hpp.
//
// New rows are compared with the table by a join: rows with equal keys meet by hash, the other operators are applied to
// those. Where a statement has made very many rows, all rows are compared with each other: ranges that must not overlap
// in their order, each with the one before it. Two transactions may not add rows with the same equal keys at once, as
// for unique keys; without equal keys, only one transaction at a time adds rows.

namespace ouzel::engine {

/// Whether the index's operators are all equality.
bool excludesEqual(const catalog::Relation& index);
/// Throws 23P01 when a row inserted by commands from `sinceCommand` on conflicts with another.
void checkExclusion(SessionCore& core, const catalog::RelationPtr& table, const catalog::RelationPtr& index,
                    uint32_t sinceCommand);
/// Checks all rows of the table; `isNew`: for a constraint that is being made, which changes the message.
void checkExclusionOfTable(SessionCore& core, const catalog::RelationPtr& table, const catalog::RelationPtr& index,
                           bool isNew);

} // namespace ouzel::engine
