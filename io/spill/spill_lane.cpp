#include "io/spill/spill_lane.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"

namespace ouzel::io {

namespace {

constexpr std::align_val_t directAlignment{4096};
/// A lane's places in a file are so long, so that it writes one behind the other and devices take turns.
constexpr size_t extentBytes = size_t{1} << 20;
/// Requests end at such a border when they can: less than a device's physical block would have to be read first.
constexpr uint64_t physicalBytes = 4096;

bool overlaps(SpillExtent a, SpillExtent b) {
   return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

void sleepUntil(int64_t nanos) {
   if (const int64_t left = nanos - steadyNanos(); left > 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

} // namespace

void AlignedDelete::operator()(std::byte* bytes) const {
   ::operator delete[](bytes, directAlignment);
}
AlignedBytes allocateAligned(size_t bytes) {
   return AlignedBytes(static_cast<std::byte*>(::operator new[](bytes, directAlignment)));
}

SpillLane::SpillLane(SpillManager::State& manager)
   : manager_(manager), ring_(areaCount), nextDevice_(manager.nextDevice.fetch_add(1, std::memory_order_relaxed)) {
   for (Area& area : areas_)
      area.bytes = allocateAligned(areaBytes);
   scratch_.resize(unitBytesMax);
}
SpillLane::~SpillLane() = default;

SpilledPage SpillLane::write(SpillSpace::State& space, std::span<const std::span<const std::byte>> parts,
                             size_t rawBytes) {
   reap(false);
   // Between pages, not inside one: what follows begins at a border of the physical blocks.
   if (area_ && areaBytes - area_->used < unitBound(std::min(rawBytes, unitBytesMax), physicalBytes)) submitArea(true);
   openExtent(space, rawBytes);
   const uint64_t begin = cursor_;
   const size_t block = file_->blockBytes();
   const int wanted = space.policy.level;
   size_t part = 0, skip = 0;
   uint32_t level = 0;
   for (size_t done = 0; done < rawBytes;) {
      const size_t unit = std::min(rawBytes - done, unitBytesMax);
      if (area_ && areaBytes - area_->used < unitBound(unit, block)) submitArea(false);
      if (!area_) openArea();
      level = wanted == SpillPolicy::regulated ? 3 : static_cast<uint32_t>(wanted);
      const size_t stored =
          encoder_.encode(gather(parts, part, skip, unit), cursor_, block, level, area_->bytes.get() + area_->used);
      area_->used += stored;
      cursor_ += stored;
      done += unit;
   }
   const SpillLocator locator{device_, {begin, cursor_ - begin}};
   space.pagesWritten.fetch_add(1, std::memory_order_relaxed);
   space.rawBytesWritten.fetch_add(rawBytes, std::memory_order_relaxed);
   space.bytesWritten.fetch_add(locator.extent.size, std::memory_order_relaxed);
   space.pagesByLevel[level].fetch_add(1, std::memory_order_relaxed);
   file_->device().rawBytesWritten.fetch_add(rawBytes, std::memory_order_relaxed);
   file_->device().bytesWritten.fetch_add(locator.extent.size, std::memory_order_relaxed);
   return {locator.packed(), static_cast<uint32_t>(rawBytes)};
}

/// The next `bytes` bytes of the parts in one piece.
std::span<const std::byte> SpillLane::gather(std::span<const std::span<const std::byte>> parts, size_t& part,
                                             size_t& skip, size_t bytes) {
   for (; skip == parts[part].size(); ++part)
      skip = 0;
   if (parts[part].size() - skip >= bytes) {
      const auto piece = parts[part].subspan(skip, bytes);
      skip += bytes;
      return piece;
   }
   for (size_t filled = 0; filled < bytes;) {
      if (skip == parts[part].size()) {
         ++part;
         skip = 0;
         continue;
      }
      const size_t size = std::min(parts[part].size() - skip, bytes - filled);
      std::memcpy(scratch_.data() + filled, parts[part].data() + skip, size);
      filled += size;
      skip += size;
   }
   return std::span(scratch_).first(bytes);
}

void SpillLane::openExtent(SpillSpace::State& space, size_t rawBytes) {
   if (space_ == &space && extent_.offset + extent_.size - cursor_ >= pageBound(rawBytes, file_->blockBytes())) return;
   closeExtent();
   const auto deviceCount = static_cast<uint32_t>(manager_.devices.size());
   for (uint32_t tried = 0;; ++tried) {
      const uint32_t device = nextDevice_++ % deviceCount;
      try {
         SpillFile& file = space.file(device);
         const size_t bound = pageBound(rawBytes, file.blockBytes());
         extent_ = file.allocate(bound, std::max(bound, extentBytes));
         file_ = &file;
         device_ = device;
         break;
      } catch (const SqlError& error) {
         // Another device may have space.
         if (error.state() != sqlstate::diskFull || tried + 1 == deviceCount) throw;
      }
   }
   space_ = &space;
   cursor_ = extent_.offset;
}

void SpillLane::closeExtent() {
   if (!space_) return;
   if (area_) submitArea(true);
   file_->free({cursor_, extent_.offset + extent_.size - cursor_});
   space_ = nullptr;
}

void SpillLane::openArea() {
   const auto isFree = [](const Area& area) { return area.space == nullptr; };
   auto it = std::find_if(areas_.begin(), areas_.end(), isFree);
   for (; it == areas_.end(); it = std::find_if(areas_.begin(), areas_.end(), isFree))
      reap(true);
   Area& area = *it;
   // What it may become at most; the extents of others are not touched.
   const uint64_t most = std::min<uint64_t>(areaBytes, extent_.offset + extent_.size - cursor_);
   space_->addPending({device_, {cursor_, most}, this});
   area.space = space_;
   area.file = file_;
   area.device = device_;
   area.offset = cursor_;
   area.used = area.written = area.padding = 0;
   area_ = &area;
}

void SpillLane::submitArea(bool pads) {
   Area& area = *std::exchange(area_, nullptr);
   const uint64_t toBorder = (physicalBytes - cursor_ % physicalBytes) % physicalBytes;
   const uint64_t padding = pads ? std::min(toBorder, extent_.offset + extent_.size - cursor_) : 0;
   DCHECK(area.used + padding <= areaBytes);
   std::memset(area.bytes.get() + area.used, 0, padding);
   area.used += padding;
   area.padding = padding; // no page's, free again when it was written
   cursor_ += padding;
   area.space->shrinkPending(device_, {area.offset, area.used});
   area.due = std::max(file_->device().writes.due(area.used), area.space->shares[device_].writes.due(area.used));
   prepareArea(area);
   ring_.submit();
}

void SpillLane::prepareArea(Area& area) {
   area.isInKernel = true;
   ring_.prepare({RingRequest::Kind::Write, area.file->descriptor(), area.bytes.get() + area.written,
                  static_cast<uint32_t>(area.used - area.written), area.offset + area.written,
                  static_cast<uint64_t>(&area - areas_.data())});
}

void SpillLane::reap(bool mustWait) {
   if (ring_.inFlight() > 0) {
      std::array<RingCompletion, areaCount> completions;
      const size_t count = ring_.reap(completions, mustWait ? 1 : 0);
      for (const RingCompletion& completion : std::span(completions).first(count)) {
         Area& area = areas_[completion.userData];
         area.isInKernel = false;
         int error = completion.result < 0    ? -completion.result
                     : completion.result == 0 ? EIO
                                              : TEST_POINT("spill.write");
         if (error == EINTR || error == EAGAIN)
            error = 0;
         else if (error == 0)
            area.written += static_cast<size_t>(completion.result);
         if (error != 0) {
            area.space->fail(area.device, "could not write to temporary file in directory", error);
            area.due = 0;
            area.written = area.used;
         }
         if (area.written < area.used) prepareArea(area);
      }
   }
   // What the throttle still holds back.
   int64_t earliest = 0;
   for (const int64_t now = steadyNanos(); Area & area : areas_) {
      if (!area.space || area.isInKernel || &area == area_) continue;
      if (area.due <= now)
         release(area);
      else if (earliest == 0 || area.due < earliest)
         earliest = area.due;
   }
   const bool isAnyFree = std::any_of(areas_.begin(), areas_.end(), [](const Area& area) { return !area.space; });
   if (mustWait && !isAnyFree && ring_.inFlight() == 0 && earliest > 0) sleepUntil(earliest);
}

void SpillLane::release(Area& area) {
   area.file->free({area.offset + area.used - area.padding, area.padding});
   area.space->removePending(area.device, area.offset);
   area.space = nullptr;
}

void SpillLane::settle(SpillSpace::State& space, uint32_t device, SpillExtent extent) {
   if (area_ && area_->space == &space && area_->device == device && overlaps({area_->offset, area_->used}, extent))
      submitArea(true);
   const auto isBusy = [&](const Area& area) {
      return area.space == &space && &area != area_ && area.device == device &&
             overlaps({area.offset, area.used}, extent);
   };
   while (true) {
      const auto it = std::find_if(areas_.begin(), areas_.end(), isBusy);
      if (it == areas_.end()) return;
      if (!it->isInKernel) sleepUntil(it->due);
      reap(it->isInKernel);
   }
}

void SpillLane::forget(SpillSpace::State& space) {
   if (space_ == &space) {
      if (area_) release(*std::exchange(area_, nullptr));
      closeExtent();
   }
   const auto isBusy = [&](const Area& area) { return area.space == &space; };
   while (std::any_of(areas_.begin(), areas_.end(), isBusy)) {
      for (Area& area : areas_)
         if (isBusy(area)) area.due = 0;
      reap(ring_.inFlight() > 0);
   }
}

} // namespace ouzel::io
