#include "io/ring/socket_ring.hpp"

#include <algorithm>
#include <cerrno>
#include <liburing.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "io/net/socket.hpp"

namespace ouzel::io {

struct SocketRing::State {
   enum class Kind : uint8_t { Connect, Receive, Send, Poll };
   struct Operation {
      Kind kind;
      int fd;
      void* memory; ///< a connect's address
      size_t size;
      int flags; ///< flags of receive and send; a poll's events
      uint64_t userData;
   };

   FileDescriptor wakeUp{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

   State() {
      if (!wakeUp.isOpen()) throw SqlError(sqlstate::ioError, "could not create an event descriptor");
   }
   virtual ~State() = default;
   virtual bool isAsynchronous() const = 0;
   virtual void queue(const Operation& operation) = 0;
   virtual void cancel(uint64_t userData) = 0;
   virtual size_t wait(std::span<SocketCompletion> completions, int64_t timeoutNanos) = 0;
   void clearWakeUp() const {
      uint64_t count;
      static_cast<void>(!::read(wakeUp.get(), &count, sizeof count));
   }
};

// ---- io_uring

struct SocketRing::Uring final : SocketRing::State {
   static constexpr unsigned entries = 512;
   static constexpr uint64_t nobody = 0; ///< userData of completions that are ignored
   static constexpr uint64_t wakeUpData = UINT64_MAX;

   io_uring ring{};
   bool isWakeUpArmed = false;

   /// False: the kernel does not offer io_uring, or lacks a feature that wait() needs.
   bool open() {
      // With these flags the kernel does its part of the work inside wait() and interrupts no thread. Older kernels
      // refuse them.
      for (const unsigned flags : {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, 0U})
         if (::io_uring_queue_init(entries, &ring, flags) == 0) {
            isOpen_ = true;
            return (ring.features & IORING_FEAT_EXT_ARG) != 0;
         }
      return false;
   }
   ~Uring() override {
      if (isOpen_) ::io_uring_queue_exit(&ring);
   }
   bool isAsynchronous() const override { return true; }

   io_uring_sqe* entry() {
      io_uring_sqe* sqe = ::io_uring_get_sqe(&ring);
      while (sqe == nullptr) {
         ::io_uring_submit(&ring);
         sqe = ::io_uring_get_sqe(&ring);
      }
      return sqe;
   }

   void queue(const Operation& operation) override {
      io_uring_sqe* const sqe = entry();
      switch (operation.kind) {
      case Kind::Connect:
         ::io_uring_prep_connect(sqe, operation.fd, static_cast<const sockaddr*>(operation.memory),
                                 static_cast<socklen_t>(operation.size));
         break;
      case Kind::Receive:
         ::io_uring_prep_recv(sqe, operation.fd, operation.memory, operation.size, operation.flags);
         // The answer has not arrived when its receive is queued, so the kernel polls first.
         if ((operation.flags & MSG_WAITALL) == 0) sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
         break;
      case Kind::Send:
         ::io_uring_prep_send(sqe, operation.fd, operation.memory, operation.size, operation.flags);
         break;
      case Kind::Poll: ::io_uring_prep_poll_add(sqe, operation.fd, static_cast<unsigned>(operation.flags)); break;
      }
      ::io_uring_sqe_set_data64(sqe, operation.userData);
   }

   void cancel(uint64_t userData) override {
      io_uring_sqe* const sqe = entry();
      ::io_uring_prep_cancel64(sqe, userData, 0);
      ::io_uring_sqe_set_data64(sqe, nobody);
   }

   size_t wait(std::span<SocketCompletion> completions, int64_t timeoutNanos) override {
      if (!isWakeUpArmed) {
         io_uring_sqe* const sqe = entry();
         ::io_uring_prep_poll_add(sqe, wakeUp.get(), POLLIN);
         ::io_uring_sqe_set_data64(sqe, wakeUpData);
         isWakeUpArmed = true;
      }
      io_uring_cqe* first = nullptr;
      __kernel_timespec timeout{timeoutNanos / 1'000'000'000, timeoutNanos % 1'000'000'000};
      const int waited =
          ::io_uring_submit_and_wait_timeout(&ring, &first, 1, timeoutNanos < 0 ? nullptr : &timeout, nullptr);
      CHECK(waited >= 0 || waited == -ETIME || waited == -EINTR || waited == -EAGAIN || waited == -EBUSY);
      size_t count = 0;
      unsigned head, seen = 0;
      io_uring_cqe* cqe;
      io_uring_for_each_cqe(&ring, head, cqe) {
         if (count == completions.size()) break;
         ++seen;
         const uint64_t userData = ::io_uring_cqe_get_data64(cqe);
         if (userData == wakeUpData) {
            isWakeUpArmed = false;
            clearWakeUp();
         } else if (userData != nobody) {
            completions[count++] = {userData, cqe->res};
         }
      }
      ::io_uring_cq_advance(&ring, seen);
      return count;
   }

private:
   bool isOpen_ = false;
};

// ---- poll

struct SocketRing::Polled final : SocketRing::State {
   std::vector<Operation> pending;
   std::vector<SocketCompletion> finished; ///< completions that did not fit into wait()'s span
   std::vector<pollfd> descriptors;

   bool isAsynchronous() const override { return false; }

   void queue(const Operation& operation) override {
      if (operation.kind == Kind::Connect) {
         const int result = ::connect(operation.fd, static_cast<const sockaddr*>(operation.memory),
                                      static_cast<socklen_t>(operation.size));
         if (result == 0 || errno != EINPROGRESS) {
            finished.push_back({operation.userData, result == 0 ? 0 : -errno});
            return;
         }
      }
      pending.push_back(operation);
   }

   void cancel(uint64_t userData) override {
      const auto found =
          std::find_if(pending.begin(), pending.end(), [&](const Operation& o) { return o.userData == userData; });
      if (found == pending.end()) return;
      finished.push_back({userData, -ECANCELED});
      pending.erase(found);
   }

   /// Does the operation on a ready socket. False: the socket was not ready.
   static bool perform(const Operation& operation, int16_t events, int32_t& result) {
      ssize_t moved = 0;
      switch (operation.kind) {
      case Kind::Connect: {
         int error = 0;
         socklen_t size = sizeof error;
         ::getsockopt(operation.fd, SOL_SOCKET, SO_ERROR, &error, &size);
         result = -error;
         return true;
      }
      case Kind::Receive: moved = ::recv(operation.fd, operation.memory, operation.size, MSG_DONTWAIT); break;
      case Kind::Send:
         moved = ::send(operation.fd, operation.memory, operation.size, operation.flags | MSG_DONTWAIT);
         break;
      case Kind::Poll: result = events; return true;
      }
      if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return false;
      result = moved < 0 ? -errno : static_cast<int32_t>(moved);
      return true;
   }

   static int16_t eventsOf(const Operation& operation) {
      if (operation.kind == Kind::Poll) return static_cast<int16_t>(operation.flags);
      return operation.kind == Kind::Receive ? POLLIN : POLLOUT;
   }

   size_t wait(std::span<SocketCompletion> completions, int64_t timeoutNanos) override {
      descriptors.assign(1, {wakeUp.get(), POLLIN, 0});
      for (const Operation& operation : pending)
         descriptors.push_back({operation.fd, eventsOf(operation), 0});
      // Rounded up: a wait rounded down would end before its time again and again.
      const int timeoutMs =
          timeoutNanos < 0 ? -1 : static_cast<int>(std::min<int64_t>((timeoutNanos + 999'999) / 1'000'000, 1 << 30));
      ::poll(descriptors.data(), descriptors.size(), finished.empty() ? timeoutMs : 0);
      if (descriptors[0].revents != 0) clearWakeUp();
      size_t kept = 0;
      for (size_t i = 0; i < pending.size(); ++i) {
         int32_t result = 0;
         if (descriptors[i + 1].revents != 0 && perform(pending[i], descriptors[i + 1].revents, result))
            finished.push_back({pending[i].userData, result});
         else
            pending[kept++] = pending[i];
      }
      pending.resize(kept);
      const size_t count = std::min(finished.size(), completions.size());
      std::copy_n(finished.begin(), count, completions.begin());
      finished.erase(finished.begin(), finished.begin() + static_cast<ptrdiff_t>(count));
      return count;
   }
};

// ---- the interface

SocketRing::SocketRing(Backend backend) {
   if (backend == Backend::Automatic) {
      auto uring = std::make_unique<Uring>();
      if (uring->open()) {
         state_ = std::move(uring);
         return;
      }
      static std::once_flag once;
      std::call_once(once, [] {
         logLine(LogLevel::Warning, "io_uring is not available: requests to object stores wait with poll");
      });
   }
   state_ = std::make_unique<Polled>();
}

SocketRing::~SocketRing() = default;

bool SocketRing::isAsynchronous() const {
   return state_->isAsynchronous();
}

void SocketRing::connect(int fd, const sockaddr* address, socklen_t addressSize, uint64_t userData) {
   state_->queue({State::Kind::Connect, fd, const_cast<sockaddr*>(address), addressSize, 0, userData});
}

void SocketRing::receive(int fd, void* target, size_t size, bool all, uint64_t userData) {
   DCHECK(size > 0);
   state_->queue({State::Kind::Receive, fd, target, size, all ? MSG_WAITALL : 0, userData});
}

void SocketRing::send(int fd, const void* bytes, size_t size, uint64_t userData) {
   state_->queue({State::Kind::Send, fd, const_cast<void*>(bytes), size, MSG_NOSIGNAL, userData});
}

void SocketRing::poll(int fd, int16_t events, uint64_t userData) {
   state_->queue({State::Kind::Poll, fd, nullptr, 0, events, userData});
}

void SocketRing::cancel(uint64_t userData) {
   state_->cancel(userData);
}

size_t SocketRing::wait(std::span<SocketCompletion> completions, int64_t timeoutNanos) {
   return state_->wait(completions, timeoutNanos);
}

void SocketRing::wake() {
   const uint64_t one = 1;
   static_cast<void>(!::write(state_->wakeUp.get(), &one, sizeof one));
}

} // namespace ouzel::io
