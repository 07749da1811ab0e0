#include <algorithm>

#include "common/sync/mutex.hpp"
#include "storage/block/sample.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/table_core.hpp"

// Statistics come from block headers and deltas; no page is read. They are kept until the list of segments changes or
// the deltas grow by much; row counts and bounds are always current.

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

} // namespace

std::shared_ptr<const TableStatistics> Table::statistics(const Snapshot& snapshot) {
   const uint64_t rows = estimatedRows(snapshot);
   std::shared_ptr<const SegmentList> list;
   std::shared_ptr<const std::vector<ColumnDefinition>> columns;
   {
      const MutexLock lock(core_->mutex);
      list = core_->segments;
      columns = core_->columns;
   }
   std::vector<SegmentShare> shares;
   uint64_t total = 0, deltaRows = 0;
   for (const SegmentPtr& segment : *list) {
      if (segment->retiredAt != 0) continue;
      // All committed rows count, so that bounds hold for every snapshot. Own uncommitted rows only count in rowCount.
      const uint32_t committed = segment->versions->committedRows();
      if (committed == 0) continue;
      shares.push_back({segment, committed});
      total += committed;
      if (segment->delta) deltaRows += committed;
   }
   const uint64_t stored = std::max(total, rows);
   const MutexLock lock(core_->statisticsMutex);
   const bool isUsable = core_->statistics && core_->statisticsSegments == list &&
                         deltaRows - core_->statisticsDeltaRows <= total / growthDivisor &&
                         core_->statistics->columns.size() == columns->size();
   if (isUsable) {
      const TableStatistics& newest = *core_->statistics;
      if (core_->boundsDeltaRows == deltaRows && newest.rowCount == rows && newest.rowsStored == stored)
         return core_->statistics;
      auto copy = std::make_shared<TableStatistics>(newest);
      copy->rowCount = rows;
      copy->rowsStored = stored;
      for (size_t i = 0; i < columns->size() && core_->boundsDeltaRows != deltaRows; ++i) {
         ZoneRange zone;
         for (const SegmentShare& share : shares) {
            const auto& own = sketchesOf(*share.segment, share.rows);
            zone.merge(i < own.size() ? own[i].zone : missingSketch((*columns)[i], share.rows).zone);
         }
         setBounds(copy->columns[i], zone, (*columns)[i].representation.physical);
      }
      core_->boundsDeltaRows = deltaRows;
      core_->statistics = copy;
      return copy;
   }
   auto result = std::make_shared<TableStatistics>();
   result->rowCount = rows;
   result->rowsStored = stored;
   result->storedBytes = storedBytes();
   std::vector<ColumnSketch> sketches(columns->size());
   for (const SegmentShare& share : shares) {
      const auto& own = sketchesOf(*share.segment, share.rows);
      for (size_t i = 0; i < sketches.size(); ++i)
         sketches[i].merge(i < own.size() ? own[i] : missingSketch((*columns)[i], share.rows));
   }
   for (size_t i = 0; i < sketches.size(); ++i)
      result->columns.push_back(columnStatistics(sketches[i], (*columns)[i].representation.physical));
   result->sample = sampleOf(shares, total, *columns);
   core_->statistics = result;
   core_->statisticsSegments = list;
   core_->statisticsDeltaRows = core_->boundsDeltaRows = deltaRows;
   return result;
}

} // namespace ouzel::storage
