#include "io/ring/ring.hpp"

#include <cerrno>
#include <deque>
#include <liburing.h>
#include <mutex>
#include <unistd.h>
#include <vector>

#include "common/error/check.hpp"
#include "common/log/log.hpp"

namespace ouzel::io {

namespace {

void sayUnavailable(int error) {
   static std::once_flag once;
   std::call_once(once, [&] {
      logLine(LogLevel::Warning,
              "io_uring is not available (error " + std::to_string(-error) + "): falling back to synchronous file I/O");
   });
}

int32_t runNow(const RingRequest& request) {
   while (true) {
      ssize_t result = 0;
      switch (request.kind) {
      case RingRequest::Kind::Read:
         result = ::pread(request.descriptor, request.buffer, request.size, static_cast<off_t>(request.offset));
         break;
      case RingRequest::Kind::Write:
         result = ::pwrite(request.descriptor, request.buffer, request.size, static_cast<off_t>(request.offset));
         break;
      case RingRequest::Kind::Sync: result = ::fdatasync(request.descriptor); break;
      }
      if (result >= 0) return static_cast<int32_t>(result);
      if (errno != EINTR) return -errno;
   }
}

} // namespace

struct Ring::State {
   uint32_t depth;
   bool isAsynchronous = false;
   io_uring ring{};
   uint32_t inFlight = 0;
   std::vector<RingRequest> queued;     // synchronous backend only
   std::deque<RingCompletion> finished; // synchronous
};

Ring::Ring(uint32_t depth, Backend backend) : state_(std::make_unique<State>()) {
   CHECK(depth > 0);
   state_->depth = depth;
   if (backend == Backend::Synchronous) return;
   const int error = ::io_uring_queue_init(depth, &state_->ring, 0);
   if (error == 0)
      state_->isAsynchronous = true;
   else
      sayUnavailable(error);
}

Ring::~Ring() {
   if (!state_->isAsynchronous) return;
   RingCompletion completion;
   while (state_->inFlight > 0)
      reap(std::span(&completion, 1), 1);
   ::io_uring_queue_exit(&state_->ring);
}

bool Ring::isAsynchronous() const {
   return state_->isAsynchronous;
}
int Ring::handle() const {
   return state_->isAsynchronous ? state_->ring.ring_fd : -1;
}
uint32_t Ring::inFlight() const {
   return state_->inFlight;
}
bool Ring::hasRoom() const {
   return state_->inFlight < state_->depth;
}

void Ring::prepare(const RingRequest& request) {
   State& s = *state_;
   CHECK(hasRoom());
   ++s.inFlight;
   if (!s.isAsynchronous) {
      s.queued.push_back(request);
      return;
   }
   io_uring_sqe* entry = ::io_uring_get_sqe(&s.ring);
   if (!entry) { // all slots hold requests that are queued but not submitted
      submit();
      entry = ::io_uring_get_sqe(&s.ring);
   }
   CHECK(entry != nullptr);
   switch (request.kind) {
   case RingRequest::Kind::Read:
      ::io_uring_prep_read(entry, request.descriptor, request.buffer, request.size, request.offset);
      break;
   case RingRequest::Kind::Write:
      ::io_uring_prep_write(entry, request.descriptor, request.buffer, request.size, request.offset);
      break;
   case RingRequest::Kind::Sync: ::io_uring_prep_fsync(entry, request.descriptor, IORING_FSYNC_DATASYNC); break;
   }
   ::io_uring_sqe_set_data64(entry, request.userData);
}

void Ring::submit() {
   State& s = *state_;
   if (!s.isAsynchronous) {
      for (const RingRequest& request : s.queued)
         s.finished.push_back({request.userData, runNow(request)});
      s.queued.clear();
      return;
   }
   int result;
   do {
      result = ::io_uring_submit(&s.ring);
   } while (result == -EINTR || result == -EAGAIN);
   CHECK(result >= 0);
}

size_t Ring::reap(std::span<RingCompletion> completions, uint32_t atLeast) {
   State& s = *state_;
   DCHECK(atLeast <= s.inFlight);
   submit();
   size_t count = 0;
   if (!s.isAsynchronous) {
      for (; count < completions.size() && !s.finished.empty(); s.finished.pop_front())
         completions[count++] = s.finished.front();
      s.inFlight -= static_cast<uint32_t>(count);
      return count;
   }
   while (count < completions.size()) {
      io_uring_cqe* entry = nullptr;
      const bool mustWait = count < atLeast;
      const int result = mustWait ? ::io_uring_wait_cqe(&s.ring, &entry) : ::io_uring_peek_cqe(&s.ring, &entry);
      if (result == -EINTR) continue;
      if (result == -EAGAIN) break;
      CHECK(result == 0);
      completions[count++] = {entry->user_data, entry->res};
      ::io_uring_cqe_seen(&s.ring, entry);
      --s.inFlight;
   }
   return count;
}

} // namespace ouzel::io
