#include "io/s3/request_governor.hpp"

#include <algorithm>
#include <cmath>

namespace ouzel::io {

namespace {
constexpr int64_t millisecond = 1'000'000;
constexpr int64_t epochMin = 50 * millisecond;
constexpr uint64_t samplesToJudge = 20; ///< with fewer samples the initial bounds hold
constexpr size_t bodySizeToMeasure = 64 << 10;
// Bounds before enough samples exist: AnyBlob's numbers for AWS, section 2.5, twice that for the body.
constexpr int64_t firstByteBoundAtFirst = 400 * millisecond, bodyBoundAtFirst = 1200 * millisecond;
constexpr int64_t boundMin = 20 * millisecond; ///< below it, a hedge costs more than it saves
} // namespace

void RunningQuantile::add(double value) {
   if (count_++ == 0) {
      value_ = value;
      return;
   }
   // Steps are larger at first. Steps up by q and down by 1-q balance at the value below which a share q of the samples
   // lies.
   const double step = value_ * (count_ < 50 ? 0.2 : 0.05);
   if (value > value_)
      value_ = std::min(value, value_ + step * quantile_);
   else
      value_ = std::max(value, value_ - step * (1 - quantile_));
}

void LatencyModel::add(size_t size, int64_t firstByteNanos, int64_t bodyNanos) {
   typicalFirstByte_.add(static_cast<double>(firstByteNanos));
   lateFirstByte_.add(static_cast<double>(firstByteNanos));
   if (size < bodySizeToMeasure) return;
   const double perByte = static_cast<double>(bodyNanos) / static_cast<double>(size);
   typicalPerByte_.add(perByte);
   latePerByte_.add(perByte);
}

void LatencyModel::addUnanswered(int64_t nanos) {
   lateFirstByte_.add(static_cast<double>(nanos));
}

int64_t LatencyModel::firstByteBound() const {
   if (lateFirstByte_.count() < samplesToJudge) return firstByteBoundAtFirst;
   return std::max(boundMin, static_cast<int64_t>(lateFirstByte_.value() * 2));
}

int64_t LatencyModel::totalBound(size_t size) const {
   if (latePerByte_.count() < samplesToJudge) return firstByteBound() + bodyBoundAtFirst;
   return firstByteBound() +
          std::max(boundMin, static_cast<int64_t>(latePerByte_.value() * 2 * static_cast<double>(size)));
}

void RequestGovernor::setLimit(double limit) {
   limit_ = static_cast<size_t>(std::clamp(std::round(limit), double{limitMin}, double{limitMax}));
   requestsUntilMeasuring_ = limit_ / 2;
}

void RequestGovernor::onFinished(size_t size, uint64_t received, int64_t now, const LatencyModel& latency) {
   if (epochStart_ == 0) {
      // The first answer after a pause only starts the epoch: its own time is latency, not throughput.
      epochStart_ = now;
      epochFirst_ = received;
      epochBytes_ = epochCount_ = 0;
      wasLimited_ = false;
      return;
   }
   if (requestsUntilMeasuring_ > 0) { // requests sent under the old limit do not measure the new one
      if (--requestsUntilMeasuring_ > 0) return;
      epochStart_ = now;
      epochFirst_ = received;
      return;
   }
   epochBytes_ += size;
   ++epochCount_;
   if (now - epochStart_ < epochMin || epochCount_ < std::max<uint64_t>(limit_ / 2, 8)) return;
   const double seconds = static_cast<double>(now - epochStart_) / 1e9;
   // Throughput counts bytes received, not bytes of finished requests: requests that begin together end together.
   const double throughput = static_cast<double>(received - epochFirst_) / seconds;
   bandwidth_ = std::max(throughput, bandwidth_ * 0.99 + throughput * 0.01);
   averageSize_ = static_cast<double>(epochBytes_) / static_cast<double>(epochCount_);
   // An epoch with too few requests to reach the limit does not measure the limit.
   if (wasLimited_) endEpoch(throughput, latency);
   epochStart_ = now;
   epochFirst_ = received;
   epochBytes_ = epochCount_ = 0;
   wasLimited_ = false;
}

void RequestGovernor::onThrottled(int64_t now) {
   if (now - throttledAt_ < 2 * epochMin) return;
   throttledAt_ = now;
   setLimit(static_cast<double>(limit_) * 0.7);
   phase_ = Phase::Cruising;
   cruiseEpochs_ = 0;
   cruiseThroughput_ = 0;
}

/// Takes the throughput of a whole epoch at the limit, and moves the phase and the limit on.
void RequestGovernor::endEpoch(double throughput, const LatencyModel& latency) {
   const double current = static_cast<double>(limit_);
   switch (phase_) {
   case Phase::Growing:
      if (throughput > cruiseThroughput_ * 1.1 && limit_ < limitMax) {
         cruiseThroughput_ = throughput;
         limitBefore_ = limit_;
         setLimit(current * 2);
         return;
      }
      if (averageSize_ > 0) {
         const auto before = static_cast<double>(limitBefore_);
         const double model =
             bandwidth_ * (latency.baseLatency() + averageSize_ * latency.dataLatency()) / 1e9 / averageSize_;
         setLimit(std::clamp(model * 1.5, before / 2, before));
      }
      phase_ = Phase::Cruising;
      cruiseEpochs_ = 0;
      cruiseThroughput_ = 0;
      return;
   case Phase::Cruising:
      cruiseThroughput_ += throughput;
      if (++cruiseEpochs_ < 3) return;
      cruiseThroughput_ /= cruiseEpochs_;
      limitBefore_ = limit_;
      triedMoreLast_ = !triedMoreLast_;
      phase_ = triedMoreLast_ ? Phase::TryingMore : Phase::TryingFewer;
      setLimit(triedMoreLast_ ? current * 1.25 : current * 0.8);
      return;
   case Phase::TryingMore:
   case Phase::TryingFewer:
      // A lower limit must reach the best throughput seen. Compared with the previous epochs instead, small losses
      // would add up.
      if (throughput < (phase_ == Phase::TryingMore ? cruiseThroughput_ * 1.03 : bandwidth_ * 0.99))
         limit_ = limitBefore_;
      phase_ = Phase::Cruising;
      cruiseEpochs_ = 0;
      cruiseThroughput_ = 0;
   }
}

} // namespace ouzel::io
