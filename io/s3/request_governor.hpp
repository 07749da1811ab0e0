#pragma once
#include <cstddef>
#include <cstdint>

namespace ouzel::io {

/// Estimates a quantile of a stream of durations by steps toward it. Keeps no samples, and old ones fade.
class RunningQuantile {
public:
   explicit RunningQuantile(double quantile) : quantile_(quantile) {}
   void add(double value);
   double value() const { return value_; }
   uint64_t count() const { return count_; }

private:
   const double quantile_;
   double value_ = 0;
   uint64_t count_ = 0;
};

/// Learns how long requests take: the two latencies of the request model, and the bounds beyond which a request is a
/// straggler. Not thread-safe.
class LatencyModel {
public:
   /// Takes the times of one GET: to the first byte, and for its body of `size` bytes.
   void add(size_t size, int64_t firstByteNanos, int64_t bodyNanos);
   /// Takes a request that got no first byte in this time and was given up or overtaken.
   void addUnanswered(int64_t nanos);
   /// Nanoseconds to the first byte when no other request is under way.
   double baseLatency() const { return typicalFirstByte_.value(); }
   double dataLatency() const { return typicalPerByte_.value(); } ///< nanoseconds per byte
   /// Bounds in nanoseconds for the first byte and for the whole answer. A request that exceeds one is a straggler, as
   /// fewer than one in twenty do (AnyBlob, section 2.5).
   int64_t firstByteBound() const;
   int64_t totalBound(size_t size) const;

private:
   RunningQuantile typicalFirstByte_{0.2}, lateFirstByte_{0.95}, typicalPerByte_{0.2}, latePerByte_{0.95};
};

/// Finds how many requests should be under way at a time (limit()). Not thread-safe.
///
///     Growing --no more throughput--> Cruising --3 epochs--> TryingMore or TryingFewer --1 epoch--> Cruising
///
/// Growing doubles the limit while throughput rises. The limit is then the last one that raised throughput, or 1.5
/// times what the request model computes (throughput x (base latency + size x data latency) / size) if that is less:
/// more requests than the network needs share its bandwidth, so that data that is needed first comes late. TryingMore
/// and TryingFewer change the limit a little and keep the change if the measured throughput favours it. An epoch is a
/// span of at least 50 ms at one limit.
class RequestGovernor {
public:
   static constexpr size_t limitMin = 8, limitMax = 256, limitAtFirst = 24;

   size_t limit() const { return limit_; }
   /// Highest throughput seen lately in bytes per second; 0: not known.
   double bandwidth() const { return bandwidth_; }
   /// Reports that requests are waiting because of the limit.
   void onLimited() { wasLimited_ = true; }
   /// Reports a complete body of `size` bytes. `received`: bytes of all bodies so far, including incomplete ones.
   void onFinished(size_t size, uint64_t received, int64_t now, const LatencyModel& latency);
   /// Reports that the store asked for fewer requests (503, 429).
   void onThrottled(int64_t now);
   /// Reports that no request is under way: idle time must not count as an epoch.
   void onIdle() { epochStart_ = 0; }

private:
   void endEpoch(double throughput, const LatencyModel& latency);
   void setLimit(double limit);

   enum class Phase : uint8_t { Growing, Cruising, TryingMore, TryingFewer };
   Phase phase_ = Phase::Growing;
   size_t limit_ = limitAtFirst, limitBefore_ = limitAtFirst;
   double bandwidth_ = 0, cruiseThroughput_ = 0, averageSize_ = 0;
   uint32_t cruiseEpochs_ = 0;
   size_t requestsUntilMeasuring_ = 0; ///< requests that must finish before measuring goes on
   bool triedMoreLast_ = false, wasLimited_ = false;
   int64_t epochStart_ = 0, throttledAt_ = 0;
   uint64_t epochFirst_ = 0;                  ///< `received` at the epoch's start
   uint64_t epochBytes_ = 0, epochCount_ = 0; ///< of requests finished in the epoch
};

} // namespace ouzel::io
