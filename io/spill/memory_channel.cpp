#include "io/spill/memory_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "io/spill/area_file.hpp"

namespace ouzel::io {

namespace {

/// Longest wait in one call, so that the caller can look whether its query was cancelled.
constexpr int64_t waitNanosMax = 100'000'000;

} // namespace

bool MemoryChannel::tryConnect(int& error) {
   // The server may have closed an idle connection, or have started anew.
   if (connection_ && requests_.empty() && connection_->isClosed()) connection_.reset();
   if (connection_) return true;
   connection_ = device_.open(error);
   if (!connection_) return false;
   // A round without bytes, so that the first choice of a device knows the distance.
   const int64_t begun = steadyNanos();
   const std::string_view ping[] = {"PING"};
   connection_->send(ping);
   RespConnection::Reply reply;
   if (!connection_->finish(begun + RespConnection::connectNanosMax) || !connection_->take(reply)) {
      error = connection_->error();
      device_.failed(error, connection_->reason());
      connection_.reset();
      return false;
   }
   device_.noteRound(steadyNanos() - begun + device_.address().delayNanos);
   return true;
}

void MemoryChannel::connect() {
   int error = 0;
   if (!tryConnect(error)) device_.throwFailure(SpillDevice::Doing::Create, error);
   if (device_.isDoubtful() && !device_.probe(error)) device_.throwFailure(SpillDevice::Doing::Write, error);
}

MemoryChannel::Request& MemoryChannel::queue(uint64_t userData, size_t size) {
   CHECK(hasRoom());
   int error = 0;
   const bool isConnected = tryConnect(error);
   Request& request = requests_.emplace_back();
   request.userData = userData;
   request.size = size;
   request.error = isConnected ? 0 : error;
   const int64_t delay = device_.address().delayNanos;
   request.due = delay > 0 ? steadyNanos() + delay : 0;
   return request;
}

void MemoryChannel::write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) {
   auto& ours = static_cast<AreaFile&>(file);
   ours.addArea({offset, bytes.size()});
   Request& request = queue(userData, bytes.size());
   if (request.error != 0) return;
   const std::string key = device_.nameOf(ours.keyOf(offset));
   const std::string_view arguments[] = {"PSETEX", key, device_.ttlMillis()};
   connection_->send(arguments, bytes);
   request.replies = 1;
   device_.countWrites(1);
}

void MemoryChannel::read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) {
   auto& ours = static_cast<AreaFile&>(file);
   Request& request = queue(userData, extent.size);
   if (request.error != 0) return;
   size_t there = 0;
   for (const AreaFile::Part& part : ours.parts(extent)) {
      const std::string key = device_.nameOf(ours.keyOf(part.area));
      const std::string first = std::to_string(part.inArea.offset);
      const std::string last = std::to_string(part.inArea.offset + part.inArea.size - 1);
      const std::string_view arguments[] = {"GETRANGE", key, first, last};
      connection_->send(arguments, {}, {target + there, part.inArea.size});
      there += part.inArea.size;
      request.parts.push_back(part.inArea.size);
      ++request.replies;
   }
   if (there != extent.size) request.error = EIO;
   device_.countReads(request.replies);
}

void MemoryChannel::submit() {
   if (!requests_.empty()) takeReplies();
}

void MemoryChannel::takeReplies() {
   if (!connection_) return;
   const bool isWhole = connection_->progress();
   for (RespConnection::Reply reply; connection_->take(reply);)
      takeReply(reply);
   const auto isWaiting = [](const Request& request) { return request.replies > 0; };
   if (!isWhole)
      failAll(connection_->error(), connection_->reason());
   else if (steadyNanos() - connection_->lastMove() > RespConnection::patienceNanos &&
            std::any_of(requests_.begin(), requests_.end(), isWaiting))
      failAll(ETIMEDOUT, "");
}

void MemoryChannel::takeReply(const RespConnection::Reply& reply) {
   const auto it =
       std::find_if(requests_.begin(), requests_.end(), [](const Request& request) { return request.replies > 0; });
   CHECK(it != requests_.end());
   --it->replies;
   size_t expected = 0;
   if (!it->parts.empty()) {
      expected = it->parts.front();
      it->parts.pop_front();
   }
   if (!reply.error.empty()) {
      it->error = MemoryDevice::errorOf(reply.error);
      device_.failed(it->error, reply.error);
   } else if (reply.size != expected && it->error == 0) {
      it->error = ENODATA; // the key has expired or was evicted
      device_.failed(ENODATA, "pages are gone: the server has started anew or evicts keys");
   }
}

void MemoryChannel::failAll(int error, std::string_view reason) {
   connection_.reset();
   bool hasLost = false; // else the server has closed the connection after its last reply, which it may
   for (Request& request : requests_)
      if (std::exchange(request.replies, 0) > 0) {
         request.error = error;
         hasLost = true;
      }
   if (hasLost) device_.failed(error, reason);
}

size_t MemoryChannel::complete(std::span<RingCompletion> completions) {
   size_t count = 0;
   const int64_t now = requests_.empty() || requests_.front().due == 0 ? 0 : steadyNanos();
   while (count < completions.size() && !requests_.empty()) {
      const Request& request = requests_.front();
      if (request.replies > 0 || (request.error == 0 && request.due > now)) break;
      completions[count++] = {request.userData,
                              request.error != 0 ? -request.error : static_cast<int32_t>(request.size)};
      requests_.pop_front();
   }
   return count;
}

size_t MemoryChannel::reap(std::span<RingCompletion> completions, bool mustWait) {
   const int64_t until = steadyNanos() + waitNanosMax;
   while (!requests_.empty()) {
      takeReplies();
      const size_t count = complete(completions);
      const int64_t now = steadyNanos();
      if (count > 0 || !mustWait || now >= until) return count;
      const Wait what = wait();
      const int64_t end = what.until > 0 ? std::min(what.until, until) : until;
      const int64_t left = std::max<int64_t>(end - now, 0);
      const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
      pollfd entry{what.handle, what.events, 0};
      ::ppoll(&entry, what.handle >= 0 ? 1 : 0, &timeout, nullptr);
   }
   return 0;
}

SpillChannel::Wait MemoryChannel::wait() const {
   const bool isAnswered = !requests_.empty() && requests_.front().replies == 0;
   if (isAnswered && (requests_.front().error != 0 || requests_.front().due <= steadyNanos())) return {};
   if (!connection_ && !isAnswered) return {};
   // A round that is simulated ends without anything to be received.
   return {connection_ ? connection_->handle() : -1, connection_ ? connection_->events() : int16_t{0},
           isAnswered ? requests_.front().due : 0};
}

void MemoryChannel::abandon() {
   if (requests_.empty()) return;
   connection_.reset(); // replies that are under way belong to nobody
   requests_.clear();
}

} // namespace ouzel::io
