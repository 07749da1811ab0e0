#include "storage/database/replay.hpp"

#include <lz4.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/base/definition_codec.hpp"

namespace ouzel::storage {

namespace {

constexpr size_t lotBytes = 32 << 20; ///< bytes of one lot of collected work

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
   UniqueLock lock(applyingMutex_);
   idle_.wait(lock, [&]() REQUIRES(applyingMutex_) { return !isApplying_; });
}

void Replay::apply(Log::Frame&& frame) {
   if (frame.kind == FrameKind::Counter) {
      ByteReader in(frame.payload);
      const auto [id, counter] = readCounter(in);
      counters_.set(id, counter);
      return;
   }
   if (frame.kind != FrameKind::Commit)
      throw SqlError(sqlstate::dataCorrupted, "write-ahead log holds a record of unknown kind");
   CommitRecord record = CommitRecord::deserialize(frame.payload);
   if (frame.timestamp <= lastCommit_) corrupted("commits are out of order");
   for (auto& created : record.created)
      addTable(created.id, std::move(created.columns));
   for (const auto& added : record.added)
      addColumn(added);
   for (auto& writes : record.writes) {
      TableCore& core = tableOf(writes.id)->core();
      if (skips(core)) continue;
      for (auto& rows : writes.rows) {
         Target& target = targetOf(core, rows.segment, true);
         const size_t bytes = std::max<size_t>(rows.rawSize, rows.batches.size());
         collect(target, {frame.timestamp, std::move(rows), {}}, bytes);
      }
      for (const auto& block : writes.blocks)
         addBlock(core, block, frame.timestamp);
      for (const auto& rewritten : writes.rewrites)
         rewrite(core, rewritten, frame.timestamp);
      for (auto& deletes : writes.deletes) {
         const size_t bytes = deletes.rows.size() * sizeof(uint32_t);
         collect(targetOf(core, deletes.segment, false), {frame.timestamp, {}, std::move(deletes.rows)}, bytes);
      }
   }
   for (const StorageId id : record.dropped)
      dropTable(id);
   if (!record.catalogChange.empty()) catalogChanges_.push_back(std::move(record.catalogChange));
   context_.ids.continueBehind(record);
   lastCommit_ = frame.timestamp;
   context_.transactions.publish(lastCommit_);
   if (collectedBytes_ >= lotBytes) startApplying();
}

/// Whether the changes of the table are lost, since it is damaged.
bool Replay::skips(const TableCore& core) {
   if (core.damage.empty()) return false;
   if (!skipsDamaged_)
      throw SqlError(sqlstate::dataCorrupted, "the write-ahead log has changes of a damaged table: " + core.damage)
          .hint("Restore the object from a copy and start again. If it is lost, --take-over starts without these "
                "changes, "
                "and without that table.");
   if (skipped_.insert(core.id).second)
      logLine(LogLevel::Warning, "changes of a damaged table are lost: " + core.damage);
   return true;
}

void Replay::finish() {
   startApplying();
   waitForApplying();
}

void Replay::addTable(StorageId id, std::vector<ColumnDefinition> columns) {
   if (tables_.find(id)) throw SqlError(sqlstate::dataCorrupted, "write-ahead log creates a table twice");
   tables_.putCommitted(std::make_shared<Table>(std::make_unique<TableCore>(context_, id, std::move(columns))));
}

std::shared_ptr<Table> Replay::tableOf(StorageId id) {
   auto table = tables_.find(id);
   if (!table) throw SqlError(sqlstate::dataCorrupted, "write-ahead log names an unknown table");
   return table;
}

void Replay::addColumn(const CommitRecord::AddedColumn& added) {
   const auto table = tableOf(added.id);
   {
      TableCore& core = table->core();
      const MutexLock lock(core.mutex);
      core.addColumn(added.column);
   }
   tables_.putCommitted(table);
}

void Replay::dropTable(StorageId id) {
   finish(); // collected work refers to the table's segments
   std::erase_if(targets_, [&](const auto& entry) { return entry.second->table == id; });
   {
      TableCore& core = tableOf(id)->core();
      const MutexLock lock(core.mutex);
      core.isDropped = discardsDropped_;
   }
   tables_.erase(id);
}

SegmentPtr Replay::openBlock(const LocalWrites::LoggedBlock& logged, Timestamp timestamp) {
   const auto reader = context_.store.open(logged.objectName);
   if (!reader)
      throw SqlError(sqlstate::dataCorrupted, "missing block \"" + logged.objectName + "\" of a committed load");
   auto segment = std::make_shared<Segment>();
   segment->id = logged.segment;
   segment->versions = std::make_shared<SegmentVersions>();
   BlockHeader header = io::readTrusted(context_.store, logged.objectName,
                                        [&] { return Block::readHeader(*reader, logged.objectName); });
   segment->block = std::make_shared<Block>(context_.store, context_.cache, logged.objectName, std::move(header));
   segment->versions->addCommit(timestamp, segment->block->header().rowCount, 0);
   namedObjects_.insert(logged.objectName);
   return segment;
}

void Replay::addBlock(TableCore& core, const LocalWrites::LoggedBlock& logged, Timestamp timestamp) {
   SegmentPtr segment = openBlock(logged, timestamp);
   const MutexLock lock(core.mutex);
   core.addSegment(std::move(segment));
}

void Replay::rewrite(TableCore& core, const CommitRecord::Rewrite& logged, Timestamp timestamp) {
   // The server that wrote the log may have had the segments in another order: a load's segment entered the list when
   // it was published, but a delta entered it when it was made for the first insert.
   std::set<SegmentId> retired(logged.retired.begin(), logged.retired.end());
   if (retired.empty() || retired.size() != logged.retired.size()) corrupted("rewritten segments are not there");
   auto list = std::make_shared<SegmentList>();
   const MutexLock lock(core.mutex);
   for (const SegmentPtr& segment : *core.segments) {
      if (retired.erase(segment->id) == 0) {
         list->push_back(segment);
         continue;
      }
      if (segment->block) retired_.addBlock(segment->block);
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
   const MutexLock lock(core.mutex);
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
      const MutexLock lock(applyingMutex_);
      DCHECK(!isApplying_);
      isApplying_ = true;
   }
   DCHECK(collectedBytes_ == 0);
   context_.tasks.submit([this] {
      std::exception_ptr error;
      try {
         context_.tasks.parallelFor(applying_.size(), [this](uint64_t i) { applyTo(*applying_[i]); });
      } catch (...) {
         error = std::current_exception();
      }
      const MutexLock lock(applyingMutex_);
      isApplying_ = false;
      error_ = error;
      idle_.notify_all();
   });
}

void Replay::waitForApplying() {
   UniqueLock lock(applyingMutex_);
   idle_.wait(lock, [&]() REQUIRES(applyingMutex_) { return !isApplying_; });
   if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Replay::applyTo(Target& target) {
   const Segment& segment = *target.segment;
   Arena arena;
   for (const Work& work : target.applying) {
      for (const uint32_t row : work.deletes) {
         if (row >= segment.rowCount())
            throw SqlError(sqlstate::dataCorrupted, "write-ahead log deletes a row that does not exist");
         segment.versions->deletes.replaceMark(row, work.timestamp);
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
