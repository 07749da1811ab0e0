#include "executor/operator/join/hash_join_partitions.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "executor/materialize/row_batch.hpp"
#include "executor/operator/join/hash_join_built_rows.hpp"
#include "executor/operator/join/join_rows.hpp"

// A partition whose built rows fit is joined as in memory, by a HashJoinMatcher. A partition that does not fit even
// after splitting is joined chunk by chunk: make a table of as many built rows as fit, read all of the probe side,
// repeat. Two bits per probe row say whether the row had a match, and whether a predicate was NULL. The last chunk
// gives the rows that depend on these bits.

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;
using Work = HashJoinPartition::Work;

namespace {

/// One bit for each probe row of a partition, in the order in which the rows are read. Used by one worker.
class RowBits {
public:
   RowBits() = default;
   RowBits(uint64_t rows, Reservation& memory) : memory_((rows + 63) / 64 * 8 + 8, memory) {}
   void load(uint64_t first, uint32_t count, uint8_t* bytes) const {
      DCHECK((first + count + 7) / 8 <= memory_.bytes());
      const auto* words = memory_.as<const uint64_t>();
      for (uint32_t i = 0; i < count; ++i)
         bytes[i] = words[(first + i) >> 6] >> ((first + i) & 63) & 1;
   }
   void store(uint64_t first, uint32_t count, const uint8_t* bytes) {
      DCHECK((first + count + 7) / 8 <= memory_.bytes());
      auto* words = memory_.as<uint64_t>();
      for (uint32_t i = 0; i < count; ++i)
         words[(first + i) >> 6] |= uint64_t{bytes[i] != 0} << ((first + i) & 63);
   }

private:
   LargeMemory memory_;
};

/// Reads all pages of one side of a partition, pages in memory first. A side can be read several times.
class SideReader {
public:
   SideReader(const RowLayout& layout, Reservation& memory, HashJoinSpill& spill)
      : layout_(layout), memory_(memory), spill_(spill) {}

   void open(const TuplePages& pages, bool isLastUse) {
      pages_ = &pages;
      next_ = 0;
      left_ = pages.spilled().size();
      reader_.emplace(layout_, memory_, spill_.space(), spill_.aheadBytes());
      for (const SpilledTuplePage& page : pages.spilled())
         reader_->add(page, isLastUse);
   }
   void close() {
      reader_.reset();
      current_.reset();
   }
   /// The next page, valid until the next call. Null at the end.
   const TuplePage* next() {
      current_.reset();
      if (next_ < pages_->pages().size()) return pages_->pages()[next_++].get();
      readNext();
      return current_.get();
   }
   /// All spilled pages were read.
   bool isAtEnd() const { return left_ == 0; }
   /// The next spilled page, owned by the caller.
   std::unique_ptr<TuplePage> take() {
      readNext();
      return std::move(current_);
   }

private:
   void readNext() {
      current_ = reader_->next();
      if (!current_) return;
      DCHECK(left_ > 0);
      --left_;
      spill_.countRead(current_->memory.bytes());
   }

   const RowLayout& layout_;
   Reservation& memory_;
   HashJoinSpill& spill_;
   const TuplePages* pages_ = nullptr;
   size_t next_ = 0, left_ = 0;
   std::optional<TupleReader> reader_;
   std::unique_ptr<TuplePage> current_;
};

class Worker final : public LocalState {
public:
   Worker(const HashJoinShape& shape, const HashJoinShape& chunkShape, const HashJoinTable& all, HashJoinSpill& spill,
          QueryContext& context);
   SourceStatus next(QueryContext& context, Batch& out);

private:
   enum class Phase : uint8_t { Idle, Probe, Built, Give };

   SourceStatus start(QueryContext& context);
   void loadWhole(QueryContext& context);
   void loadChunk(QueryContext& context);
   void openProbe();
   bool nextInput();
   void probe(QueryContext& context, Batch& out);
   void noteChunk(bool isEndOfBatch, Batch& out);
   void giveMarked(Batch& out);
   void endTable(QueryContext& context);
   void end(QueryContext& context);
   HashJoinMatcher& prober(QueryContext& context);
   bool isChunked() const { return partition_->work == Work::Chunks; }
   bool emitsPairs() const { return chunkShape_.kind == JoinKind::Inner; }

   // PROPERTIES
   const HashJoinShape &shape_, &chunkShape_;
   const HashJoinTable& all_;
   HashJoinSpill& spill_;
   const uint32_t rowsMax_;
   HashJoinTable table_;
   std::optional<HashJoinMatcher> prober_, chunkProber_;
   BuiltRowGiver giver_;
   RowBatch columns_;

   // STATE
   Phase phase_ = Phase::Idle;
   std::unique_ptr<HashJoinPartition> partition_;
   SideReader build_, probe_;
   size_t givenPage_ = 0;
   bool isLastChunk_ = true;
   // STATE of the probe input
   JoinRowReader rows_;
   Batch in_;
   bool hasMore_ = false;  ///< the prober has more rows for in_
   bool hasRest_ = false;  ///< rows of in_ without a match have to be given
   uint64_t firstRow_ = 0; ///< number of in_'s first row
   uint64_t nextRow_ = 0;
   const std::byte* inputRows_[batchRowsMax];
   // STATE over chunks
   RowBits found_, unknown_;
   uint8_t foundNow_[batchRowsMax], unknownNow_[batchRowsMax];
   RowIndex kept_[batchRowsMax];
   std::unique_ptr<uint8_t[]> mark_;
   ValidityWord markValidity_[validityWords(batchRowsMax)];
};

std::vector<PhysicalType> typesOf(const RowLayout& layout) {
   std::vector<PhysicalType> types;
   for (uint32_t c = 0; c < layout.columnCount(); ++c)
      types.push_back(layout.type(c));
   return types;
}

Worker::Worker(const HashJoinShape& shape, const HashJoinShape& chunkShape, const HashJoinTable& all,
               HashJoinSpill& spill, QueryContext& context)
   : shape_(shape), chunkShape_(chunkShape), all_(all), spill_(spill),
     rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)), table_(all.rows(), spill.buildGrant()),
     giver_(shape, all.rows(), context), columns_(typesOf(spill.probeLayout())),
     build_(all.layout(), spill.buildGrant().memory(), spill),
     probe_(spill.probeLayout(), spill.buildGrant().memory(), spill) {}

HashJoinMatcher& Worker::prober(QueryContext& context) {
   if (!isChunked()) {
      if (!prober_) prober_.emplace(shape_, table_, context);
      return *prober_;
   }
   if (!chunkProber_) chunkProber_.emplace(chunkShape_, table_, context);
   return *chunkProber_;
}

SourceStatus Worker::start(QueryContext& context) {
   bool isEnd = false;
   partition_ = spill_.take(isEnd);
   if (!partition_) return isEnd ? SourceStatus::Done : SourceStatus::Blocked;
   switch (partition_->work) {
   case Work::Whole:
      loadWhole(context);
      openProbe();
      break;
   case Work::Split:
      spill_.split(context, *partition_);
      end(context);
      break;
   case Work::Chunks: {
      const uint64_t rows = partition_->probe.rowCount(spill_.probeLayout().rowSize());
      if (!emitsPairs() || chunkShape_.kind != shape_.kind) found_ = RowBits(rows, spill_.buildGrant().memory());
      if (shape_.kind == JoinKind::Mark) unknown_ = RowBits(rows, spill_.buildGrant().memory());
      build_.open(partition_->build, true);
      loadChunk(context);
      break;
   }
   case Work::Give:
      build_.open(partition_->build, true);
      phase_ = Phase::Give;
      break;
   }
   return SourceStatus::HaveOutput;
}

void Worker::loadWhole(QueryContext& context) {
   build_.open(partition_->build, true);
   HashJoinTable::Pages pages = partition_->build.takePages();
   while (auto page = build_.take()) {
      context.checkCancelled();
      pages.push_back(std::move(page));
   }
   build_.close();
   table_.load(context, std::move(pages), partition_->bits, all_);
   spill_.noteLoaded(*partition_);
   isLastChunk_ = true;
}

/// Make the table of the next chunk: as many built rows as fit.
void Worker::loadChunk(QueryContext& context) {
   table_.releaseRows();
   const size_t bytesMax = spill_.chunkBytes();
   const uint32_t rowSize = all_.layout().rowSize();
   HashJoinTable::Pages pages = partition_->build.takePages();
   size_t bytes = 0;
   const auto charge = [&](const TuplePage& page) { bytes += page.bytes() + 16 * size_t{page.rowCount(rowSize)}; };
   for (const auto& page : pages)
      charge(*page);
   while (!build_.isAtEnd() && (pages.empty() || bytes < bytesMax)) {
      context.checkCancelled();
      pages.push_back(build_.take());
      charge(*pages.back());
   }
   isLastChunk_ = build_.isAtEnd();
   table_.load(context, std::move(pages), partition_->bits, all_);
   spill_.countChunk();
   openProbe();
}

void Worker::openProbe() {
   DCHECK(partition_ != nullptr);
   probe_.open(partition_->probe, isLastChunk_);
   rows_.open(nullptr, 0);
   hasMore_ = hasRest_ = false;
   nextRow_ = 0;
   phase_ = Phase::Probe;
}

/// Sets in_ to the next batch of probe rows. False at the end.
bool Worker::nextInput() {
   const RowLayout& layout = spill_.probeLayout();
   while (rows_.isAtEnd()) {
      const TuplePage* page = probe_.next();
      if (!page) return false;
      rows_.open(page, layout.rowSize());
   }
   const uint32_t count = rows_.next(rowsMax_, inputRows_);
   DCHECK(count > 0);
   DCHECK(count <= rowsMax_);
   in_.columns.resize(layout.columnCount());
   for (uint32_t c = 0; c < layout.columnCount(); ++c)
      in_.columns[c] = columns_.gather(c, layout, c, inputRows_, count);
   in_.setDense(count);
   firstRow_ = nextRow_;
   nextRow_ += count;
   return true;
}

SourceStatus Worker::next(QueryContext& context, Batch& out) {
   out.setDense(0);
   switch (phase_) {
   case Phase::Idle: return start(context);
   case Phase::Probe: probe(context, out); break;
   case Phase::Built:
      while (giver_.isAtEnd() && givenPage_ < table_.pages().size())
         giver_.open(*table_.pages()[givenPage_++]);
      if (giver_.isAtEnd()) {
         endTable(context);
      } else {
         giver_.next(out);
      }
      break;
   case Phase::Give:
      if (giver_.isAtEnd()) {
         const TuplePage* page = build_.next();
         if (!page) {
            end(context);
            break;
         }
         giver_.open(*page);
      }
      giver_.next(out);
      break;
   }
   return SourceStatus::HaveOutput;
}

void Worker::probe(QueryContext& context, Batch& out) {
   if (hasRest_) {
      hasRest_ = false;
      giveMarked(out);
      return;
   }
   HashJoinMatcher& worker = prober(context);
   if (!hasMore_) {
      if (!nextInput()) {
         if (!givesBuiltRowsLast(shape_.kind)) {
            endTable(context);
         } else {
            givenPage_ = 0;
            phase_ = Phase::Built;
         }
         return;
      }
      uint64_t* hashes = worker.hashesToFill();
      for (uint32_t i = 0; i < in_.rowCount; ++i)
         hashes[i] = rowHash(inputRows_[i]);
      if (isChunked() && chunkShape_.kind != shape_.kind) {
         found_.load(firstRow_, in_.rowCount, foundNow_);
         worker.noteFound(foundNow_, shape_.kind == JoinKind::Single);
      }
   }
   hasMore_ = worker.process(context, in_, out) == OperatorStatus::HaveOutput;
   if (isChunked()) noteChunk(!hasMore_, out);
}

/// Adds the matches of in_'s rows in this chunk to those of earlier chunks (found_, unknown_).
void Worker::noteChunk(bool isEndOfBatch, Batch& out) {
   const uint32_t count = in_.rowCount;
   if (emitsPairs()) {
      if (chunkShape_.kind == shape_.kind || !isEndOfBatch) return;
      found_.store(firstRow_, count, foundNow_);
      hasRest_ = isLastChunk_;
      return;
   }
   if (shape_.kind != JoinKind::Semi && shape_.kind != JoinKind::Anti && shape_.kind != JoinKind::Mark) return;
   const HashJoinMatcher& worker = *chunkProber_;
   found_.load(firstRow_, count, foundNow_);
   if (shape_.kind == JoinKind::Semi) {
      uint32_t kept = 0;
      for (uint32_t i = 0; i < count; ++i) {
         kept_[kept] = static_cast<RowIndex>(i);
         kept += worker.found()[i] && !foundNow_[i];
      }
      out.selection = Selection::list(kept_, kept);
      found_.store(firstRow_, count, worker.found());
      return;
   }
   for (uint32_t i = 0; i < count; ++i)
      foundNow_[i] |= worker.found()[i];
   found_.store(firstRow_, count, foundNow_);
   if (shape_.kind == JoinKind::Mark) {
      unknown_.load(firstRow_, count, unknownNow_);
      for (uint32_t i = 0; i < count; ++i)
         unknownNow_[i] |= worker.unknown()[i];
      unknown_.store(firstRow_, count, unknownNow_);
   }
   out.setDense(0);
   if (isLastChunk_) giveMarked(out);
}

/// Gives the rows of in_ without a match in any chunk, with NULLs for the build side. Mark: gives all rows, with marks.
void Worker::giveMarked(Batch& out) {
   const uint32_t count = in_.rowCount;
   if (shape_.kind == JoinKind::Anti && shape_.nullAware && all_.sawNullKey()) return;
   const bool isMark = shape_.kind == JoinKind::Mark;
   if (isMark && !mark_) mark_ = std::make_unique<uint8_t[]>(batchRowsMax);
   uint32_t kept = 0;
   for (uint32_t i = 0; i < count; ++i) {
      kept_[kept] = static_cast<RowIndex>(i);
      kept += isMark || !foundNow_[i];
      if (!isMark) continue;
      mark_[i] = foundNow_[i];
      setValidBit(markValidity_, i, foundNow_[i] || !unknownNow_[i]);
   }
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      out.columns[c] = column.from == Column::From::Probe ? in_.columns[column.source]
                       : column.from == Column::From::Mark
                           ? Vector::flat(PhysicalType::Bool, mark_.get(), markValidity_)
                           : absentVector(column.type);
   }
   out.rowCount = count;
   out.selection = Selection::list(kept_, kept);
}

/// The probe side was read to its end: go on with the next chunk, or end the partition.
void Worker::endTable(QueryContext& context) {
   probe_.close();
   if (isChunked() && !isLastChunk_) {
      loadChunk(context);
      return;
   }
   end(context);
}

void Worker::end(QueryContext& context) {
   phase_ = Phase::Idle;
   build_.close();
   probe_.close();
   table_.releaseRows();
   found_ = RowBits();
   unknown_ = RowBits();
   const std::unique_ptr<HashJoinPartition> partition = std::move(partition_);
   partition->build.clear();
   partition->probe.clear();
   spill_.end(context, *partition);
}

} // namespace

HashJoinPartitions::HashJoinPartitions(const HashJoinShape& shape, HashJoinTable& table, HashJoinSpill& spill)
   : shape_(shape), chunkShape_(shape), table_(table), spill_(spill) {
   if (shape.kind == JoinKind::Anti) chunkShape_.nullAware = false; // giveMarked() looks at it, with the last chunk
   if (shape.kind == JoinKind::Left || shape.kind == JoinKind::Full || shape.kind == JoinKind::Single)
      chunkShape_.kind = JoinKind::Inner;
}

void HashJoinPartitions::prepare(QueryContext& context) {
   table_.releaseRows();
   table_.releaseFilters();
   spill_.closeProbe(context);
}

uint32_t HashJoinPartitions::workersMax() const {
   return spill_.hasPartitions() ? UINT32_MAX : 0;
}

LocalStatePtr HashJoinPartitions::makeLocal(QueryContext& context) {
   return std::make_unique<Worker>(shape_, chunkShape_, table_, spill_, context);
}

SourceStatus HashJoinPartitions::next(QueryContext& context, LocalState& local, Batch& out) {
   return static_cast<Worker&>(local).next(context, out);
}

void HashJoinPartitions::describe(OperatorProfile& profile) const {
   spill_.describe(profile);
}

} // namespace ouzel::executor
