#pragma once
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Write the rows of `segments` that live at `timestamp` as new blocks, durable and in row order. The blocks belong to
/// new segments, which no table lists yet and whose rows no snapshot sees. The caller discards blocks that it does not
/// use; on an exception all new blocks are discarded. `columns`: those of the new segments. REQUIRES: `segments` get no
/// more rows.
SegmentList rewriteLiveRows(StorageContext& context, StorageId table,
                            std::shared_ptr<const std::vector<ColumnDefinition>> columns, const SegmentList& segments,
                            Timestamp timestamp);

} // namespace ouzel::storage
