#pragma once
#include <memory>
#include <vector>

#include "storage/table/filter_search.hpp"
#include "storage/table/read_ahead.hpp"
#include "storage/table/scan.hpp"
#include "storage/table/segment.hpp"

namespace ouzel::storage {

/// What a scan reads, fixed when it starts; shared by its source and its readers, and keeps segments alive. Immutable
/// once there is a reader.
struct ScanState {
   struct Source {
      SegmentPtr segment;
      uint32_t rows; ///< that exist for the snapshot
   };
   Snapshot snapshot;
   ScanSpec spec;
   std::shared_ptr<const std::vector<ColumnDefinition>> columns;
   std::vector<Source> sources;
   std::vector<Morsel> morsels;
   std::vector<uint32_t> candidates; ///< rows of segments, ascending within a morsel
   uint64_t rowCount = 0;
   // What these come to know is their own affair.
   std::unique_ptr<FilterSearch> filters; ///< null: no values are looked for
   std::unique_ptr<ReadAhead> readAhead;  ///< null: the store is not over a network
};

/// False when zone maps prove that no row of the row group can satisfy all predicates of the scan.
bool zonesMayMatch(const ScanState& state, const Segment& segment, uint32_t rowGroup);

} // namespace ouzel::storage
