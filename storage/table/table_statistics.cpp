#include <algorithm>

#include "common/sync/mutex.hpp"
#include "storage/block/sample.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/table_core.hpp"

// Statistics come from block headers and deltas; no page is read. Those of the committed rows are kept until the list
// of segments or of columns changes, or the deltas grow by much; row counts and bounds are always current. The bounds
// must hold for all that the snapshot reads, since plans omit overflow checks where bounds allow it. So rows that only
// this snapshot sees are added for each call: those of its own transaction, and those of retired segments.

namespace ouzel::storage {

namespace {

constexpr uint32_t tableSampleRows = batchRowsMax;
/// Sketches and sample are kept while deltas have grown by less than this part of the table.
constexpr uint64_t growthDivisor = 20;

struct SegmentShare {
   SegmentPtr segment;
   uint32_t rows;
};

void addDeltaSample(const Delta& delta, uint32_t rows, uint64_t wanted, size_t columns,
                    std::vector<SampledRow>& sample) {
   for (uint64_t i = 0; i < wanted; ++i) {
      const auto row = static_cast<uint32_t>(i * rows / wanted);
      const uint32_t aligned = row / 64 * 64;
      SampledRow values;
      for (uint32_t column = 0; column < std::min(columns, delta.types().size()); ++column)
         values.push_back(valueOf(delta.slice(column, aligned, row - aligned + 1), row - aligned));
      sample.push_back(std::move(values));
   }
}

void addBlockSample(const BlockHeader& header, uint64_t wanted, size_t columns, std::vector<SampledRow>& sample) {
   if (!header.sample) return;
   const Batch& batch = header.sample->batch;
   const uint64_t take = std::min<uint64_t>(wanted, batch.rowCount);
   for (uint64_t i = 0; i < take; ++i) {
      const auto row = static_cast<uint32_t>(i * batch.rowCount / take);
      SampledRow values;
      for (size_t column = 0; column < std::min(columns, batch.columns.size()); ++column)
         values.push_back(Value::fromVector(batch.columns[column], row));
      sample.push_back(std::move(values));
   }
}

std::shared_ptr<const SampleRows> sampleOf(const std::vector<SegmentShare>& segments, uint64_t total,
                                           const std::vector<ColumnDefinition>& columns) {
   std::vector<SampledRow> rows;
   std::vector<PhysicalType> types;
   for (const ColumnDefinition& column : columns)
      types.push_back(column.representation.physical);
   for (const SegmentShare& share : segments) {
      uint64_t wanted = share.rows;
      if (total > tableSampleRows) wanted = std::max<uint64_t>(uint64_t{tableSampleRows} * share.rows / total, 1);
      if (share.segment->delta && share.rows > 0)
         wanted = std::min(wanted, sampleRowsFor(share.segment->delta->bytes() / share.rows));
      if (share.segment->delta)
         addDeltaSample(*share.segment->delta, share.rows, wanted, columns.size(), rows);
      else
         addBlockSample(share.segment->block->header(), wanted, columns.size(), rows);
   }
   for (SampledRow& row : rows)
      for (size_t column = row.size(); column < columns.size(); ++column)
         row.push_back(columns[column].missing);
   if (rows.size() > tableSampleRows) rows.resize(tableSampleRows);
   return makeSample(types, rows);
}

ColumnSketch missingSketch(const ColumnDefinition& column, uint64_t rows) {
   ColumnSketch sketch;
   if (column.missing.isNull) {
      sketch.nullCount = rows;
      return sketch;
   }
   sketch.valueCount = rows;
   sketch.zone.add(zoneKeyOf(column.missing));
   sketch.distinct.add(1);
   sketch.valueBytes = rows * std::max<uint64_t>(column.missing.bytes.size(), physicalSize(column.missing.type));
   return sketch;
}

void setBounds(ColumnStatistics& statistics, const ZoneRange& zone, PhysicalType type) {
   if (zone.isEmpty()) return;
   statistics.min = valueOfZoneKey(type, zone.lower);
   statistics.max = valueOfZoneKey(type, zone.upper);
}

ColumnStatistics columnStatistics(const ColumnSketch& sketch, PhysicalType type) {
   ColumnStatistics result;
   const auto values = static_cast<double>(sketch.valueCount), nulls = static_cast<double>(sketch.nullCount);
   if (values + nulls > 0) result.nullFraction = nulls / (values + nulls);
   result.distinct = std::min(sketch.distinct.estimate(), values);
   if (values > 0) result.averageWidth = static_cast<double>(sketch.valueBytes) / values;
   setBounds(result, sketch.zone, type);
   return result;
}

/// REQUIRES: TableCore::statisticsMutex.
const std::vector<ColumnSketch>& sketchesOf(const Segment& segment, uint32_t rows) {
   return segment.delta ? segment.delta->sketches(rows) : segment.block->header().sketches;
}

/// The zone of the n-th column in all these rows. REQUIRES: TableCore::statisticsMutex.
ZoneRange zoneOf(const std::vector<SegmentShare>& shares, const std::vector<ColumnDefinition>& columns, size_t n) {
   ZoneRange zone;
   for (const SegmentShare& share : shares) {
      const auto& own = sketchesOf(*share.segment, share.rows);
      zone.merge(n < own.size() ? own[n].zone : missingSketch(columns[n], share.rows).zone);
   }
   return zone;
}

uint64_t rowsOf(const std::vector<SegmentShare>& shares) {
   uint64_t rows = 0;
   for (const SegmentShare& share : shares)
      rows += share.rows;
   return rows;
}

/// What the statistics of one snapshot are made of.
struct Sources {
   std::shared_ptr<const SegmentList> list;
   std::shared_ptr<const std::vector<ColumnDefinition>> columns;
   std::vector<SegmentShare> committed; ///< all committed rows: bounds of these hold for every snapshot
   std::vector<SegmentShare> own;       ///< rows that not every snapshot sees: uncommitted and retired ones
};

Sources sourcesOf(TableCore& core, const Snapshot& snapshot) {
   Sources sources;
   const LocalWrites* writes = nullptr;
   {
      const MutexLock lock(core.mutex);
      sources.list = core.segments;
      sources.columns = core.columns;
      const auto found = core.local.find(snapshot.transactionId);
      if (found != core.local.end()) writes = found->second;
   }
   for (const SegmentPtr& segment : *sources.list) {
      if (segment->retiredAt != 0 && segment->retiredAt <= snapshot.commitTimestamp) continue;
      const uint32_t rows = segment->versions->committedRows();
      if (rows > 0) (segment->retiredAt == 0 ? sources.committed : sources.own).push_back({segment, rows});
   }
   if (writes)
      for (LocalWrites::Visible& visible : writes->visible(snapshot.commandId))
         sources.own.push_back({std::move(visible.segment), visible.rows});
   return sources;
}

/// Statistics of the committed rows: kept ones if they are still good, with current bounds.
std::shared_ptr<const TableStatistics> committedStatistics(const Table& table, TableCore& core, const Sources& sources,
                                                           uint64_t rows, uint64_t stored)
    REQUIRES(core.statisticsMutex) {
   const std::vector<ColumnDefinition>& columns = *sources.columns;
   const uint64_t total = rowsOf(sources.committed);
   uint64_t deltaRows = 0;
   for (const SegmentShare& share : sources.committed)
      if (share.segment->delta) deltaRows += share.rows;
   // The same columns, and not as many others: an ALTER TABLE may have been rolled back and another one run.
   const bool isUsable = core.statistics && core.statisticsSegments.lock() == sources.list &&
                         core.statisticsColumns == sources.columns &&
                         deltaRows - core.statisticsDeltaRows <= total / growthDivisor;
   if (isUsable) {
      const TableStatistics& newest = *core.statistics;
      if (core.boundsDeltaRows == deltaRows && newest.rowCount == rows && newest.rowsStored == stored)
         return core.statistics;
      auto copy = std::make_shared<TableStatistics>(newest);
      copy->rowCount = rows;
      copy->rowsStored = stored;
      for (size_t i = 0; i < columns.size() && core.boundsDeltaRows != deltaRows; ++i)
         setBounds(copy->columns[i], zoneOf(sources.committed, columns, i), columns[i].representation.physical);
      core.boundsDeltaRows = deltaRows;
      core.statistics = copy;
      return copy;
   }
   auto result = std::make_shared<TableStatistics>();
   result->rowCount = rows;
   result->rowsStored = stored;
   result->storedBytes = table.storedBytes();
   std::vector<ColumnSketch> sketches(columns.size());
   for (const SegmentShare& share : sources.committed) {
      const auto& own = sketchesOf(*share.segment, share.rows);
      for (size_t i = 0; i < sketches.size(); ++i)
         sketches[i].merge(i < own.size() ? own[i] : missingSketch(columns[i], share.rows));
   }
   for (size_t i = 0; i < sketches.size(); ++i)
      result->columns.push_back(columnStatistics(sketches[i], columns[i].representation.physical));
   result->sample = sampleOf(sources.committed, total, columns);
   core.statistics = result;
   core.statisticsSegments = sources.list;
   core.statisticsColumns = sources.columns;
   core.statisticsDeltaRows = core.boundsDeltaRows = deltaRows;
   return result;
}

} // namespace

std::shared_ptr<const TableStatistics> Table::statistics(const Snapshot& snapshot) {
   const uint64_t rows = estimatedRows(snapshot);
   TableCore& core = *core_;
   const Sources sources = sourcesOf(core, snapshot);
   const uint64_t stored = std::max(rowsOf(sources.committed) + rowsOf(sources.own), rows);
   const MutexLock lock(core.statisticsMutex);
   auto committed = committedStatistics(*this, core, sources, rows, stored);
   if (sources.own.empty()) return committed;
   std::vector<SegmentShare> all = sources.committed;
   all.insert(all.end(), sources.own.begin(), sources.own.end());
   auto result = std::make_shared<TableStatistics>(*committed);
   for (size_t i = 0; i < result->columns.size(); ++i)
      setBounds(result->columns[i], zoneOf(all, *sources.columns, i), (*sources.columns)[i].representation.physical);
   return result;
}

namespace {

/// Calls `visit` with what each segment's documents have; null where nothing is known. REQUIRES: statisticsMutex is
/// held.
template <typename Visit>
void forEachSummary(const Sources& sources, uint32_t column, Visit visit) {
   const auto visitShare = [&](const SegmentShare& share) {
      if (column >= share.segment->columnCount()) {
         DocumentSummary missing;
         const Value& value = (*sources.columns)[column].missing;
         if (!value.isNull && share.rows > 0) {
            missing.add(json::JsonbView(value.bytes));
            missing.multiply(share.rows);
         }
         visit(&missing);
      } else if (share.segment->delta) {
         visit(share.segment->delta->documentsOf(column, share.rows));
      } else {
         visit(share.segment->block->header().documentsOf(column));
      }
   };
   for (const SegmentShare& share : sources.committed)
      visitShare(share);
   for (const SegmentShare& share : sources.own)
      visitShare(share);
}

} // namespace

PathSummary Table::pathSummary(const Snapshot& snapshot, uint32_t column, std::span<const std::string> keys) {
   const Sources sources = sourcesOf(*core_, snapshot);
   PathSummary result;
   const MutexLock lock(core_->statisticsMutex);
   forEachSummary(sources, column, [&](const DocumentSummary* documents) {
      if (documents)
         result.merge(documents->find(keys));
      else
         result.isExact = false;
   });
   return result;
}

DocumentSummary Table::documentSummary(const Snapshot& snapshot, uint32_t column) {
   const Sources sources = sourcesOf(*core_, snapshot);
   DocumentSummary result;
   const MutexLock lock(core_->statisticsMutex);
   forEachSummary(sources, column, [&](const DocumentSummary* documents) {
      if (documents) result.merge(*documents);
   });
   return result;
}

} // namespace ouzel::storage
