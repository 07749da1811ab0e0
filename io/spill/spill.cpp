#include "io/spill/spill.hpp"

#include <algorithm>
#include <functional>
#include <thread>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "common/sync/mutex.hpp"
#include "io/file/file.hpp"
#include "io/spill/read_lane.hpp"
#include "io/spill/spill_lane.hpp"
#include "io/spill/spill_state.hpp"

// SpillManager's and SpillSpace's states. The manager hands lanes to threads. A space knows its files, the extents
// being written, and the first error of a write.

namespace ouzel::io {

SpillManager::State::State(SpillOptions options) : lanes(std::max<size_t>(4, 2 * std::thread::hardware_concurrency())) {
   if (options.memory) memory.emplace(*options.memory);
   if (options.encrypts) seal = std::make_unique<SpillSeal>();
   CHECK(!options.directories.empty() && options.directories.size() <= spillDevicesMax);
   for (const std::string& directory : options.directories) {
      makeDirectories(directory);
      auto& device = *devices.emplace_back(std::make_unique<SpillDevice>(directory));
      device.bytesMax = options.bytesMax;
      device.writes.throttle.setRate(options.writeRateMax);
      device.reads.throttle.setRate(options.readRateMax);
   }
}

SpillManager::State::~State() {
   for (auto& lane : lanes)
      delete lane.load();
}

SpillLane& SpillManager::State::lockLane() {
   // Threads begin at different lanes, and a thread stays at the lane that it found free.
   static std::atomic<size_t> threads{0};
   thread_local size_t preferred = threads.fetch_add(1, std::memory_order_relaxed);
   for (size_t tried = 0; tried < lanes.size(); ++tried) {
      auto& place = lanes[(preferred + tried) % lanes.size()];
      SpillLane* lane = place.load(std::memory_order_acquire);
      if (!lane) {
         const MutexLock guard(mutex);
         lane = place.load(std::memory_order_relaxed);
         if (!lane) {
            lane = new SpillLane(*this, static_cast<uint32_t>(&place - lanes.data()));
            place.store(lane, std::memory_order_release);
         }
      }
      if (lane->mutex.try_lock()) {
         preferred += tried;
         return *lane;
      }
   }
   SpillLane& lane = *lanes[preferred % lanes.size()].load(std::memory_order_acquire);
   lane.mutex.lock();
   return lane;
}

uint32_t SpillManager::State::activeLanes() const {
   constexpr int64_t lately = 50'000'000;
   const int64_t since = steadyNanos() - lately;
   uint32_t count = 0;
   for (const auto& place : lanes)
      if (const SpillLane* const lane = place.load(std::memory_order_acquire)) count += lane->lastUse() > since;
   return std::max(count, 1u);
}

void SpillManager::State::record(const SpillManager::Decision& decision) {
   constexpr size_t decisionsMax = 1024;
   const MutexLock guard(mutex);
   if (decisions.size() == decisionsMax) decisions.pop_front();
   decisions.push_back(decision);
}

std::vector<SpillManager::Decision> SpillManager::decisions() const {
   const MutexLock guard(state_->mutex);
   return {state_->decisions.begin(), state_->decisions.end()};
}

std::unique_ptr<ReadLane> SpillManager::State::takeReader() {
   {
      const MutexLock guard(mutex);
      if (!readers.empty()) {
         auto reader = std::move(readers.back());
         readers.pop_back();
         return reader;
      }
   }
   return std::make_unique<ReadLane>(seal.get());
}

void SpillManager::State::giveReader(std::unique_ptr<ReadLane> reader) {
   const MutexLock guard(mutex);
   if (readers.size() < lanes.size()) readers.push_back(std::move(reader));
}

SpillManager::SpillManager(SpillOptions options) : state_(std::make_unique<State>(std::move(options))) {}
SpillManager::~SpillManager() = default;

std::vector<SpillManager::Device> SpillManager::devices() const {
   std::vector<Device> result;
   for (const auto& device : state_->devices) {
      const auto of = [](const std::atomic<uint64_t>& count) { return count.load(std::memory_order_relaxed); };
      result.push_back({device->directory, of(device->bytesAllocated), of(device->bytesInUse),
                        of(device->rawBytesWritten), of(device->bytesWritten), of(device->rawBytesRead),
                        of(device->bytesRead), device->writes.bandwidth(), device->reads.bandwidth()});
   }
   return result;
}

void SpillManager::setRates(uint64_t writeRateMax, uint64_t readRateMax) {
   for (const auto& device : state_->devices) {
      device->writes.throttle.setRate(writeRateMax);
      device->reads.throttle.setRate(readRateMax);
   }
}

std::vector<std::string> spillLevelNames() {
   DCHECK(spillLevels().size() <= spillLevelsMax);
   std::vector<std::string> names;
   for (const SpillLevel& level : spillLevels())
      names.emplace_back(level.name);
   return names;
}

uint32_t SpilledPage::storedBytes() const {
   return static_cast<uint32_t>(SpillLocator::unpack(locator).extent.size);
}

SpillSpace::State::State(SpillManager::State& m, SpillPolicy p)
   : manager(m), policy(p), shares(m.devices.size()), files_(m.devices.size()) {
   CHECK(policy.level >= SpillPolicy::regulated && policy.level < static_cast<int>(spillLevels().size()));
   for (Share& share : shares) {
      share.writes.throttle.setRate(policy.writeRateMax);
      share.reads.throttle.setRate(policy.readRateMax);
   }
}

SpillFile& SpillSpace::State::file(uint32_t device) {
   const MutexLock guard(mutex_);
   auto& file = files_[device];
   if (!file) file = std::make_unique<SpillFile>(*manager.devices[device]);
   return *file;
}

void SpillSpace::State::fail(uint32_t device, const char* what, int error) {
   const MutexLock guard(mutex_);
   if (hasFailed_.load(std::memory_order_relaxed)) return;
   failedDevice_ = device;
   failedWhat_ = what;
   failedError_ = error;
   hasFailed_.store(true, std::memory_order_release);
}

void SpillSpace::State::throwIfFailed() {
   if (!hasFailed_.load(std::memory_order_acquire)) return;
   const MutexLock guard(mutex_);
   throwIoError(failedWhat_, manager.devices[failedDevice_]->directory, failedError_);
}

void SpillSpace::State::addPending(const Pending& pending) {
   const MutexLock guard(mutex_);
   pending_.push_back(pending);
}

std::vector<SpillSpace::State::Pending>::iterator SpillSpace::State::findPending(uint32_t device, uint64_t offset) {
   const auto it = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
      return pending.device == device && pending.extent.offset == offset;
   });
   CHECK(it != pending_.end());
   return it;
}

void SpillSpace::State::shrinkPending(uint32_t device, SpillExtent extent) {
   const MutexLock guard(mutex_);
   findPending(device, extent.offset)->extent.size = extent.size;
}

void SpillSpace::State::removePending(uint32_t device, uint64_t offset) {
   const MutexLock guard(mutex_);
   *findPending(device, offset) = pending_.back();
   pending_.pop_back();
}

void SpillSpace::State::awaitWrites(uint32_t device, SpillExtent extent) {
   const auto busyLane = [&]() -> SpillLane* {
      const MutexLock guard(mutex_);
      for (const Pending& pending : pending_)
         if (pending.device == device && pending.extent.offset < extent.offset + extent.size &&
             extent.offset < pending.extent.offset + pending.extent.size)
            return pending.lane;
      return nullptr;
   };
   while (SpillLane* const lane = busyLane()) {
      const MutexLock guard(lane->mutex);
      lane->awaitWrites(*this, device, extent);
   }
}

void SpillSpace::State::free(const SpilledPage& page) {
   const SpillLocator locator = SpillLocator::unpack(page.locator);
   if (locator.extent.size == 0) return;
   // A write in flight to a place that is reused could overwrite the newer one.
   awaitWrites(locator.device, locator.extent);
   file(locator.device).free(locator.extent);
}

SpillSpace::SpillSpace(SpillManager& manager, SpillPolicy policy)
   : state_(std::make_unique<State>(*manager.state_, policy)) {}

SpillSpace::~SpillSpace() {
   logSize();
   for (auto& place : state_->manager.lanes)
      if (SpillLane* const lane = place.load(std::memory_order_acquire)) {
         const MutexLock guard(lane->mutex);
         lane->forget(*state_);
      }
}

/// As PostgreSQL tells of a temporary file when it goes. These have no names.
void SpillSpace::logSize() const {
   const int64_t least = state_->policy.logBytesMin;
   if (least < 0) return;
   const uint64_t bytes = statistics().bytesWritten;
   if (bytes == 0 || bytes < static_cast<uint64_t>(least)) return;
   std::string directories;
   for (const auto& device : state_->manager.devices)
      directories += (directories.empty() ? "" : ", ") + device->directory;
   logLine(LogLevel::Log, "temporary file: in \"" + directories + "\", size " + std::to_string(bytes));
}

SpilledPage SpillSpace::write(std::span<const std::span<const std::byte>> parts) {
   size_t rawBytes = 0;
   for (const auto& part : parts)
      rawBytes += part.size();
   CHECK(rawBytes <= pageBytesMax);
   state_->throwIfFailed();
   if (rawBytes == 0) return {};
   if (const int error = TEST_POINT("spill.put"))
      throwIoError("could not write to temporary file in directory", state_->manager.devices[0]->directory, error);
   SpillLane& lane = state_->manager.lockLane();
   lane.mutex.assertHeld(); // lockLane() took it
   const MutexLock guard(lane.mutex, std::adopt_lock);
   return lane.write(*state_, parts, rawBytes);
}

void SpillSpace::free(const SpilledPage& page) {
   state_->free(page);
}

SpillStatistics SpillSpace::statistics() const {
   const State& s = *state_;
   SpillStatistics result;
   result.pagesWritten = s.pagesWritten.load(std::memory_order_relaxed);
   result.rawBytesWritten = s.rawBytesWritten.load(std::memory_order_relaxed);
   result.bytesWritten = s.bytesWritten.load(std::memory_order_relaxed);
   result.bytesRead = s.bytesRead.load(std::memory_order_relaxed);
   for (size_t level = 0; level < spillLevels().size(); ++level)
      result.pagesByLevel.push_back(s.pagesByLevel[level].load(std::memory_order_relaxed));
   return result;
}

} // namespace ouzel::io
