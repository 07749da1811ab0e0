#pragma once
#include "engine/query/command_context.hpp"

struct AlterTableCmd;
struct PartitionBoundSpec;
struct PartitionSpec;

namespace ouzel::engine {

/// Makes the draft of a table a partitioned one. Throws 0A000 if its keys lack columns of the partition key.
void makePartitioned(CommandContext& context, const ::PartitionSpec& spec, catalog::Relation& draft);
/// Makes the draft of a table a partition of `parent`. Throws 23514 if the default partition has rows for it.
void makePartition(CommandContext& context, const ::PartitionBoundSpec& spec, const catalog::Relation& parent,
                   catalog::Relation& draft);

// ALTER TABLE: ATTACH PARTITION, DETACH PARTITION, INHERIT, NO INHERIT.
void attachPartition(CommandContext& context, const catalog::Relation& parent, const ::AlterTableCmd& command);
void detachPartition(CommandContext& context, const catalog::Relation& parent, const ::AlterTableCmd& command);
void addParent(CommandContext& context, const catalog::Relation& heir, const ::AlterTableCmd& command);
void dropParent(CommandContext& context, const catalog::Relation& heir, const ::AlterTableCmd& command);

} // namespace ouzel::engine
