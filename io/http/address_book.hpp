#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/thread/repeating_task.hpp"

namespace ouzel::io {

struct SocketAddress {
   sockaddr_storage storage{};
   socklen_t size = 0;
   const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
   int family() const { return storage.ss_family; }
   bool operator==(const SocketAddress& other) const;
};

/// The addresses behind a host's name. They are resolved by the constructor and again by a thread of its own every
/// minute, never on the way of a request; those that fail or are slow beside the others are left out for a while
/// (AnyBlob, section 3.3: throughput-based resolver). Thread-safe.
class AddressBook {
public:
   /// Throws 58030 when the name cannot be resolved.
   AddressBook(std::string host, uint16_t port);

   /// The address for a new connection: of those that do well the one with the fewest connections.
   SocketAddress choose();
   void onConnected(const SocketAddress& address);
   void onClosed(const SocketAddress& address);
   void onFailure(const SocketAddress& address);
   /// A body of some size came at so many bytes a second.
   void onReceived(const SocketAddress& address, double bytesPerSecond);
   /// True when the address does so badly that its idle connections should be closed.
   bool isAvoided(const SocketAddress& address) const;

private:
   struct Entry {
      SocketAddress address;
      uint32_t connections = 0, failures = 0;
      uint32_t samples = 0;
      double bytesPerSecond = 0; ///< moving average
      int64_t avoidedUntil = 0;  ///< steadyNanos()
      int64_t seenAt = 0;        ///< when a resolver last named it
   };
   std::vector<SocketAddress> resolve() const;
   int64_t refresh();
   Entry* find(const SocketAddress& address) REQUIRES(mutex_);
   double peerSpeed(const Entry& of) const REQUIRES(mutex_);

   const std::string host_;
   const uint16_t port_;
   mutable Mutex mutex_;
   std::vector<Entry> entries_ GUARDED_BY(mutex_); // under mutex_
   RepeatingTask resolver_;
};

} // namespace ouzel::io
