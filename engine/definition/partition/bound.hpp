#pragma once
#include "engine/query/command_context.hpp"
#include "sql/parse/node_access.hpp"

struct PartitionBoundSpec;
struct PartitionSpec;

namespace ouzel::engine {

/// PARTITION BY of a table with these columns. Throws 42703, 42P17, 42704.
catalog::PartitionKey partitionKeyOf(CommandContext& context, const ::PartitionSpec& spec,
                                     const catalog::Relation& table);
/// FOR VALUES of a partition of `parent`, whose constants are evaluated. Throws 42P16, 42P17, 42804.
catalog::PartitionBound partitionBoundOf(CommandContext& context, const ::PartitionBoundSpec& spec,
                                         const catalog::Relation& parent);
/// Throws 42P17 if a new partition's bound is empty or overlaps those of others, or its modulus does not fit to theirs.
void requireFreeBound(CommandContext& context, const ::PartitionBoundSpec& spec, const catalog::Relation& parent,
                      const catalog::PartitionBound& bound, const std::string& name);
/// Throws 23514 if a default partition of `parent` has rows that the new bound takes.
void requireDefaultWithout(SessionCore& core, const catalog::Relation& parent, const catalog::PartitionBound& bound);

} // namespace ouzel::engine
