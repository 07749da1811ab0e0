#include "io/spill/memory_device.hpp"

#include <algorithm>

#include "common/log/log.hpp"
#include "io/spill/memory_channel.hpp"

namespace ouzel::io {

namespace {
constexpr size_t keysPerCommand = 256, renewalsPerRound = 16384;
} // namespace

MemoryDevice::MemoryDevice(MemoryAddress address)
   : AreaDevice(address.name, {1e9, 200'000.0 + static_cast<double>(address.delayNanos)}, ':'),
     address_(std::move(address)), ttlMillis_(std::to_string(uint64_t{address_.ttlSeconds} * 1000)),
     tls_(address_.usesTls ? std::make_unique<TlsClientContext>() : nullptr) {
   bytesMax = address_.bytesMax;
   const int64_t every = int64_t{address_.ttlSeconds} * 1000 / 3;
   renewal_.start(every, [this, every] {
      renewKeys();
      return every;
   });
}

MemoryDevice::~MemoryDevice() {
   renewal_.stop();
   stopRemoving();
}

std::unique_ptr<SpillChannel> MemoryDevice::makeChannel(uint32_t depth) {
   return std::make_unique<MemoryChannel>(*this, depth);
}

std::unique_ptr<RespConnection> MemoryDevice::open(int& error) {
   std::string reason;
   auto connection = RespConnection::open(address_, tls_.get(), error, reason);
   if (!connection) failed(error, reason);
   return connection;
}

int MemoryDevice::errorOf(const std::string& reply) {
   // -OOM: over the server's maxmemory.
   return reply.starts_with("OOM ") ? ENOSPC : reply.starts_with("NO") || reply.starts_with("WRONG") ? EACCES : EIO;
}

bool MemoryDevice::probe(int& error) {
   const auto connection = open(error); // the caller's may have requests under way
   if (!connection) return false;
   const std::string key = nameOf({UINT64_MAX, probes_.fetch_add(1, std::memory_order_relaxed) * 512});
   const std::string_view write[] = {"PSETEX", key, ttlMillis_, "probe"}, remove[] = {"UNLINK", key};
   connection->send(write);
   connection->send(remove);
   if (!connection->finish(steadyNanos() + RespConnection::connectNanosMax)) {
      failed(error = connection->error(), connection->reason());
      return false;
   }
   for (RespConnection::Reply reply; connection->take(reply);)
      if (!reply.error.empty()) {
         failed(error = errorOf(reply.error), reply.error);
         return false;
      }
   proven();
   return true;
}

bool MemoryDevice::removeNow(std::span<const std::string> names) {
   // The connection may be lost. The keys of a server that is gone expire, if it comes back.
   return tryRemove(names) || (!isStopping() && (tryRemove(names), true));
}

bool MemoryDevice::tryRemove(std::span<const std::string> names) {
   int error = 0;
   if (removing_ && removing_->isClosed()) removing_.reset();
   if (!removing_) removing_ = open(error);
   if (!removing_) return false;
   for (size_t at = 0; at < names.size(); at += keysPerCommand) {
      const auto some = names.subspan(at, std::min(keysPerCommand, names.size() - at));
      std::vector<std::string_view> arguments(some.size() + 1, "UNLINK");
      std::copy(some.begin(), some.end(), arguments.begin() + 1);
      removing_->send(arguments);
   }
   if (!removing_->finish(isStopping() ? steadyNanos() + RespConnection::connectNanosMax : 0)) {
      removing_.reset();
      return false;
   }
   for (RespConnection::Reply reply; removing_->take(reply);)
      if (!reply.error.empty())
         logLine(LogLevel::Warning, "could not remove temporary pages from \"" + name + "\": " + reply.error);
   return true;
}

void MemoryDevice::renewKeys() {
   const std::vector<AreaKey> all = keys();
   if (all.empty()) return;
   int error = 0;
   const auto connection = open(error);
   if (!connection) return;
   for (size_t at = 0; at < all.size(); at += renewalsPerRound) {
      for (const AreaKey key : std::span(all).subspan(at, std::min(renewalsPerRound, all.size() - at))) {
         const std::string text = nameOf(key);
         const std::string_view arguments[] = {"PEXPIRE", text, ttlMillis_};
         connection->send(arguments);
      }
      if (!connection->finish()) return failed(connection->error(), connection->reason());
      for (RespConnection::Reply reply; connection->take(reply);) {
      }
   }
}

} // namespace ouzel::io
