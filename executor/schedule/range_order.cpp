#include "executor/schedule/range_order.hpp"

#include <utility>

namespace ouzel::executor {

RangeOrder::RangeOrder(QueryContext& context, uint32_t ranges, size_t firstOrdered, size_t bytesMax)
   : context_(context), firstOrdered_(firstOrdered), bytesMax_(bytesMax), ranges_(ranges) {}

bool RangeOrder::mayAdd(uint32_t range) {
   return bytes_ < bytesMax_ || (range == turn_ && ranges_[range].batches.empty());
}

void RangeOrder::add(uint32_t range, std::unique_ptr<OwnedBatch> batch) {
   bytes_ += batch->arena.chunkBytes();
   ranges_[range].batches.push_back(std::move(batch));
}

bool RangeOrder::put(Writer& writer, uint32_t range, const Batch& batch) {
   if (!writer.builder) {
      std::vector<Representation> columns;
      for (const Vector& column : batch.columns) {
         writer.slots.push_back(static_cast<uint32_t>(columns.size()));
         columns.push_back({column.type, 0});
      }
      writer.builder =
          std::make_unique<BatchBuilder>(std::move(columns), context_.memory(), context_.settings().batchRows);
   }
   while (writer.taken < batch.liveRows()) {
      if (writer.builder->isEmpty() || writer.builder->isFull()) {
         bool wakes = false;
         {
            const MutexLock lock(mutex_);
            if (!mayAdd(range)) {
               areWritersWaiting_ = true;
               return false;
            }
            if (writer.builder->isFull()) {
               add(range, writer.builder->take());
               if (range == turn_) wakes = std::exchange(isReaderWaiting_, false);
            }
         }
         if (wakes) context_.wake();
      }
      writer.taken += writer.builder->append(batch, writer.slots, writer.taken);
   }
   writer.taken = 0;
   return true;
}

void RangeOrder::endRange(Writer& writer, uint32_t range) {
   bool wakes = false;
   {
      const MutexLock lock(mutex_);
      // put() had room for it when it began the batch; others may have filled that room since.
      if (writer.builder && !writer.builder->isEmpty()) add(range, writer.builder->take());
      DCHECK(!ranges_[range].hasEnded);
      ranges_[range].hasEnded = true;
      if (range == turn_) wakes = std::exchange(isReaderWaiting_, false);
   }
   if (wakes) context_.wake();
}

RangeOrder::Take RangeOrder::take(std::unique_ptr<OwnedBatch>& out) {
   out.reset();
   bool wakes = false;
   Take result = Take::Blocked;
   {
      const MutexLock lock(mutex_);
      // The range whose turn begins may have been refused before.
      for (; turn_ < ranges_.size() && ranges_[turn_].batches.empty() && ranges_[turn_].hasEnded; ++turn_)
         wakes = true;
      if (turn_ == ranges_.size()) return Take::Done;
      auto& batches = ranges_[turn_].batches;
      if (batches.empty()) {
         isReaderWaiting_ = true;
         wakes = true; // a batch of this range may have been refused
      } else {
         out = std::move(batches.front());
         batches.pop_front();
         bytes_ -= out->arena.chunkBytes();
         wakes |= bytes_ < bytesMax_;
         result = Take::Taken;
      }
      wakes = wakes && std::exchange(areWritersWaiting_, false);
   }
   if (wakes) context_.wake();
   return result;
}

} // namespace ouzel::executor
