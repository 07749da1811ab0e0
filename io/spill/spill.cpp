#include "io/spill/spill.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "common/sync/mutex.hpp"
#include "io/spill/open_device.hpp"
#include "io/spill/read_lane.hpp"
#include "io/spill/spill_lane.hpp"
#include "io/spill/spill_state.hpp"

// SpillManager's and SpillSpace's states. The manager hands lanes to threads. A space knows its files, the extents
// being written, and the first error of a write.

namespace ouzel::io {

namespace {
constexpr size_t extentBytes = size_t{1} << 20; ///< as lanes write
}

SpillManager::State::State(SpillOptions options)
   : lanes(std::max<size_t>(4, 2 * std::thread::hardware_concurrency())), placement(options.targets.size()) {
   if (options.memory) memory.emplace(*options.memory);
   if (options.encrypts) seal = std::make_unique<SpillSeal>();
   CHECK(!options.targets.empty() && options.targets.size() <= spillDevicesMax);
   for (const std::string& target : options.targets) {
      auto& device = *devices.emplace_back(openSpillDevice(target));
      // Views and metrics tell devices by their names.
      for (size_t other = 0; other + 1 < devices.size(); ++other)
         if (devices[other]->name == device.name)
            throw SqlError(sqlstate::invalidParameterValue, "\"" + device.name + "\" is listed twice in --spill");
      if (device.bytesMax == 0) device.bytesMax = options.bytesMax;
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

std::optional<uint32_t> SpillManager::State::place(SpillSpace::State& space, uint64_t tried, size_t bytes) {
   const std::vector<double> costs = space.costs(bytes);
   std::array<Placement::Offer, spillDevicesMax> offers;
   for (uint32_t device = 0; device < devices.size(); ++device)
      offers[device] = {costs[device], devices[device]->isAvoided(), (tried >> device & 1) != 0,
                        space.usualCost(device, bytes)};
   const MutexLock guard(mutex);
   return placement.choose(std::span(offers).first(devices.size()), steadyNanos());
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
   return std::make_unique<ReadLane>(seal.get(), devices.size());
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
      result.push_back({device->name, of(device->bytesAllocated), of(device->bytesInUse), of(device->rawBytesWritten),
                        of(device->bytesWritten), of(device->rawBytesRead), of(device->bytesRead),
                        device->writes.bandwidth(), device->reads.bandwidth(), device->roundNanos(),
                        of(device->writeRequests), of(device->readRequests), of(device->failures),
                        of(device->readRounds), of(device->writeWaitNanos), of(device->readWaitNanos)});
   }
   return result;
}

double SpillManager::nanosPerByte() const {
   double cheapest = std::numeric_limits<double>::infinity();
   for (const auto& device : state_->devices) {
      if (device->isAvoided()) continue;
      const double usual = 1e9 / device->prior.bandwidth, write = device->writes.nanosPerByte(),
                   read = device->reads.nanosPerByte();
      const auto raw = static_cast<double>(device->rawBytesWritten.load(std::memory_order_relaxed)),
                 stored = static_cast<double>(device->bytesWritten.load(std::memory_order_relaxed));
      const double round = device->roundNanos() > 0 ? device->roundNanos() : device->prior.roundNanos;
      const double perByte = (write > 0 ? write : usual) + (read > 0 ? read : usual) + round / extentBytes;
      cheapest = std::min(cheapest, perByte * (raw > 0 ? std::min(stored / raw, 1.0) : 1.0));
   }
   return cheapest;
}

void SpillManager::setRates(uint64_t writeRateMax, uint64_t readRateMax, std::optional<uint32_t> device) {
   for (uint32_t each = 0; each < state_->devices.size(); ++each) {
      if (device && *device != each) continue;
      state_->devices[each]->writes.throttle.setRate(writeRateMax);
      state_->devices[each]->reads.throttle.setRate(readRateMax);
   }
}

const std::vector<std::string>& spillLevelNames() {
   DCHECK(spillLevels().size() <= spillLevelsMax);
   static const std::vector<std::string> names = [] {
      std::vector<std::string> all;
      for (const SpillLevel& level : spillLevels())
         all.emplace_back(level.name);
      return all;
   }();
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
   if (!file) file = manager.devices[device]->makeFile();
   return *file;
}

std::vector<TransferCost> SpillSpace::State::transferCosts() {
   std::vector<TransferCost> out(shares.size());
   const auto fill = [&](double TransferCost::*part, auto&& measured, auto&& prior) {
      for (uint32_t device = 0; device < out.size(); ++device) {
         double nanos = measured(device);
         // Not measured yet: as good as the best of its kind, so that it gets extents and is measured.
         for (uint32_t peer = 0; measured(device) == 0 && peer < out.size(); ++peer)
            if (const double its = measured(peer); its > 0 && prior(peer) == prior(device))
               nanos = nanos == 0 ? its : std::min(nanos, its);
         out[device].*part = nanos > 0 ? nanos : prior(device);
      }
   };
   const auto priorOf = [&](uint32_t device) { return manager.devices[device]->prior; };
   const auto byte = [&](uint32_t device) { return 1e9 / priorOf(device).bandwidth; };
   const auto round = [&](uint32_t device) { return priorOf(device).roundNanos; };
   fill(
       &TransferCost::writeNanosPerByte, [&](uint32_t device) { return writes(device).nanosPerByte(); }, byte);
   fill(
       &TransferCost::readNanosPerByte, [&](uint32_t device) { return reads(device).nanosPerByte(); }, byte);
   fill(
       &TransferCost::roundNanos, [&](uint32_t device) { return manager.devices[device]->roundNanos(); }, round);
   return out;
}

std::vector<double> SpillSpace::State::costs(size_t bytes) {
   std::vector<double> out;
   for (const TransferCost& cost : transferCosts())
      out.push_back(static_cast<double>(bytes) * (cost.writeNanosPerByte + cost.readNanosPerByte) + cost.roundNanos);
   return out;
}

TransferCost SpillSpace::transferCost() const {
   const std::vector<double> costs = state_->costs(extentBytes);
   const std::vector<TransferCost> all = state_->transferCosts();
   size_t cheapest = 0;
   for (size_t device = 1; device < all.size(); ++device) {
      const bool wasAvoided = state_->manager.devices[cheapest]->isAvoided();
      const bool isAvoided = state_->manager.devices[device]->isAvoided();
      if (isAvoided == wasAvoided ? costs[device] < costs[cheapest] : wasAvoided) cheapest = device;
   }
   return all.empty() ? TransferCost{} : all[cheapest];
}

double SpillSpace::State::usualCost(uint32_t device, size_t bytes) const {
   // A query's own rate is no bad time of the device.
   if (policy.writeRateMax > 0 || policy.readRateMax > 0) return 0;
   const SpillDevice::Prior& prior = manager.devices[device]->prior;
   return 2 * static_cast<double>(bytes) * 1e9 / prior.bandwidth + prior.roundNanos;
}

void SpillSpace::State::fail(uint32_t device, int error) {
   const MutexLock guard(mutex_);
   if (hasFailed_.load(std::memory_order_relaxed)) return;
   failedDevice_ = device;
   failedError_ = error;
   hasFailed_.store(true, std::memory_order_release);
}

void SpillSpace::State::throwIfFailed() {
   if (!hasFailed_.load(std::memory_order_acquire)) return;
   const MutexLock guard(mutex_);
   manager.devices[failedDevice_]->throwFailure(SpillDevice::Doing::Write, failedError_);
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
      const int64_t before = steadyNanos();
      {
         const MutexLock guard(lane->mutex); // its thread may be waiting, too
         lane->awaitWrites(*this, device, extent);
      }
      manager.devices[device]->countWriteWait(static_cast<uint64_t>(steadyNanos() - before));
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
   std::string names;
   for (const auto& device : state_->manager.devices)
      names += (names.empty() ? "" : ", ") + device->name;
   logLine(LogLevel::Log, "temporary file: in \"" + names + "\", size " + std::to_string(bytes));
}

SpilledPage SpillSpace::write(std::span<const std::span<const std::byte>> parts) {
   size_t rawBytes = 0;
   for (const auto& part : parts)
      rawBytes += part.size();
   CHECK(rawBytes <= pageBytesMax);
   state_->throwIfFailed();
   if (rawBytes == 0) return {};
   if (const int error = TEST_POINT("spill.put"))
      state_->manager.devices[0]->throwFailure(SpillDevice::Doing::Write, error);
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
