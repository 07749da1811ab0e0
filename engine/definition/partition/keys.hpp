#pragma once
#include <set>

#include "engine/query/command_context.hpp"

struct AlterTableCmd;

namespace ouzel::engine {

/// Throws 0A000 if a unique key of a partitioned table lacks a column of its partition key: no partition could tell
/// alone whether a row's key is new. `what`: "PRIMARY KEY" or "UNIQUE".
void requirePartitionColumns(const catalog::Relation& table, const std::vector<int16_t>& columns,
                             std::string_view what);
/// Gives a partition, and all below it, the indexes, keys and foreign keys of the table above that it has not. With
/// `matches`, those that it has of its own become parts of the parent's.
void spreadKeys(CommandContext& context, Oid parent, Oid partition, bool matches);
/// The same for all partitions of a table, but only with some of its keys: OIDs of indexes and foreign keys. Others may
/// have no parts yet, because they were made with ONLY and wait for ALTER INDEX ... ATTACH PARTITION.
void spreadKeys(CommandContext& context, Oid parent, const std::set<Oid>& keys);

/// ALTER INDEX ... ATTACH PARTITION: makes an index of a partition a part of the partitioned table's index.
void attachIndex(CommandContext& context, const catalog::Relation& index, const ::AlterTableCmd& command);

} // namespace ouzel::engine
