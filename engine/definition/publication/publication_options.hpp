#pragma once
#include "catalog/object/publication.hpp"
#include "engine/query/command_context.hpp"

struct List;

// WITH (...) and SET (...) of publications.

namespace ouzel::engine {

/// Gives the publication the options of a list. Throws 42601.
void applyPublicationOptions(CommandContext& context, const ::List* options, catalog::Publication& publication);
/// Throws 22023 if the publication has a filter or a column list of a partitioned table: they need
/// publish_via_partition_root.
void requireNoPartitionedParts(SessionCore& core, const catalog::Publication& publication);

} // namespace ouzel::engine
