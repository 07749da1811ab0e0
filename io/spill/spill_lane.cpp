#include "io/spill/spill_lane.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <poll.h>
#include <thread>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/thread/interruption.hpp"
#include "io/spill/spill_tally.hpp"

namespace ouzel::io {

namespace {

constexpr std::align_val_t directAlignment{4096};
/// Size of a lane's extents: a lane writes its areas one behind the other in an extent, and takes the next extent from
/// the device that Placement chooses.
constexpr size_t extentBytes = size_t{1} << 20;
constexpr size_t leftBytes = size_t{4} << 20; // of the ledger, by staging areas that are not needed
/// Most bytes between two borders of any device (SpillFile::borderBytes).
constexpr uint64_t borderBytesMax = 4096;

/// Most time between two pages that counts as work: after a longer pause the thread did something else.
constexpr int64_t pauseNanos = 100'000'000;
/// A completion seen within this time after it was due measures the device's speed.
constexpr int64_t exactNanos = 200'000;
/// Most time in one wait for several channels: each then looks after its own time limits.
constexpr int64_t pollNanosMax = 100'000'000;
constexpr size_t calibrationAreas = 16;
constexpr uint32_t calibrationBytes = 128 << 10;
/// Small reads, one after the other, of which the fastest counts. A far device gets fewer.
constexpr size_t calibrationRounds = 8;
constexpr int64_t calibrationRoundsNanos = 20'000'000;

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

SpillLane::SpillLane(SpillManager::State& manager, uint32_t number)
   : manager_(manager), number_(number), channels_(manager.devices.size()), encoder_(manager.seal.get()),
     perDevice_(manager.devices.size()) {
   scratch_.resize(unitBytesMax);
}
SpillLane::~SpillLane() = default;

SpilledPage SpillLane::write(SpillSpace::State& space, std::span<const std::span<const std::byte>> parts,
                             size_t rawBytes) {
   reap(false);
   // Submits the area between two pages, so that the next page begins at a border of physical blocks.
   if (area_ && areaBytes - area_->used < unitBound(std::min(rawBytes, unitBytesMax), borderBytesMax)) submitArea(true);
   openExtent(space, rawBytes);
   const uint64_t begin = cursor_;
   const size_t block = file_->blockBytes();
   PerDevice& own = perDevice_[device_];
   const uint32_t wanted =
       space.policy.level == SpillPolicy::regulated ? own.regulator.level() : static_cast<uint32_t>(space.policy.level);
   int64_t encodeNanos = 0;
   size_t part = 0, skip = 0;
   uint32_t level = 0;
   for (size_t done = 0; done < rawBytes;) {
      const size_t unit = std::min(rawBytes - done, unitBytesMax);
      if (area_ && areaBytes - area_->used < unitBound(unit, block)) submitArea(false);
      if (!area_) openArea();
      level = wanted;
      const int64_t before = steadyNanos();
      const size_t stored = encoder_.encode(gather(parts, part, skip, unit), {file_->number(), cursor_}, block, level,
                                            area_->bytes.get() + area_->used);
      encodeNanos += steadyNanos() - before;
      CHECK(area_->used + stored <= areaBytes);
      area_->used += stored;
      cursor_ += stored;
      done += unit;
   }
   CHECK(cursor_ <= extent_.offset + extent_.size); // the bytes behind the extent belong to another lane
   const SpillLocator locator{device_, {begin, cursor_ - begin}};
   space.pagesWritten.fetch_add(1, std::memory_order_relaxed);
   space.rawBytesWritten.fetch_add(rawBytes, std::memory_order_relaxed);
   space.bytesWritten.fetch_add(locator.extent.size, std::memory_order_relaxed);
   space.pagesByLevel[level].fetch_add(1, std::memory_order_relaxed);
   file_->device().rawBytesWritten.fetch_add(rawBytes, std::memory_order_relaxed);
   file_->device().bytesWritten.fetch_add(locator.extent.size, std::memory_order_relaxed);
   const int64_t now = steadyNanos();
   if (lastThread_ != std::this_thread::get_id()) {
      for (PerDevice& each : perDevice_)
         each.lastPage = 0;
      lastThread_ = std::this_thread::get_id();
   }
   lastUse_.store(now, std::memory_order_relaxed);
   // A long pause does not count as work.
   const int64_t elapsed = own.lastPage == 0 ? encodeNanos : now - own.lastPage - (waitedNanos_ - own.waitedAtLastPage);
   const int64_t work = std::clamp(elapsed, encodeNanos, encodeNanos + pauseNanos);
   own.lastPage = now;
   own.waitedAtLastPage = waitedNanos_;
   if (space.policy.level == SpillPolicy::regulated &&
       own.regulator.add(rawBytes, locator.extent.size, work, encodeNanos))
      regulate(space);
   return {locator.packed(), static_cast<uint32_t>(rawBytes)};
}

void SpillLane::regulate(SpillSpace::State& space) {
   PerDevice& own = perDevice_[device_];
   const int64_t now = steadyNanos();
   Flow& writes = space.writes(device_);
   // The lane waited for less than a fiftieth of the run, so the device may be faster than measured.
   if ((waitedNanos_ - own.waitedAtRunBegin) * 50 < now - own.runBegin) writes.doubt();
   own.runBegin = now;
   own.waitedAtRunBegin = waitedNanos_;
   if (space.reads(device_).bandwidth() == 0 && own.written.size() == calibrationAreas) calibrate(space);
   SpillManager::Decision decision{wallClockMicros(), number_, device_, own.regulator.level(), 0, 0, 0};
   Regulator::Surroundings around;
   around.writeBandwidth = writes.bandwidth();
   around.readBandwidth = space.reads(device_).bandwidth();
   around.lanes = manager_.activeLanes();
   around.readWork = manager_.readWork.load(std::memory_order_relaxed);
   const Regulator::Costs costs = own.regulator.decide(around);
   decision.levelAfter = own.regulator.level();
   decision.cpuNanos = costs.cpu;
   decision.ioNanos = costs.io;
   manager_.record(decision);
}

/// Measures how fast the device reads, by reading areas that were just written. Without it the read bandwidth is
/// unknown until the first query reads pages back, too late for that query's choice of levels. Takes some milliseconds,
/// once per device and process, and once per query with a read rate of its own.
void SpillLane::calibrate(SpillSpace::State& space) {
   const SpillTallyScope ofNobody(nullptr); // these reads are not of the operator's pages
   PerDevice& own = perDevice_[device_];
   Flow& reads = space.reads(device_);
   const auto channel = manager_.devices[device_]->makeChannel(calibrationAreas);
   const AlignedBytes bytes = allocateAligned(calibrationAreas * calibrationBytes);
   std::array<RingCompletion, calibrationAreas> completions;
   // A small read is the time of a round, or more while writes are in flight.
   const int64_t entered = steadyNanos();
   for (size_t i = 0; i < calibrationRounds && steadyNanos() - entered < calibrationRoundsNanos; ++i) {
      const int64_t asked = steadyNanos();
      channel->read(*file_, {own.written[i], file_->blockBytes()}, bytes.get(), 0);
      while (channel->reap(completions, true) == 0) {
      }
      if (completions[0].result > 0) manager_.devices[device_]->noteRound(steadyNanos() - asked);
   }
   const int64_t begun = steadyNanos();
   const uint64_t atBegin = reads.begin();
   int64_t due = 0;
   for (size_t i = 0; i < calibrationAreas; ++i) {
      channel->read(*file_, {own.written[i], calibrationBytes}, bytes.get() + i * calibrationBytes, i);
      due = space.readDue(device_, calibrationBytes);
   }
   uint64_t done = 0;
   for (size_t seen = 0; seen < calibrationAreas;) {
      const size_t count = channel->reap(std::span(completions).first(calibrationAreas - seen), true);
      for (const RingCompletion& completion : std::span(completions).first(count))
         done += completion.result > 0 ? static_cast<uint64_t>(completion.result) : 0;
      seen += count;
   }
   const int64_t ended = steadyNanos();
   sleepUntil(due);
   if (done == calibrationAreas * calibrationBytes) reads.finish(atBegin, begun, std::max(due, ended), done, true);
   waitedNanos_ += steadyNanos() - entered;
}

/// The next `bytes` bytes of the parts as one piece, copied only if they span parts.
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
   std::exception_ptr failure;
   bool isFull = false, hasAwaited = false;
   for (uint64_t tried = 0;;) {
      const std::optional<uint32_t> device = manager_.place(space, tried, extentBytes);
      if (!device) {
         if (!isFull || std::exchange(hasAwaited, true)) std::rethrow_exception(failure);
         for (const auto& each : manager_.devices)
            if (each->awaitSpace()) tried = 0;
         if (tried != 0) std::rethrow_exception(failure);
         continue;
      }
      bool isConnected = false;
      try {
         SpillFile& file = space.file(*device);
         const size_t bound = pageBound(rawBytes, file.blockBytes());
         auto& channel = channels_[*device];
         if (!channel) channel = manager_.devices[*device]->makeChannel(areaCount);
         channel->connect();
         isConnected = true;
         extent_ = file.allocate(bound, std::max(bound, extentBytes));
         file_ = &file;
         device_ = *device;
         break;
      } catch (const SqlError& error) {
         // Another device may take the extent. If none does, a full one tells more than one that has failed.
         const bool isThisFull = error.state() == sqlstate::diskFull;
         if (!isThisFull && error.state() != sqlstate::ioError) throw;
         if (isThisFull && isConnected)
            manager_.devices[*device]->refused();
         else if (!manager_.devices[*device]->isAvoided()) // else failed() knows
            manager_.devices[*device]->failed(isThisFull ? ENOSPC : EIO);
         if (!failure || (isThisFull && !isFull)) failure = std::current_exception();
         isFull = isFull || isThisFull;
         tried |= uint64_t{1} << *device;
      }
   }
   if (lastSpace_ != &space)
      for (PerDevice& each : perDevice_)
         each.written.clear(); // the offsets are of the last space's files
   lastSpace_ = space_ = &space;
   cursor_ = extent_.offset;
}

void SpillLane::closeExtent() {
   if (!space_) return;
   if (area_) submitArea(true);
   file_->free({cursor_, extent_.offset + extent_.size - cursor_});
   space_ = nullptr;
}

void SpillLane::openArea() {
   const auto isFree = [](const Area& area) { return area.space == nullptr && area.bytes; };
   auto it = std::find_if(areas_.begin(), areas_.end(), isFree);
   if (it == areas_.end()) {
      // Two areas are always allowed, since spilling must work when memory is short. More need a charge to the ledger,
      // and do not take its last bytes.
      const auto unmade = std::find_if(areas_.begin(), areas_.end(), [](const Area& area) { return !area.bytes; });
      if (unmade != areas_.end()) {
         unmade->isCharged = manager_.memory && manager_.memory->tryGrow(areaBytes + leftBytes);
         if (unmade->isCharged) manager_.memory->shrink(leftBytes);
         if (unmade->isCharged || !manager_.memory || unmade - areas_.begin() < 2) {
            unmade->bytes = allocateAligned(areaBytes);
            it = unmade;
         }
      }
   }
   for (; it == areas_.end(); it = std::find_if(areas_.begin(), areas_.end(), isFree)) {
      awaitArea();
      checkInterrupted();
   }
   Area& area = *it;
   // The area's largest size, within its extent. submitArea() reports the real size.
   const uint64_t most = std::min<uint64_t>(areaBytes, extent_.offset + extent_.size - cursor_);
   space_->addPending({device_, {cursor_, most}, this});
   area.space = space_;
   area.file = file_;
   area.device = device_;
   area.offset = cursor_;
   area.used = area.written = area.padding = 0;
   area.hasFailed = false;
   area_ = &area;
}

void SpillLane::awaitArea() {
   std::array<uint32_t, areaCount> devices{};
   size_t count = 0;
   for (const Area& area : areas_)
      if (area.space) devices[count++] = area.device;
   const int64_t before = steadyNanos();
   reap(true);
   const int64_t waited = steadyNanos() - before;
   waitedNanos_ += waited;
   // Any of the areas would have ended the wait, so each has an equal part of it.
   for (const uint32_t device : std::span(devices).first(count))
      manager_.devices[device]->countWriteWait(static_cast<uint64_t>(waited) / count);
}

void SpillLane::submitArea(bool pads) {
   Area& area = *std::exchange(area_, nullptr);
   const uint64_t border = area.file->borderBytes(), toBorder = (border - cursor_ % border) % border;
   // In a reused extent an area may not begin at a border. A full area may then have no room up to the next border.
   const uint64_t padding =
       pads ? std::min({toBorder, extent_.offset + extent_.size - cursor_, uint64_t{areaBytes - area.used}}) : 0;
   DCHECK(area.used + padding <= areaBytes);
   std::memset(area.bytes.get() + area.used, 0, padding);
   area.used += padding;
   area.padding = padding; // belongs to no page; freed when it is written
   cursor_ += padding;
   area.space->shrinkPending(device_, {area.offset, area.used});
   area.due = area.space->writeDue(device_, area.used);
   area.begun = steadyNanos();
   area.atBegin = area.space->writes(device_).begin();
   prepareArea(area);
   channels_[device_]->submit();
}

void SpillLane::prepareArea(Area& area) {
   DCHECK(!area.isInFlight);
   DCHECK(area.written < area.used);
   area.isInFlight = true;
   const std::span<const std::byte> bytes(area.bytes.get() + area.written, area.used - area.written);
   channels_[area.device]->write(*area.file, area.offset + area.written, bytes,
                                 static_cast<uint64_t>(&area - areas_.data()));
}

uint32_t SpillLane::inFlight() const {
   uint32_t sum = 0;
   for (const auto& channel : channels_)
      if (channel) sum += channel->inFlight();
   return sum;
}

size_t SpillLane::takeCompletions(bool mustWait) {
   size_t seen = 0;
   for (const auto& channel : channels_) {
      if (!channel || channel->inFlight() == 0) continue;
      std::array<RingCompletion, areaCount> completions;
      const size_t count = channel->reap(completions, mustWait);
      for (const RingCompletion& completion : std::span(completions).first(count)) {
         DCHECK(completion.userData < areas_.size());
         complete(areas_[completion.userData], completion.result);
      }
      seen += count;
   }
   return seen;
}

void SpillLane::complete(Area& area, int32_t result) {
   DCHECK(area.isInFlight);
   area.isInFlight = false;
   int error = result < 0 ? -result : result == 0 ? EIO : TEST_POINT("spill.write");
   if (error == EINTR || error == EAGAIN)
      error = 0;
   else if (error == 0)
      area.written += static_cast<size_t>(result);
   if (error != 0) {
      area.space->fail(area.device, error);
      area.hasFailed = true;
      area.due = 0;
      area.written = area.used;
   } else {
      manager_.devices[area.device]->succeeded();
   }
   if (area.written < area.used) prepareArea(area);
   area.ended = steadyNanos();
}

void SpillLane::waitForAny() {
   std::array<pollfd, spillDevicesMax> handles;
   nfds_t count = 0;
   int64_t until = steadyNanos() + pollNanosMax;
   for (const auto& channel : channels_) {
      if (!channel || channel->inFlight() == 0) continue;
      channel->submit();
      const SpillChannel::Wait wait = channel->wait();
      if (wait.handle < 0 && wait.until == 0) return;
      handles[count++] = {wait.handle, wait.events, 0};
      if (wait.until > 0) until = std::min(until, wait.until);
   }
   const int64_t left = std::max<int64_t>(until - steadyNanos(), 0);
   const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
   ::ppoll(handles.data(), count, &timeout, nullptr);
}

void SpillLane::reap(bool mustWait) {
   const int64_t before = steadyNanos();
   const auto isUsed = [](const auto& channel) { return channel && channel->inFlight() > 0; };
   if (const auto used = std::count_if(channels_.begin(), channels_.end(), isUsed); mustWait && used == 1)
      takeCompletions(true);
   else if (used > 0 && takeCompletions(false) == 0 && mustWait) {
      waitForAny();
      takeCompletions(false);
   }
   // Releases written areas unless the throttle delays them.
   int64_t earliest = 0;
   for (const int64_t now = steadyNanos(); Area & area : areas_) {
      if (!area.space || area.isInFlight || &area == area_) continue;
      // The end of a write is exact only if the lane was waiting for it.
      if (area.due <= now)
         release(area, area.due > 0 ? now - area.due < exactNanos : mustWait && now - before > exactNanos / 10);
      else if (earliest == 0 || area.due < earliest)
         earliest = area.due;
   }
   const bool isAnyFree =
       std::any_of(areas_.begin(), areas_.end(), [](const Area& area) { return !area.space && area.bytes; });
   if (mustWait && !isAnyFree && inFlight() == 0 && earliest > 0) sleepUntil(earliest);
}

void SpillLane::release(Area& area, bool isExact) {
   // The end of a request that failed tells nothing of the device's speed.
   if (area.begun > 0 && !area.hasFailed) {
      // A throttled area ended when it was due. The later time at which the lane looks would make a fast device seem
      // slow.
      area.space->writes(area.device)
          .finish(area.atBegin, area.begun, std::max(area.due, area.ended), area.used, isExact);
      auto& written = perDevice_[area.device].written;
      if (area.used >= calibrationBytes && area.space == space_) {
         if (written.size() == calibrationAreas) written.erase(written.begin());
         written.push_back(area.offset);
      }
   }
   area.begun = 0;
   area.file->free({area.offset + area.used - area.padding, area.padding});
   area.space->removePending(area.device, area.offset);
   area.space = nullptr;
}

void SpillLane::awaitWrites(SpillSpace::State& space, uint32_t device, SpillExtent extent) {
   if (area_ && area_->space == &space && area_->device == device && overlaps({area_->offset, area_->used}, extent))
      submitArea(true);
   const auto isBusy = [&, open = area_](const Area& area) {
      return area.space == &space && &area != open && area.device == device &&
             overlaps({area.offset, area.used}, extent);
   };
   while (true) {
      const auto it = std::find_if(areas_.begin(), areas_.end(), isBusy);
      if (it == areas_.end()) return;
      if (!it->isInFlight) sleepUntil(it->due);
      reap(it->isInFlight);
   }
}

void SpillLane::forget(SpillSpace::State& space) {
   if (lastSpace_ == &space) lastSpace_ = nullptr;
   if (space_ == &space) {
      if (area_) release(*std::exchange(area_, nullptr), false);
      closeExtent();
   }
   const auto isBusy = [&](const Area& area) { return area.space == &space; };
   while (std::any_of(areas_.begin(), areas_.end(), isBusy)) {
      for (Area& area : areas_)
         if (isBusy(area)) area.due = 0;
      reap(inFlight() > 0);
   }
   for (PerDevice& each : perDevice_) {
      each.written.clear();
      each.lastPage = 0;
   }
   // Areas give their memory back when a query ends.
   for (Area& area : areas_) {
      if (area.space || !area.bytes) continue;
      area.bytes.reset();
      if (std::exchange(area.isCharged, false)) manager_.memory->shrink(areaBytes);
   }
}

} // namespace ouzel::io
