#pragma once
#include <map>
#include <span>
#include <vector>

#include "sql/algebra/table_parts.hpp"

// Which partitions a scan need not read: at plan time by its predicates, at its start by values that were not known
// then, and by the bounds of joined keys.

namespace ouzel::sql {

/// Conditions that hold for all rows to read, by attribute of the whole table.
using PartConditions = std::map<int16_t, catalog::PartitionCondition>;

/// Whether the attribute is in a partition key of the table or of a partition that is partitioned itself.
bool isPartitionKey(const TableParts& parts, int16_t attribute);
/// Leaves in `table.keptParts` only partitions that may have rows that satisfy the conditions.
void pruneParts(TableRef& table, const PartConditions& conditions);
/// The same for rows for which all of the predicates are true. `columns`: those that the predicates read.
void pruneParts(TableRef& table, std::span<const GetColumn> columns, std::span<const ExprPtr> predicates);

} // namespace ouzel::sql
