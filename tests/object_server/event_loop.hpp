#pragma once
// The event loop: one thread over epoll that serves ready sockets, timers, and endpoints that asked for another turn.
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

/// An object that the loop calls. The loop owns it from add() until isDone().
class Endpoint {
public:
   virtual ~Endpoint() = default;
   /// `events`: epoll's, edge-triggered; 0 for a timer or a requested turn.
   virtual void onReady(uint32_t events) = 0;
   /// True: the loop destroys the endpoint after the call.
   virtual bool isDone() const { return false; }
   uint64_t id() const { return id_; }

private:
   friend class EventLoop;
   uint64_t id_ = 0;
};

/// Used by one thread. Ids are never reused, so a timer of a destroyed endpoint has no effect.
class EventLoop {
public:
   EventLoop();
   /// Watches `fd` for reading, writing and the peer's end, edge-triggered. `fd` < 0: only timers and turns.
   Endpoint* add(std::unique_ptr<Endpoint> endpoint, int fd);
   void wakeAt(TimePoint time, uint64_t id) { timers_.push({time, id}); }
   /// Calls the endpoint in the next turn, behind the ready sockets.
   void wakeSoon(uint64_t id) { turns_.push_back(id); }
   /// Calls the endpoint at once. Not for the endpoint that is being called.
   void wake(uint64_t id) { dispatch(id, 0); }
   Endpoint* find(uint64_t id) const;
   /// The time at the beginning of the turn.
   TimePoint now() const { return now_; }
   /// Runs until stop().
   void run();
   void stop() { isStopped_ = true; }
   /// Destroys all endpoints.
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
