#include "tests/object_server/network_model.hpp"

#include <algorithm>

namespace ouzel::object_server {

namespace {

constexpr size_t sliceMax = 1 << 20;
constexpr double burstSeconds = 0.002, lateSeconds = 0.02;

double seconds(Clock::duration duration) {
   return std::chrono::duration<double>(duration).count();
}

Clock::duration ofSeconds(double value) {
   return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

} // namespace

/// The tokens for the first in line: half a millisecond's worth.
double SharedLane::slice() const {
   return std::clamp(settings_.cap * 0.0005, 4096.0, 1048576.0);
}

void SharedLane::refill() {
   const TimePoint now = Clock::now();
   // While bodies wait, a real network sends even if this process gets no core in time: grant the late tokens, too.
   const double burst = settings_.cap * (waiting_.empty() ? burstSeconds : lateSeconds);
   tokens_ = std::min(tokens_ + seconds(now - refilledAt_) * settings_.cap, std::max(slice(), burst));
   refilledAt_ = now;
}

void SharedLane::arm() {
   if (isArmed_ || waiting_.empty()) return;
   isArmed_ = true;
   const double missing = std::max(0.0, slice() - tokens_);
   loop_.wakeAt(refilledAt_ + ofSeconds(settings_.cap > 0 ? missing / settings_.cap : 0), id());
}

size_t SharedLane::take(uint64_t taker, size_t size) {
   if (settings_.cap <= 0) return size;
   if (!isGranting_) {
      refill();
      if (!waiting_.empty() || tokens_ < std::min(slice(), static_cast<double>(size))) {
         waiting_.push_back(taker);
         arm();
         return 0;
      }
   }
   const size_t granted = std::min({size, static_cast<size_t>(slice()), static_cast<size_t>(std::max(tokens_, 1.0))});
   tokens_ -= static_cast<double>(granted);
   isGranting_ = false; // one slice for each place in the line
   return granted;
}

void SharedLane::onReady(uint32_t) {
   isArmed_ = false;
   refill();
   while (!waiting_.empty() && (settings_.cap <= 0 || tokens_ >= slice())) {
      const uint64_t taker = waiting_.front();
      waiting_.pop_front();
      isGranting_ = true;
      loop_.wake(taker);
      isGranting_ = false;
   }
   arm();
}

double Pace::rateOf(const NetworkSettings& settings) {
   const double byLatency = settings.msPerMib > 0 ? 1048576.0 * 1000 / settings.msPerMib : 0;
   if (byLatency <= 0 || settings.perRequestCap <= 0) return std::max(byLatency, settings.perRequestCap);
   return std::min(byLatency, settings.perRequestCap);
}

size_t Pace::slice() const {
   if (rate_ <= 0) return sliceMax;
   return static_cast<size_t>(std::clamp(rate_ * 0.002, 1.0, static_cast<double>(sliceMax)));
}

TimePoint Pace::timeOf(uint64_t position) const {
   return rate_ > 0 ? begin_ + ofSeconds(static_cast<double>(position) / rate_) : begin_;
}

} // namespace ouzel::object_server
