#include "io/net/poller.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr uint64_t wakeUpTag = UINT64_MAX;
constexpr int eventsMax = 256;

uint32_t epollMask(Poller::Interest interest) {
   switch (interest) {
   case Poller::Interest::Input: return EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
   case Poller::Interest::Output: return EPOLLOUT | EPOLLONESHOT;
   case Poller::Interest::HangUp: return EPOLLRDHUP | EPOLLONESHOT;
   }
   return 0;
}

void control(const FileDescriptor& epoll, int operation, int fd, uint32_t mask, uint64_t tag) {
   epoll_event event{};
   event.events = mask;
   event.data.u64 = tag;
   if (epoll_ctl(epoll.get(), operation, fd, &event) != 0)
      throw SqlError(sqlstate::ioError, std::string("epoll_ctl: ") + std::strerror(errno));
}

} // namespace

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wakeUp_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
   if (!epoll_.isOpen() || !wakeUp_.isOpen())
      throw SqlError(sqlstate::ioError, std::string("epoll: ") + std::strerror(errno));
   control(epoll_, EPOLL_CTL_ADD, wakeUp_.get(), EPOLLIN, wakeUpTag);
}

void Poller::add(int fd, uint64_t tag, Interest interest) {
   control(epoll_, EPOLL_CTL_ADD, fd, epollMask(interest), tag);
}

void Poller::arm(int fd, uint64_t tag, Interest interest) {
   control(epoll_, EPOLL_CTL_MOD, fd, epollMask(interest), tag);
}

std::span<const Poller::Event> Poller::wait(int timeoutMs) {
   std::array<epoll_event, eventsMax> ready;
   const int count = epoll_wait(epoll_.get(), ready.data(), eventsMax, timeoutMs);
   events_.clear();
   for (int i = 0; i < count; ++i) {
      if (ready[i].data.u64 == wakeUpTag) {
         uint64_t ignored;
         [[maybe_unused]] const ssize_t got = read(wakeUp_.get(), &ignored, sizeof ignored);
         continue;
      }
      events_.push_back({ready[i].data.u64, (ready[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0});
   }
   return events_;
}

void Poller::wake() {
   const uint64_t one = 1;
   [[maybe_unused]] const ssize_t written = write(wakeUp_.get(), &one, sizeof one);
}

} // namespace ouzel::io
