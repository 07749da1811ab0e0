#pragma once
#include <memory>
#include <vector>

#include "storage/table/filter_search.hpp"
#include "storage/table/read_ahead.hpp"
#include "storage/table/scan.hpp"
#include "storage/table/segment.hpp"

namespace ouzel::storage {

/// The segments, morsels and conditions of a scan, fixed when it starts. Shared by its source and its readers; keeps
/// the segments alive. Immutable once there is a reader.
struct ScanState {
   struct Source {
      SegmentPtr segment;
      uint32_t rows; ///< rows that exist for the snapshot
   };
   Snapshot snapshot;
   ScanSpec spec;
   std::shared_ptr<const std::vector<ColumnDefinition>> columns;
   std::vector<Source> sources;
   std::vector<Morsel> morsels;
   std::vector<uint32_t> candidates; ///< row numbers in their segments, ascending within a morsel
   uint64_t rowCount = 0;
   // Thread-safe, with state of their own that changes:
   std::unique_ptr<FilterSearch> filters; ///< null: the scan has no value predicates, or reads no block
   std::unique_ptr<ReadAhead> readAhead;  ///< null: the store is not over a network
};

/// False when zone maps prove that no row of the row group can satisfy all predicates of the scan.
bool zonesMayMatch(const ScanState& state, const Segment& segment, uint32_t rowGroup);

/// Puts the morsels into the order of the spec. REQUIRES: there is one.
void orderMorsels(ScanState& state);

} // namespace ouzel::storage
