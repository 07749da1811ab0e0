#include "storage/database/replay.hpp"

#include <lz4.h>

#include "common/error/sql_error.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/base/definition_codec.hpp"

namespace ouzel::storage {

namespace {

constexpr size_t lotBytes = 32 << 20; ///< collected before others are given it

[[noreturn]] void corrupted(const char* what) {
   throw SqlError(sqlstate::dataCorrupted, std::string("write-ahead log is corrupted: ") + what);
}

std::string decompressed(const LocalWrites::LoggedRows& rows) {
   constexpr uint64_t ratioMax = 256; // LZ4 cannot do better
   if (rows.rawSize > rows.batches.size() * ratioMax || rows.rawSize > LZ4_MAX_INPUT_SIZE) ByteReader::corrupted();
   std::string bytes(rows.rawSize, '\0');
   if (LZ4_decompress_safe(rows.batches.data(), bytes.data(), static_cast<int>(rows.batches.size()),
                           static_cast<int>(bytes.size())) != static_cast<int>(bytes.size()))
      ByteReader::corrupted();
   return bytes;
}

} // namespace

Replay::~Replay() {
   std::unique_lock lock(mutex_);
   idle_.wait(lock, [&] { return !isApplying_; });
}

void Replay::apply(Log::Frame&& frame) {
   if (frame.kind == FrameKind::Counter) {
      ByteReader in(frame.payload);
      const auto [id, counter] = readCounter(in);
      state_.counters[id] = counter;
      return;
   }
   if (frame.kind != FrameKind::Commit)
      throw SqlError(sqlstate::dataCorrupted, "write-ahead log holds a record of unknown kind");
   CommitRecord record = CommitRecord::deserialize(frame.payload);
   if (frame.timestamp <= state_.lastAssigned) corrupted("commits are out of order");
   for (auto& created : record.created)
      addTable(created.id, std::move(created.columns));
   for (const auto& added : record.added)
      addColumn(added);
   for (auto& writes : record.writes) {
      TableCore& core = coreOf(writes.id);
      for (auto& rows : writes.rows) {
         Target& target = targetOf(core, rows.segment, true);
         const size_t bytes = std::max<size_t>(rows.rawSize, rows.batches.size());
         collect(target, {frame.timestamp, std::move(rows), {}}, bytes);
      }
      for (const auto& block : writes.blocks)
         core.addSegment(openBlock(block, frame.timestamp));
      for (const auto& rewritten : writes.rewrites)
         rewrite(core, rewritten, frame.timestamp);
      for (auto& deletes : writes.deletes) {
         const size_t bytes = deletes.rows.size() * sizeof(uint32_t);
         collect(targetOf(core, deletes.segment, false), {frame.timestamp, {}, std::move(deletes.rows)}, bytes);
      }
   }
   for (const StorageId id : record.dropped)
      dropTable(id);
   if (!record.catalogChange.empty()) state_.recovered.changes.push_back(std::move(record.catalogChange));
   state_.nextOid = std::max(state_.nextOid.load(), record.nextOid);
   state_.nextStorage = std::max(state_.nextStorage.load(), record.nextStorage);
   state_.context->nextSegment = std::max(state_.context->nextSegment.load(), record.nextSegment);
   state_.lastAssigned = frame.timestamp;
   state_.transactions.publish(frame.timestamp);
   if (collectedBytes_ >= lotBytes) startApplying();
}

void Replay::finish() {
   startApplying();
   waitForApplying();
}

void Replay::addTable(StorageId id, std::vector<ColumnDefinition> columns) {
   auto& entry = state_.tables[id];
   if (entry.table) throw SqlError(sqlstate::dataCorrupted, "write-ahead log creates a table twice");
   entry.committedColumns = static_cast<uint32_t>(columns.size());
   entry.isCommitted = true;
   entry.table = std::make_shared<Table>(std::make_unique<TableCore>(*state_.context, id, std::move(columns)));
}

TableCore& Replay::coreOf(StorageId id) {
   const auto it = state_.tables.find(id);
   if (it == state_.tables.end()) throw SqlError(sqlstate::dataCorrupted, "write-ahead log names an unknown table");
   return it->second.table->core();
}

void Replay::addColumn(const CommitRecord::AddedColumn& added) {
   TableCore& core = coreOf(added.id);
   auto columns = std::make_shared<std::vector<ColumnDefinition>>(*core.columns);
   columns->push_back(added.column);
   core.columns = std::move(columns);
   ++state_.tables[added.id].committedColumns;
}

void Replay::dropTable(StorageId id) {
   finish(); // what was collected names its segments
   std::erase_if(targets_, [&](const auto& entry) { return entry.second->table == id; });
   coreOf(id).isDropped = !state_.options.readOnly;
   state_.tables.erase(id);
}

SegmentPtr Replay::openBlock(const LocalWrites::LoggedBlock& logged, Timestamp timestamp) {
   const auto reader = state_.store->open(logged.objectName);
   if (!reader)
      throw SqlError(sqlstate::dataCorrupted, "missing block \"" + logged.objectName + "\" of a committed load");
   auto segment = std::make_shared<Segment>();
   segment->id = logged.segment;
   segment->versions = std::make_shared<SegmentVersions>();
   BlockHeader header =
       io::readTrusted(*state_.store, logged.objectName, [&] { return Block::readHeader(*reader, logged.objectName); });
   segment->block =
       std::make_shared<Block>(*state_.store, state_.governor.cache(), logged.objectName, std::move(header));
   segment->versions->addCommit(timestamp, segment->block->header().rowCount, 0);
   namedObjects_.insert(logged.objectName);
   return segment;
}

void Replay::rewrite(TableCore& core, const CommitRecord::Rewrite& logged, Timestamp timestamp) {
   // The running server may have had them in another order: a load's segment came into its list when it was published,
   // the one that gave a small insert its place before that.
   std::set<SegmentId> retired(logged.retired.begin(), logged.retired.end());
   if (retired.empty() || retired.size() != logged.retired.size()) corrupted("rewritten segments are not there");
   auto list = std::make_shared<SegmentList>();
   for (const SegmentPtr& segment : *core.segments) {
      if (retired.erase(segment->id) == 0) {
         list->push_back(segment);
         continue;
      }
      if (segment->block) state_.replacedBlocks.push_back(segment->block);
      if (!retired.empty()) continue;
      for (const auto& block : logged.blocks)
         list->push_back(openBlock(block, timestamp));
   }
   if (!retired.empty()) corrupted("rewritten segments are not there");
   core.segments = std::move(list);
}

Replay::Target& Replay::targetOf(TableCore& core, SegmentId id, bool mayMake) {
   auto& target = targets_[id];
   if (target) {
      if (target->table != core.id) corrupted("a segment changes its table");
      return *target;
   }
   SegmentPtr segment = core.findSegment(id);
   if (!segment) {
      if (!mayMake) throw SqlError(sqlstate::dataCorrupted, "write-ahead log deletes rows of an unknown segment");
      segment = core.newDeltaSegment(id);
      core.addSegment(segment);
   }
   target = std::make_unique<Target>(Target{std::move(segment), core.id, core.missingValues(), {}, {}});
   return *target;
}

void Replay::collect(Target& target, Work work, size_t bytes) {
   if (target.collected.empty()) collected_.push_back(&target);
   target.collected.push_back(std::move(work));
   collectedBytes_ += bytes + 64;
}

void Replay::startApplying() {
   waitForApplying();
   if (collected_.empty()) return;
   applying_.swap(collected_);
   collected_.clear();
   collectedBytes_ = 0;
   for (Target* target : applying_)
      target->applying.swap(target->collected);
   {
      const std::lock_guard lock(mutex_);
      isApplying_ = true;
   }
   state_.tasks.submit([this] {
      std::exception_ptr error;
      try {
         state_.tasks.parallelFor(applying_.size(), [this](uint64_t i) { applyTo(*applying_[i]); });
      } catch (...) {
         error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      isApplying_ = false;
      error_ = error;
      idle_.notify_all();
   });
}

void Replay::waitForApplying() {
   std::unique_lock lock(mutex_);
   idle_.wait(lock, [&] { return !isApplying_; });
   if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Replay::applyTo(Target& target) {
   const Segment& segment = *target.segment;
   Arena arena;
   for (const Work& work : target.applying) {
      for (const uint32_t row : work.deletes) {
         if (row >= segment.rowCount())
            throw SqlError(sqlstate::dataCorrupted, "write-ahead log deletes a row that does not exist");
         segment.versions->deletes.settle(row, work.timestamp);
      }
      const LocalWrites::LoggedRows& rows = work.rows;
      if (rows.rowCount == 0) continue;
      if (!segment.delta || segment.delta->rowCount() != rows.firstRow) corrupted("rows are not in order");
      const std::string raw = rows.rawSize != 0 ? decompressed(rows) : std::string();
      ByteReader in(rows.rawSize != 0 ? std::string_view(raw) : std::string_view(rows.batches));
      while (!in.atEnd()) {
         arena.reset();
         const Batch batch = decodeBatch(in, arena);
         if (batch.columns.size() > segment.columnCount() || batch.liveRows() > segment.delta->room())
            ByteReader::corrupted();
         segment.delta->append(batch, target.missing);
      }
      if (segment.delta->rowCount() != rows.firstRow + rows.rowCount) ByteReader::corrupted();
      segment.versions->addCommit(work.timestamp, segment.delta->rowCount(), work.timestamp);
   }
   target.applying.clear();
}

} // namespace ouzel::storage
