#pragma once
// Limits how fast bytes are sent: a rate for each body, and a token bucket that all bodies of one direction share.
#include <deque>

#include "tests/object_server/event_loop.hpp"
#include "tests/object_server/settings.hpp"

namespace ouzel::object_server {

/// A smooth token bucket. Connections without tokens wait in line and are woken one after the other. A burst is at most
/// 2 ms worth of tokens, or 20 ms when the process was late because it had to wait for a core.
class SharedLane final : public Endpoint {
public:
   SharedLane(EventLoop& loop, const NetworkSettings& settings) : loop_(loop), settings_(settings) {}
   /// Takes up to `size` bytes now. 0: `id` is in line and will be woken.
   size_t take(uint64_t id, size_t size);
   /// Returns tokens that were taken and not used.
   void giveBack(size_t size) { tokens_ += static_cast<double>(size); }
   void onReady(uint32_t events) override;

private:
   double slice() const;
   void refill();
   void arm();

   EventLoop& loop_;
   const NetworkSettings& settings_;
   double tokens_ = 0;
   TimePoint refilledAt_{};
   std::deque<uint64_t> waiting_;
   bool isGranting_ = false, isArmed_ = false;
};

/// The pace of one body: a rate in bytes per second from a point in time on.
class Pace {
public:
   /// `rate` 0: unlimited.
   void start(TimePoint now, double rate) {
      begin_ = now;
      rate_ = rate;
   }
   /// The largest rate of one body, by the model.
   static double rateOf(const NetworkSettings& settings);
   /// Bytes to send at a time, so that a timer fires about every 2 ms.
   size_t slice() const;
   /// The time at which byte number `position` has arrived.
   TimePoint timeOf(uint64_t position) const;
   bool isLimited() const { return rate_ > 0; }

private:
   TimePoint begin_{};
   double rate_ = 0;
};

} // namespace ouzel::object_server
