#include "storage/table/appender.hpp"

#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/chunk/document_order.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

namespace {
constexpr size_t smallBytesMax = size_t{64} << 20; ///< above this size, rows of a Small appender become blocks too
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

   bool sortsDocuments() const {
      return !documents.columns.empty() &&
             (documents.extraction == JsonExtraction::Shapes || documents.extraction == JsonExtraction::Tiles);
   }

   void encodeRowGroup(uint32_t firstRow, uint32_t count) {
      if (!builder) builder = std::make_unique<BlockBuilder>(types, documents);
      std::vector<ColumnSlice> slices = rows->slices(firstRow, count);
      if (sortsDocuments()) {
         const std::vector<uint32_t> order = orderByKeys(slices[documents.columns[0]]);
         if (!order.empty()) slices = sorted.sort(slices, order);
      }
      builder->addRowGroup(count, slices);
      // When memory is short, a block is written before it is full.
      const bool isCharged = encoded.tryGrow(builder->encodedBytes() - encoded.used());
      if (!isCharged || builder->isFull()) writeBlock();
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
      for (uint32_t first = 0; first < full; first += rowGroupRows)
         encodeRowGroup(first, rowGroupRows);
      if (full == rows->rowCount()) {
         rows->clear();
         return;
      }
      auto rest = std::make_unique<Delta>(types, core.context.deltaMemory, documents);
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
      if (!rows) rows = std::make_unique<Delta>(types, core.context.deltaMemory, documents);
      rows->append(batch, missing);
      rowCount += batch.liveRows();
      // The load has become large: build blocks from now on.
      if (!buildsBlocks && rows->bytes() > smallBytesMax) buildsBlocks = true;
      if (buildsBlocks && rows->rowCount() >= rowGroupRows) {
         rows->expectMany();
         encodeFullGroups();
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
   if (s.builder) {
      if (s.rows && s.rows->rowCount() > 0) {
         s.encodeRowGroup(0, s.rows->rowCount());
         s.rows = nullptr;
      }
      if (s.builder) s.writeBlock();
   }
   const uint32_t command = s.transaction.commandId();
   for (auto& block : s.blocks)
      writes.addBlock(std::move(block), command);
   s.blocks.clear();
   if (s.rows) writes.addDelta(std::move(s.rows), command);
   s.isFinished = true;
}

uint64_t Appender::rowCount() const {
   return state_->rowCount;
}

} // namespace ouzel::storage
