#pragma once
#include <cstddef>
#include <cstdint>

namespace ouzel::io {

/// A quantile of a stream of durations, by steps toward it: no memory, and what is old fades.
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

/// How long requests take: the request model's two latencies, and when one is a straggler. Not thread-safe.
class LatencyModel {
public:
   /// A GET's first byte came after, and its body of `size` bytes in, so many nanoseconds.
   void add(size_t size, int64_t firstByteNanos, int64_t bodyNanos);
   /// One that was given up or overtaken after so long without a first byte.
   void addUnanswered(int64_t nanos);
   /// Expected when nothing else is under way.
   double baseLatency() const { return typicalFirstByte_.value(); }
   double dataLatency() const { return typicalPerByte_.value(); } ///< per byte
   /// One that takes longer is a straggler: fewer than one in twenty do (AnyBlob, section 2.5).
   int64_t firstByteBound() const;
   int64_t totalBound(size_t size) const;

private:
   RunningQuantile typicalFirstByte_{0.2}, lateFirstByte_{0.95}, typicalPerByte_{0.2}, latePerByte_{0.95};
};

/// How many requests should be under way at a time. Begins with a guess and doubles while that brings more throughput.
/// Then it takes the last number that did, or what the request model says (throughput x (base latency + size x data
/// latency) / size) if that is less: more than the network takes share it, so that what is needed first comes late.
/// From then on it tries a little more and a little less and keeps what measurement favours. Not thread-safe.
class RequestGovernor {
public:
   static constexpr size_t limitMin = 8, limitMax = 256, limitAtFirst = 24;

   size_t limit() const { return limit_; }
   /// Highest lately seen, bytes per second; 0: nothing known.
   double bandwidth() const { return bandwidth_; }
   /// More requests were waiting than the limit lets go.
   void onLimited() { wasLimited_ = true; }
   /// A request's body of `size` bytes is complete. `received`: bytes since the beginning, also of bodies that are not.
   void onFinished(size_t size, uint64_t received, int64_t now, const LatencyModel& latency);
   /// The store asked for fewer requests (503, 429).
   void onThrottled(int64_t now);
   /// Nothing is under way any more: the time that follows measures nothing.
   void onIdle() { epochStart_ = 0; }

private:
   void endEpoch(double throughput, const LatencyModel& latency);
   void setLimit(double limit);

   enum class Phase : uint8_t { Growing, Cruising, TryingMore, TryingFewer };
   Phase phase_ = Phase::Growing;
   size_t limit_ = limitAtFirst, limitBefore_ = limitAtFirst;
   double bandwidth_ = 0, cruiseThroughput_ = 0, averageSize_ = 0;
   uint32_t cruiseEpochs_ = 0;
   size_t settling_ = 0; ///< requests to finish before measuring goes on
   bool triedMoreLast_ = false, wasLimited_ = false;
   int64_t epochStart_ = 0, throttledAt_ = 0;
   uint64_t epochFirst_ = 0;                  ///< `received` at its start
   uint64_t epochBytes_ = 0, epochCount_ = 0; ///< of requests that finished
};

} // namespace ouzel::io
