#include "executor/operator/join/nested_loop_blocks.hpp"

#include <algorithm>

#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/join/nested_looper.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t blockBytesMin = size_t{64} << 10;

} // namespace

void NestedLoopLeft::clear() {
   const MutexLock lock(mutex_);
   builders_.clear();
   rows_.clear();
}

BatchBuilder& NestedLoopLeft::open(QueryContext& context) {
   const MutexLock lock(mutex_);
   return *builders_.emplace_back(std::make_unique<BatchBuilder>(rows_.makeBuilder(columns_, context)));
}

void NestedLoopLeft::add(BatchBuilder& builder, const Batch& in) {
   for (uint32_t taken = 0; taken < in.liveRows();) {
      taken += builder.append(in, slots_, taken);
      if (builder.isFull()) rows_.add(builder.take());
   }
}

void NestedLoopLeft::close() {
   const MutexLock lock(mutex_);
   for (const auto& builder : builders_)
      if (auto batch = builder->take()) rows_.add(std::move(batch));
   builders_.clear();
}

/// One worker and its block: the block's batches in memory, each with flags per row about matches.
class NestedLoopBlocks::Worker final : public LocalState {
public:
   Worker(NestedLoopBlocks& blocks, QueryContext& context)
      : blocks_(blocks), looper_(blocks.shape_, blocks.right_, context), ahead_(blocks.left_.rows().memory(context)),
        aheadBytes_(chargeAhead(blocks.aheadBytes_)), left_(blocks.left_.rows(), context, false, aheadBytes_),
        right_(blocks.right_.buffer, context, false, aheadBytes_) {}
   SourceStatus next(QueryContext& context, Batch& out);

private:
   struct Part {
      std::unique_ptr<ColumnPage> page; ///< null: the store has the batch
      Batch batch;
      std::vector<uint8_t> found, unknown; ///< by row
   };
   bool load(QueryContext& context);
   /// Others may have taken the memory since prepare(). Without any, a reader asks for one page at a time.
   size_t chargeAhead(size_t bytes) {
      while (bytes > 0 && !ahead_.tryGrow(bytes))
         bytes /= 2;
      return bytes;
   }

   NestedLoopBlocks& blocks_;
   NestedLooper looper_;
   Reservation ahead_; ///< for what one of the readers reads ahead: the other does not read then
   const size_t aheadBytes_;
   BatchStore::Reader left_, right_;
   std::vector<Part> parts_;
   size_t part_ = 0;  ///< the part of the block that is being joined, or given by giveRest()
   size_t built_ = 0; ///< number of the current batch of the right side
   const Batch* builtBatch_ = nullptr;
   bool isLoaded_ = false, hasMore_ = false;
};

/// Load the next block. Batches are taken one by one, so that workers share the last batches evenly.
bool NestedLoopBlocks::Worker::load(QueryContext& context) {
   parts_.clear();
   BatchStore& rows = blocks_.left_.rows();
   std::vector<size_t> taken;
   for (size_t bytes = 0; bytes < blocks_.blockBytes_ && taken.size() < blocks_.blockBatches_;) {
      const MutexLock lock(blocks_.mutex_);
      if (blocks_.nextBatch_ == rows.batchCount()) break;
      taken.push_back(blocks_.nextBatch_++);
      bytes += rows.batchDiskBytes(taken.back()) + 2 * size_t{rows.batchRows(taken.back())};
   }
   left_.expect(taken);
   for (const size_t index : taken) {
      context.checkCancelled();
      Part& part = parts_.emplace_back();
      part.batch = left_.batch(index);
      part.page = left_.takePage(index);
      part.found.resize(part.batch.rowCount);
      part.unknown.resize(part.batch.rowCount);
   }
   part_ = built_ = 0;
   builtBatch_ = nullptr;
   isLoaded_ = !parts_.empty();
   if (isLoaded_) blocks_.blocks_.fetch_add(1, std::memory_order_relaxed);
   return isLoaded_;
}

SourceStatus NestedLoopBlocks::Worker::next(QueryContext& context, Batch& out) {
   out.setDense(0);
   if (!isLoaded_ && !load(context)) return SourceStatus::Done;
   const size_t builtCount = blocks_.right_.buffer.batchCount();
   if (built_ == builtCount) {
      // The block was joined with all of the right side.
      if (looper_.hasRest()) {
         DCHECK(part_ < parts_.size());
         Part& part = parts_[part_++];
         looper_.giveRest(part.batch, part.found.data(), part.unknown.data(), out);
      }
      if (!looper_.hasRest() || part_ == parts_.size()) isLoaded_ = false;
      return SourceStatus::HaveOutput;
   }
   if (!builtBatch_) {
      if (built_ == 0) right_.expect(0, builtCount);
      builtBatch_ = &right_.batch(built_);
   }
   Part& part = parts_[part_];
   if (!hasMore_) looper_.setPart(*builtBatch_, built_, part.found.data(), part.unknown.data());
   hasMore_ = looper_.process(context, part.batch, out) == OperatorStatus::HaveOutput;
   if (!hasMore_ && ++part_ == parts_.size()) {
      part_ = 0;
      ++built_;
      builtBatch_ = nullptr;
   }
   return SourceStatus::HaveOutput;
}

void NestedLoopBlocks::prepare(QueryContext& context) {
   {
      const MutexLock lock(mutex_);
      nextBatch_ = 0;
   }
   blockBytes_ = aheadBytes_ = 0;
   if (!right_.isSpilled) return;
   left_.close();
   left_.rows().spillRest();
   // Each worker has its part of the left side and of the memory, and reads all of the right side.
   const double workers = context.workers();
   NestedLoopSizes sizes;
   sizes.left = static_cast<double>(left_.rows().diskBytes().raw) / workers;
   sizes.right = static_cast<double>(right_.buffer.diskBytes().stored);
   sizes.rightMin = blockBytesMin;
   sizes.rightMax = sizes.right / static_cast<double>(std::max<size_t>(right_.buffer.batchCount(), 1)) *
                    static_cast<double>(io::SpillReader::pagesAheadMax);
   sizes.rightSlots = 2;
   // Some memory is for the batches that are being decoded, and for the flags of rows.
   sizes.memory =
       std::max(static_cast<double>(left_.rows().freeBytes(blockBytesMin)) * 7 / 8 / workers, 3.0 * blockBytesMin);
   const NestedLoopPlan plan =
       planNestedLoop(sizes, tauBytes(context.spill().transferCost()), context.settings().memory.leftShare);
   blockBytes_ = std::max(static_cast<size_t>(plan.leftPart), blockBytesMin);
   aheadBytes_ = static_cast<size_t>(plan.rightPart);
   // Per block: its rows, and all of the right side.
   const double blocks = plan.blocks * workers;
   const size_t leftBytes = left_.rows().diskBytes().stored, rightBytes = right_.buffer.diskBytes().stored;
   const auto ofBlock = [&](size_t all) { return static_cast<size_t>(static_cast<double>(all) / blocks); };
   Transfers block = reading(std::max<size_t>(1, ofBlock(left_.rows().batchCount())), ofBlock(leftBytes), aheadBytes_);
   block += reading(right_.buffer.batchCount(), rightBytes, aheadBytes_);
   expected_ = {block.volume * blocks, block.rounds * blocks};
   blockBatches_ = (left_.rows().batchCount() + context.workers() - 1) / context.workers();
}

uint32_t NestedLoopBlocks::workersMax() const {
   if (!right_.isSpilled) return 0;
   return static_cast<uint32_t>(std::min<size_t>(left_.rows().batchCount(), 1024));
}

LocalStatePtr NestedLoopBlocks::makeLocal(QueryContext& context) {
   return std::make_unique<Worker>(*this, context);
}

SourceStatus NestedLoopBlocks::next(QueryContext& context, LocalState& local, Batch& out) {
   return static_cast<Worker&>(local).next(context, out);
}

void NestedLoopBlocks::describe(OperatorProfile& profile) const {
   if (!right_.isSpilled) return;
   left_.rows().describe(profile);
   profile.roundsExpected = expected_.rounds;
   profile.bytesExpected = expected_.volume;
   profile.notes.emplace_back("Blocks", std::to_string(blocks_.load()));
}

} // namespace ouzel::executor
