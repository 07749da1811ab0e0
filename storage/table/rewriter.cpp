#include "storage/table/rewriter.hpp"

#include <algorithm>
#include <functional>

#include "storage/block/block_builder.hpp"
#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {

class Rewriter {
public:
   Rewriter(StorageContext& context, StorageId table, const std::vector<ColumnDefinition>& columns)
      : context_(context), table_(table), memory_(context.deltaMemory) {
      for (const ColumnDefinition& column : columns)
         types_.push_back(column.representation.physical);
      documents_ = DocumentColumns::of(columns);
      rows_ = std::make_unique<Delta>(types_, memory_);
      rows_->expectMany();
   }
   ~Rewriter() {
      for (const SegmentPtr& segment : segments_)
         segment->block->discard();
   }

   void addAll(std::shared_ptr<ScanState> state) {
      ScanSource source(state);
      const auto reader = source.makeReader();
      Morsel morsel;
      while (source.next(morsel)) {
         reader->open(morsel);
         for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows)
            addVector(*reader, first, std::min(vectorRows, reader->rowCount() - first));
      }
   }

   SegmentList finish() {
      flushRowGroup();
      if (builder_) writeBlock();
      return std::exchange(segments_, {});
   }

private:
   void addVector(RowGroupReader& reader, uint32_t first, uint32_t count) {
      Batch batch;
      batch.rowCount = count;
      batch.selection = reader.visible(first, count);
      const uint32_t live = batch.selection.count();
      if (live == 0) return;
      RowIndex list[batchRowsMax];
      for (uint32_t i = 0; i < live; ++i)
         list[i] = batch.selection.row(i);
      for (uint32_t column = 0; column < types_.size(); ++column)
         batch.columns.push_back(reader.read(column, first, count, batch.selection));
      const uint32_t head = std::min(live, rowGroupRows - rows_->rowCount());
      batch.selection = Selection::list(list, head);
      rows_->append(batch);
      if (rows_->rowCount() == rowGroupRows) flushRowGroup();
      if (head == live) return;
      batch.selection = Selection::list(list + head, live - head);
      rows_->append(batch);
   }

   void flushRowGroup() {
      if (rows_->rowCount() == 0) return;
      if (!builder_) builder_ = std::make_unique<BlockBuilder>(types_, documents_);
      builder_->addRowGroup(rows_->rowCount(), rows_->slices(0, rows_->rowCount()));
      rows_->clear();
      if (builder_->isFull()) writeBlock();
   }

   void writeBlock() {
      auto segment = std::make_shared<Segment>();
      segment->id = context_.ids.newSegment();
      segment->versions = std::make_shared<SegmentVersions>();
      const std::string name = context_.newBlockName(table_, segment->id);
      segment->block = std::make_shared<Block>(context_.store, context_.cache, name,
                                               builder_->finish(context_.store, name, segment->id));
      segments_.push_back(std::move(segment));
      builder_ = nullptr;
   }

   StorageContext& context_;
   const StorageId table_;
   Reservation memory_;
   std::vector<PhysicalType> types_;
   DocumentColumns documents_;
   std::unique_ptr<Delta> rows_;
   std::unique_ptr<BlockBuilder> builder_;
   SegmentList segments_;
};

constexpr uint64_t smallObject = 1 << 20, togetherMax = 64 << 20; ///< bytes

/// Call `body` for each chunk of a block until it returns false; returns whether all calls returned true.
bool forEachChunk(const Block& block, const std::function<bool(uint32_t column, uint32_t rowGroup)>& body) {
   const BlockHeader& header = block.header();
   for (uint32_t column = 0; column < header.columnTypes.size(); ++column)
      for (uint32_t rowGroup = 0; rowGroup < header.rowGroupCount(); ++rowGroup)
         if (!body(column, rowGroup)) return false;
   return true;
}

/// Read small blocks into the cache, with one request for each, all at once. The rewriter reads one page after the
/// other, and over a network each page would cost a round trip.
void readTogether(StorageContext& context, const SegmentList& segments) {
   if (!context.store.isRemote()) return;
   struct Reading {
      const Block& block;
      std::shared_ptr<Landing> landing;
   };
   uint64_t together = 0;
   std::vector<Reading> readings;
   for (const SegmentPtr& segment : segments) {
      if (!segment->block || segment->block->header().objectSize > smallObject) continue;
      const Block& block = *segment->block;
      if (forEachChunk(block, [&](uint32_t column, uint32_t group) { return block.isCached(column, group); })) continue;
      const uint64_t size = block.header().objectSize;
      together += size;
      if (together > togetherMax) break;
      auto landing = Landing::tryMake(context.cache, 0, size, false);
      if (!landing) break;
      landing->start(block.reader());
      readings.push_back({block, std::move(landing)});
   }
   for (const Reading& reading : readings)
      forEachChunk(reading.block, [&](uint32_t column, uint32_t group) {
         const auto pages = static_cast<uint32_t>(reading.block.header().chunk(column, group).pages.size());
         for (uint32_t page = 0; page < pages; ++page)
            reading.block.page(column, group, page, reading.landing.get());
         return true;
      });
}

} // namespace

SegmentList rewriteLiveRows(StorageContext& context, StorageId table,
                            std::shared_ptr<const std::vector<ColumnDefinition>> columns, const SegmentList& segments,
                            Timestamp timestamp) {
   auto state = std::make_shared<ScanState>();
   state->snapshot = {timestamp, 0, 0};
   state->columns = std::move(columns);
   for (uint32_t column = 0; column < state->columns->size(); ++column)
      state->spec.columns.push_back(column);
   for (const SegmentPtr& segment : segments) {
      const uint32_t rows = segment->versions->committedRows();
      const auto source = static_cast<uint32_t>(state->sources.size());
      state->sources.push_back({segment, rows});
      for (uint32_t group = 0; group * rowGroupRows < rows; ++group)
         state->morsels.push_back({source, group, std::min(rowGroupRows, rows - group * rowGroupRows)});
   }
   readTogether(context, segments);
   Rewriter rewriter(context, table, *state->columns);
   rewriter.addAll(state);
   return rewriter.finish();
}

} // namespace ouzel::storage
