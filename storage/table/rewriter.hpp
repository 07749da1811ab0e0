#pragma once
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Write the rows of `segments` that live at `timestamp` as new blocks, in row order and durable, of segments that no
/// table lists yet and nobody sees any row of. Whoever does not use the blocks discards them; where this throws, it has
/// done so itself. `columns`: those of the new segments. REQUIRES: the segments get no more rows.
SegmentList rewriteLiveRows(StorageContext& context, StorageId table,
                            std::shared_ptr<const std::vector<ColumnDefinition>> columns, const SegmentList& segments,
                            Timestamp timestamp);

} // namespace ouzel::storage
