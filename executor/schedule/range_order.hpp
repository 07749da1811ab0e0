#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/pipeline/operator.hpp"

namespace ouzel::executor {

/// Brings the rows of ranges, which several lanes give at the same time, back into order. Lanes of ranges put copies of
/// their batches; the lane in order takes them, one range after the other. Thread-safe.
///
/// Bounded: a lane gets Blocked while the batches that wait have bytesMax, unless its range is the one whose turn it is
/// and the lane in order has nothing to take. So the lane in order can always go on.
class RangeOrder {
public:
   /// `firstOrdered`: the level of the pipeline (operator, or one more than the last operator: the sink) that takes the
   /// rows in order.
   RangeOrder(QueryContext& context, uint32_t ranges, size_t firstOrdered, size_t bytesMax);

   size_t firstOrdered() const { return firstOrdered_; }

   /// The part of one lane of ranges: the batch that it fills.
   struct Writer {
      std::unique_ptr<BatchBuilder> builder;
      std::vector<uint32_t> slots;
      uint32_t taken = 0; ///< live rows of the batch being put that have been copied
   };
   /// Copies the live rows of a batch of `range`. False: the lane is Blocked and puts the same batch again.
   bool put(Writer& writer, uint32_t range, const Batch& batch);
   /// The lane has put all rows of the range.
   void endRange(Writer& writer, uint32_t range);

   enum class Take : uint8_t { Taken, Blocked, Done };
   /// The next batch in order.
   Take take(std::unique_ptr<OwnedBatch>& out);

private:
   struct Range {
      std::deque<std::unique_ptr<OwnedBatch>> batches;
      bool hasEnded = false;
   };
   bool mayAdd(uint32_t range) REQUIRES(mutex_);
   void add(uint32_t range, std::unique_ptr<OwnedBatch> batch) REQUIRES(mutex_);

   QueryContext& context_;
   const size_t firstOrdered_, bytesMax_;
   Mutex mutex_;
   uint32_t turn_ GUARDED_BY(mutex_) = 0; // the range whose rows are taken
   std::vector<Range> ranges_ GUARDED_BY(mutex_);
   size_t bytes_ GUARDED_BY(mutex_) = 0; // of batches that wait
   bool isReaderWaiting_ GUARDED_BY(mutex_) = false;
   bool areWritersWaiting_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::executor
