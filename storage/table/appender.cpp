#include "storage/table/appender.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/chunk/document_order.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

namespace {
constexpr size_t smallBytesMax = size_t{64} << 20;      ///< above this size, rows of a Small appender become blocks too
constexpr size_t partitionBytesMax = size_t{128} << 20; ///< of rows that are gathered to be sorted
constexpr size_t partitionMemoryDivisor = 64;           ///< of the server's memory at most, since each worker does it
} // namespace

struct Appender::State {
   // PROPERTIES
   Table& table;
   Transaction& transaction;
   TableCore& core;
   std::vector<PhysicalType> types;
   DocumentColumns documents;
   std::vector<Value> missing;
   bool buildsBlocks; // becomes true when the rows of a Small appender have grown large

   // STATE
   std::unique_ptr<Delta> rows;
   std::unique_ptr<BlockBuilder> builder;
   SortedColumns sorted;
   uint32_t partitionGroups = 0;               ///< row groups that are sorted together; 0: not known yet
   Reservation encoded;                        ///< the builder's bytes
   std::vector<std::shared_ptr<Block>> blocks; ///< written, but not handed to LocalWrites yet
   uint64_t rowCount = 0;
   bool isFinished = false;

   State(Table& t, Transaction& tx, AppendMode mode)
      : table(t), transaction(tx), core(t.core()), buildsBlocks(mode == AppendMode::Bulk),
        encoded(t.core().context.deltaMemory) {
      const MutexLock lock(core.mutex);
      types = core.physicalTypes();
      documents = DocumentColumns::of(*core.columns, transaction.extraction());
      missing = core.missingValues();
   }

   std::unique_ptr<Delta> makeRows() {
      auto made = std::make_unique<Delta>(types, core.context.deltaMemory, documents);
      made->setPrivate(true);
      return made;
   }

   bool sortsDocuments() const {
      return !documents.columns.empty() &&
             (documents.extraction == JsonExtraction::Shapes || documents.extraction == JsonExtraction::Tiles);
   }

   /// Encodes the rows from `first` on, `count` of them: those of a partition at most.
   void encodeGroups(uint32_t first, uint32_t count) {
      std::vector<std::vector<ColumnSlice>> groups;
      for (uint32_t done = 0; done < count; done += rowGroupRows)
         groups.push_back(rows->slices(first + done, std::min(rowGroupRows, count - done)));
      const std::vector<uint32_t> order = sortsDocuments() ? orderOf(groups) : std::vector<uint32_t>();
      for (size_t group = 0; group < groups.size(); ++group) {
         const uint32_t size = groups[group].empty() ? count : groups[group][0].count;
         if (order.empty())
            encodeRowGroup(size, groups[group]);
         else
            encodeRowGroup(size, sorted.sort(groups, std::span(order).subspan(group * rowGroupRows, size)));
      }
   }

   std::vector<uint32_t> orderOf(const std::vector<std::vector<ColumnSlice>>& groups) const {
      std::vector<ColumnSlice> slices;
      for (const std::vector<ColumnSlice>& group : groups)
         slices.push_back(group[documents.columns[0]]);
      return orderByKeys(slices);
   }

   void encodeRowGroup(uint32_t count, std::span<const ColumnSlice> slices) {
      if (!builder) builder = std::make_unique<BlockBuilder>(types, documents);
      builder->addRowGroup(count, slices);
      // When memory is short, a block is written before it is full.
      const bool isCharged = encoded.tryGrow(builder->encodedBytes() - encoded.used());
      if (!isCharged || builder->isFull()) writeBlock();
   }

   /// Whether further row groups are awaited, to be sorted with those that are there.
   bool gathersPartition() {
      if (!sortsDocuments() || rows->rowCount() < rowGroupRows) return false;
      const size_t bytesMax = std::min(partitionBytesMax, core.context.deltaMemory.limit() / partitionMemoryDivisor);
      if (partitionGroups == 0) {
         // The first row group shows what the documents are like. Those of mixed kinds are worth it.
         const bool areMixed = !orderOf({rows->slices(0, rowGroupRows)}).empty();
         const size_t affordable = areMixed ? bytesMax / rows->bytes() : 1;
         partitionGroups = static_cast<uint32_t>(std::clamp<size_t>(affordable, 1, partitionGroupsMax));
      }
      return rows->rowCount() / rowGroupRows < partitionGroups && rows->bytes() < 2 * bytesMax;
   }

   void writeBlock() {
      const SegmentId segment = core.context.ids.newSegment();
      const std::string name = core.context.newBlockName(core.id, segment);
      BlockHeader header = builder->finish(core.context.store, name, segment);
      builder = nullptr;
      encoded.shrink(encoded.used());
      blocks.push_back(std::make_shared<Block>(core.context.store, core.context.cache, name, std::move(header)));
   }

   /// Encode all full row groups; the rows of the last, partial one stay in `rows`.
   void encodeFullGroups() {
      const uint32_t full = rows->rowCount() / rowGroupRows * rowGroupRows;
      if (full == 0) return;
      constexpr uint32_t partitionRows = partitionGroupsMax * rowGroupRows;
      for (uint32_t first = 0; first < full; first += partitionRows)
         encodeGroups(first, std::min(partitionRows, full - first));
      if (full == rows->rowCount()) {
         rows->clear();
         return;
      }
      std::unique_ptr<Delta> rest = makeRows();
      rest->expectMany();
      for (uint32_t first = full; first < rows->rowCount(); first += vectorRows) {
         Batch batch;
         const uint32_t count = std::min(vectorRows, rows->rowCount() - first);
         for (const ColumnSlice& slice : rows->slices(first, count))
            batch.columns.push_back(Vector::flat(slice.type, slice.data, slice.validity));
         batch.setDense(count);
         rest->append(batch);
      }
      rows = std::move(rest);
   }

   void appendPart(const Batch& batch) {
      if (!rows) rows = makeRows();
      rows->append(batch, missing);
      rowCount += batch.liveRows();
      // The load has become large: build blocks from now on.
      if (!buildsBlocks && rows->bytes() > smallBytesMax) buildsBlocks = true;
      if (buildsBlocks && rows->rowCount() >= rowGroupRows) {
         rows->expectMany();
         if (!gathersPartition()) encodeFullGroups();
      } else if (rows->room() < 2 * batchRowsMax) {
         buildsBlocks = true;
         encodeFullGroups();
      }
   }
};

Appender::Appender(Table& table, Transaction& transaction, AppendMode mode)
   : state_(std::make_unique<State>(table, transaction, mode)) {}

Appender::~Appender() {
   if (!state_->isFinished)
      for (const auto& block : state_->blocks)
         block->discard();
}

void Appender::append(const Batch& batch) {
   State& s = *state_;
   DCHECK(!s.isFinished);
   const uint32_t live = batch.liveRows();
   if (live == 0) return;
   // Cut the batch at the row group's end, so that the buffer of a bulk load is encoded exactly when it is full.
   const uint32_t filled = s.rows ? s.rows->rowCount() % rowGroupRows : 0;
   const uint32_t room = rowGroupRows - filled;
   if (!s.buildsBlocks || live <= room) return s.appendPart(batch);
   RowIndex list[batchRowsMax];
   for (uint32_t i = 0; i < live; ++i)
      list[i] = batch.selection.row(i);
   Batch part = batch;
   part.selection = Selection::list(list, room);
   s.appendPart(part);
   part.selection = Selection::list(list + room, live - room);
   s.appendPart(part);
}

void Appender::finish() {
   State& s = *state_;
   DCHECK(!s.isFinished);
   LocalWrites& writes = s.transaction.writesOf(s.table);
   const bool isPartition = s.buildsBlocks && s.rows && s.rows->rowCount() >= rowGroupRows;
   if (isPartition || (s.builder && s.rows && s.rows->rowCount() > 0)) {
      s.encodeGroups(0, s.rows->rowCount());
      s.rows = nullptr;
   }
   if (s.builder) s.writeBlock();
   const uint32_t command = s.transaction.commandId();
   for (auto& block : s.blocks)
      writes.addBlock(std::move(block), command);
   s.blocks.clear();
   if (s.rows) {
      s.rows->setPrivate(false);
      writes.addDelta(std::move(s.rows), command);
   }
   s.isFinished = true;
}

void Appender::writeRows() {
   State& s = *state_;
   DCHECK(!s.isFinished);
   if (s.rows && s.rows->rowCount() > 0) s.encodeGroups(0, s.rows->rowCount());
   s.rows = nullptr;
   if (s.builder) s.writeBlock();
}

size_t Appender::bytesInMemory() const {
   return (state_->rows ? state_->rows->bytes() : 0) + state_->encoded.used();
}

uint64_t Appender::rowCount() const {
   return state_->rowCount;
}

} // namespace ouzel::storage
