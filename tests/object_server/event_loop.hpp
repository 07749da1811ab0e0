#pragma once
// One thread over epoll: sockets that became ready, timers, and turns for those that have more to do.
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "tests/object_server/descriptor.hpp"

namespace ouzel::object_server {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// Something the loop calls. Owned by the loop from `add` until it says that it is done.
class Endpoint {
public:
   virtual ~Endpoint() = default;
   /// `events` as epoll has them (edge-triggered); 0 when a timer fired or a turn was asked for.
   virtual void onReady(uint32_t events) = 0;
   /// True: destroy it after the call.
   virtual bool isDone() const { return false; }
   uint64_t id() const { return id_; }

private:
   friend class EventLoop;
   uint64_t id_ = 0;
};

/// Single-threaded. Ids are never used again, so that a timer of an endpoint that is gone does nothing.
class EventLoop {
public:
   EventLoop();
   /// `fd` < 0: only timers and turns. Watches for reading, writing and the peer's end, on edges.
   Endpoint* add(std::unique_ptr<Endpoint> endpoint, int fd);
   void wakeAt(TimePoint time, uint64_t id) { timers_.push({time, id}); }
   /// In the next turn, after what is ready by then.
   void wakeSoon(uint64_t id) { turns_.push_back(id); }
   /// Now, from within another's call; not for its own caller.
   void wake(uint64_t id) { dispatch(id, 0); }
   Endpoint* find(uint64_t id) const;
   /// As of the turn's begin.
   TimePoint now() const { return now_; }
   /// Until stop().
   void run();
   void stop() { isStopped_ = true; }
   /// Destroy all endpoints.
   void clear() { endpoints_.clear(); }

private:
   struct Timer {
      TimePoint time;
      uint64_t id;
      bool operator<(const Timer& other) const { return time > other.time; } // the earliest on top
   };
   void dispatch(uint64_t id, uint32_t events);
   void waitForEvents();

   Descriptor epoll_;
   std::unordered_map<uint64_t, std::unique_ptr<Endpoint>> endpoints_;
   std::priority_queue<Timer> timers_;
   std::deque<uint64_t> turns_;
   TimePoint now_ = Clock::now();
   uint64_t lastId_ = 0;
   bool isStopped_ = false;
};

} // namespace ouzel::object_server
