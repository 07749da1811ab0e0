#include "tests/object_server/event_loop.hpp"

#include <cerrno>
#include <stdexcept>
#include <sys/epoll.h>

namespace ouzel::object_server {

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
   if (!epoll_) throw std::runtime_error("epoll_create1 failed");
}

Endpoint* EventLoop::add(std::unique_ptr<Endpoint> endpoint, int fd) {
   Endpoint* result = endpoint.get();
   result->id_ = ++lastId_;
   endpoints_[lastId_] = std::move(endpoint);
   if (fd < 0) return result;
   epoll_event event{};
   event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
   event.data.u64 = result->id_;
   if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) throw std::runtime_error("epoll_ctl failed");
   return result;
}

Endpoint* EventLoop::find(uint64_t id) const {
   const auto found = endpoints_.find(id);
   return found == endpoints_.end() ? nullptr : found->second.get();
}

void EventLoop::dispatch(uint64_t id, uint32_t events) {
   Endpoint* endpoint = find(id);
   if (!endpoint) return;
   endpoint->onReady(events);
   if (endpoint->isDone()) endpoints_.erase(id);
}

void EventLoop::waitForEvents() {
   epoll_event events[256];
   timespec timeout{};
   const timespec* limit = &timeout;
   if (turns_.empty() && timers_.empty()) {
      limit = nullptr;
   } else if (turns_.empty()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(timers_.top().time - Clock::now()).count();
      if (left > 0) timeout = {static_cast<time_t>(left / 1'000'000'000), left % 1'000'000'000};
   }
   const int count = ::epoll_pwait2(epoll_.get(), events, 256, limit, nullptr);
   if (count < 0 && errno != EINTR) throw std::runtime_error("epoll_pwait2 failed");
   now_ = Clock::now();
   for (int i = 0; i < count; ++i)
      dispatch(events[i].data.u64, events[i].events);
}

void EventLoop::run() {
   while (!isStopped_) {
      waitForEvents();
      while (!timers_.empty() && timers_.top().time <= now_) {
         const uint64_t id = timers_.top().id;
         timers_.pop();
         dispatch(id, 0);
      }
      for (size_t count = turns_.size(); count > 0; --count) {
         const uint64_t id = turns_.front();
         turns_.pop_front();
         dispatch(id, 0);
      }
   }
}

} // namespace ouzel::object_server
