#include "executor/operator/join/hash_join_partitions.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "executor/materialize/row_batch.hpp"
#include "executor/operator/join/hash_join_built_rows.hpp"
#include "executor/operator/join/join_rows.hpp"
#include "executor/operator/join/partition_job.hpp"

// A worker takes units of a job, one at a time; pages it takes some ahead, so that they are read meanwhile. When the
// job has no more units for it, the worker looks for another job.
//
// A partition whose built rows fit is joined as in memory, by a HashJoinMatcher. A partition that does not fit even
// after splitting is joined chunk by chunk: make a table of as many built rows as fit, read all of the probe side,
// repeat. Two bits per probe row say whether the row had a match, and whether a predicate was NULL. The last chunk
// gives the rows that depend on these bits.

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;
using Phase = PartitionJob::Phase;
using Unit = PartitionJob::Unit;
using Work = HashJoinPartition::Work;

namespace {

/// Reads the pages of units that a worker takes from a job, in the order in which it takes them. Used by one worker.
class PageReader {
public:
   PageReader(HashJoinSpill& spill, const RowLayout& buildLayout) : spill_(spill), buildLayout_(buildLayout) {}

   /// A unit that the worker has taken; the reader then takes more.
   void add(PartitionJob& job, const Unit& unit) {
      queue_.push_back(unit);
      if (job.residentPage(unit)) return;
      const bool ofProbe = job.isOfProbe(unit);
      std::optional<TupleReader>& reader = readers_[ofProbe];
      if (!reader)
         reader.emplace(ofProbe ? spill_.probeLayout() : buildLayout_, spill_.buildGrant().memory(), spill_.space(),
                        spill_.aheadBytes());
      reader->add(job.spilledPage(unit), job.isLastUse(unit));
   }
   bool isEmpty() const { return queue_.empty(); }
   /// The page of the first unit in the queue, valid until the next call. REQUIRES: !isEmpty().
   const TuplePage& next(PartitionJob& job, Unit& unit) {
      current_.reset();
      unit = queue_.front();
      queue_.pop_front();
      takeAhead(job, unit.phase);
      if (const TuplePage* page = job.residentPage(unit)) return *page;
      current_ = readers_[job.isOfProbe(unit)]->next();
      spill_.countRead(current_->memory.bytes());
      return *current_;
   }
   /// The page that next() gave, if it was on disk.
   std::unique_ptr<TuplePage> takePage() { return std::move(current_); }
   /// All units are done: free the memory.
   void close() {
      DCHECK(queue_.empty());
      current_.reset();
      for (std::optional<TupleReader>& reader : readers_)
         reader.reset();
   }

private:
   void takeAhead(PartitionJob& job, Phase phase) {
      // Workers that share a job take only a part of what is left, so that they end together.
      constexpr size_t most = HashJoinSpill::pagesAhead;
      const size_t wanted = spill_.sharesJobs() ? std::min(most, job.unitsToShare() / spill_.workers() / 2) : most;
      while (queue_.size() < wanted) {
         const std::optional<Unit> unit = job.take(phase);
         if (!unit) return;
         add(job, *unit);
      }
   }

   HashJoinSpill& spill_;
   const RowLayout& buildLayout_;
   std::deque<Unit> queue_;
   std::optional<TupleReader> readers_[2]; ///< of the build side and of the probe side
   std::unique_ptr<TuplePage> current_;
};

class Worker final : public LocalState {
public:
   Worker(const HashJoinShape& shape, const HashJoinShape& chunkShape, const HashJoinTable& all, HashJoinSpill& spill,
          QueryContext& context);
   SourceStatus next(QueryContext& context, Batch& out);

private:
   /// A worker's buffers for the parts of a partition that is split.
   struct Parts {
      Parts(const RowLayout& buildLayout, HashJoinSpill& spill, PartitionJob& job)
         : build(buildLayout, spill.buildGrant(), job.parts(false), spill.partOptions()),
           probe(spill.probeLayout(), spill.buildGrant(), job.parts(true), spill.partOptions()) {}
      TupleBuffer build, probe;
   };

   SourceStatus takeJob(QueryContext& context);
   void takeUnit(QueryContext& context);
   void beginPage(QueryContext& context);
   void finishUnit(QueryContext& context);
   void leaveJob(QueryContext& context);
   bool nextInput();
   void probe(QueryContext& context, Batch& out);
   void noteChunk(bool isEndOfBatch, Batch& out);
   void giveMarked(Batch& out);
   HashJoinMatcher& prober(QueryContext& context);
   bool isChunked() const { return job_->work() == Work::Chunks; }
   bool emitsPairs() const { return chunkShape_.kind == JoinKind::Inner; }

   // PROPERTIES
   const HashJoinShape &shape_, &chunkShape_;
   const HashJoinTable& all_;
   HashJoinSpill& spill_;
   const uint32_t rowsMax_;
   std::optional<HashJoinMatcher> prober_, chunkProber_;
   BuiltRowGiver giver_;
   RowBatch columns_;

   // STATE
   std::shared_ptr<PartitionJob> job_;
   Unit unit_; ///< the unit being worked on; Phase::Ended: none
   PageReader reader_;
   std::unique_ptr<Parts> parts_;
   // STATE of the probe input
   JoinRowReader rows_;
   Batch in_;
   bool hasMore_ = false;  ///< the prober has more rows for in_
   bool hasRest_ = false;  ///< rows of in_ without a match have to be given
   uint64_t firstRow_ = 0; ///< number of in_'s first row
   uint64_t nextRow_ = 0;
   const std::byte* inputRows_[batchRowsMax];
   // STATE over chunks
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
     rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)), giver_(shape, all.rows(), context),
     columns_(typesOf(spill.probeLayout())), reader_(spill, all.layout()) {}

/// The prober of the job's kind, with the job's table.
HashJoinMatcher& Worker::prober(QueryContext& context) {
   std::optional<HashJoinMatcher>& prober = isChunked() ? chunkProber_ : prober_;
   if (!prober) prober.emplace(isChunked() ? chunkShape_ : shape_, job_->table(), context);
   prober->useTable(job_->table());
   return *prober;
}

SourceStatus Worker::next(QueryContext& context, Batch& out) {
   out.setDense(0);
   if (!job_) return takeJob(context);
   switch (unit_.phase) {
   case Phase::Probe: probe(context, out); break;
   case Phase::Built:
   case Phase::Give:
      if (giver_.isAtEnd()) {
         finishUnit(context);
      } else {
         giver_.next(out);
      }
      break;
   default: takeUnit(context);
   }
   return SourceStatus::HaveOutput;
}

SourceStatus Worker::takeJob(QueryContext& context) {
   if (spill_.closeBuffer(context)) return SourceStatus::HaveOutput;
   bool isEnd = false;
   job_ = spill_.take(all_, isEnd);
   if (!job_) return isEnd ? SourceStatus::Done : SourceStatus::Blocked;
   job_->start(context);
   if (job_->work() == Work::Split) job_->beginParts();
   return SourceStatus::HaveOutput;
}

/// Do the next unit of the job, or begin it if it gives rows.
void Worker::takeUnit(QueryContext& context) {
   if (reader_.isEmpty()) {
      const std::optional<Unit> unit = job_->take();
      if (!unit) return leaveJob(context);
      unit_ = *unit;
      switch (unit->phase) {
      case Phase::LoadAll: job_->loadAll(context); return finishUnit(context);
      case Phase::Insert: job_->insert(context, *unit); return finishUnit(context);
      case Phase::Built: giver_.open(*job_->table().pages()[unit->index]); return;
      default: reader_.add(*job_, *unit);
      }
   }
   beginPage(context);
}

/// The next unit is a page.
void Worker::beginPage(QueryContext& context) {
   const TuplePage& page = reader_.next(*job_, unit_);
   switch (unit_.phase) {
   case Phase::Load:
      job_->addLoaded(reader_.takePage());
      finishUnit(context);
      break;
   case Phase::Probe:
      rows_.open(&page, spill_.probeLayout().rowSize());
      hasMore_ = hasRest_ = false;
      nextRow_ = job_->firstRow(unit_);
      break;
   case Phase::Give: giver_.open(page); break;
   case Phase::Split: {
      if (!parts_) parts_ = std::make_unique<Parts>(all_.layout(), spill_, *job_);
      TupleBuffer& buffer = job_->isOfProbe(unit_) ? parts_->probe : parts_->build;
      buffer.storeCopies(page);
      if (buffer.wantsRelief()) buffer.relieve();
      finishUnit(context);
      break;
   }
   default: throwInternal("a unit of a join's partition that is not a page");
   }
}

void Worker::finishUnit(QueryContext& context) {
   const Unit unit = std::exchange(unit_, Unit{});
   // The reader's pages in flight belong to the phase that may end here.
   if (reader_.isEmpty()) reader_.close();
   if (job_->finish(context, unit)) spill_.end(context, *job_);
}

void Worker::leaveJob(QueryContext& context) {
   reader_.close();
   if (job_->work() == Work::Split) {
      TuplePages build, probe;
      if (parts_) {
         build = spill_.finishParts(parts_->build, job_->parts(false));
         probe = spill_.finishParts(parts_->probe, job_->parts(true));
         parts_.reset();
      }
      if (job_->addParts(std::move(build), std::move(probe))) spill_.end(context, *job_);
   }
   job_.reset();
}

/// Sets in_ to the next batch of the page's probe rows. False at the end.
bool Worker::nextInput() {
   const RowLayout& layout = spill_.probeLayout();
   if (rows_.isAtEnd()) return false;
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

void Worker::probe(QueryContext& context, Batch& out) {
   if (hasRest_) {
      hasRest_ = false;
      giveMarked(out);
      return;
   }
   if (!hasMore_ && !nextInput()) return finishUnit(context);
   HashJoinMatcher& worker = prober(context);
   if (!hasMore_) {
      uint64_t* hashes = worker.hashesToFill();
      for (uint32_t i = 0; i < in_.rowCount; ++i)
         hashes[i] = rowHash(inputRows_[i]);
      if (isChunked() && chunkShape_.kind != shape_.kind) {
         job_->found().load(firstRow_, in_.rowCount, foundNow_);
         worker.noteFound(foundNow_, shape_.kind == JoinKind::Single);
      }
   }
   hasMore_ = worker.process(context, in_, out) == OperatorStatus::HaveOutput;
   if (isChunked()) noteChunk(!hasMore_, out);
}

/// Adds the matches of in_'s rows in this chunk to those of earlier chunks.
void Worker::noteChunk(bool isEndOfBatch, Batch& out) {
   const uint32_t count = in_.rowCount;
   if (emitsPairs()) {
      if (chunkShape_.kind == shape_.kind || !isEndOfBatch) return;
      job_->found().store(firstRow_, count, foundNow_);
      hasRest_ = job_->isLastChunk();
      return;
   }
   if (shape_.kind != JoinKind::Semi && shape_.kind != JoinKind::Anti && shape_.kind != JoinKind::Mark) return;
   const HashJoinMatcher& worker = *chunkProber_;
   job_->found().load(firstRow_, count, foundNow_);
   if (shape_.kind == JoinKind::Semi) {
      uint32_t kept = 0;
      for (uint32_t i = 0; i < count; ++i) {
         kept_[kept] = static_cast<RowIndex>(i);
         kept += worker.found()[i] && !foundNow_[i];
      }
      out.selection = Selection::list(kept_, kept);
      job_->found().store(firstRow_, count, worker.found());
      return;
   }
   for (uint32_t i = 0; i < count; ++i)
      foundNow_[i] |= worker.found()[i];
   job_->found().store(firstRow_, count, foundNow_);
   if (shape_.kind == JoinKind::Mark) {
      job_->unknown().load(firstRow_, count, unknownNow_);
      for (uint32_t i = 0; i < count; ++i)
         unknownNow_[i] |= worker.unknown()[i];
      job_->unknown().store(firstRow_, count, unknownNow_);
   }
   out.setDense(0);
   if (job_->isLastChunk()) giveMarked(out);
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

} // namespace

HashJoinPartitions::HashJoinPartitions(const HashJoinShape& shape, HashJoinTable& table, HashJoinSpill& spill)
   : shape_(shape), chunkShape_(shape), table_(table), spill_(spill) {
   if (shape.kind == JoinKind::Anti) chunkShape_.nullAware = false; // giveMarked() looks at it, with the last chunk
   if (shape.kind == JoinKind::Left || shape.kind == JoinKind::Full || shape.kind == JoinKind::Single)
      chunkShape_.kind = JoinKind::Inner;
}

void HashJoinPartitions::prepare(QueryContext&) {
   table_.releaseRows();
   table_.releaseFilters();
   spill_.closeProbe();
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
