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

/// The IP addresses of a host. The constructor resolves the name; a thread of the book resolves it again every minute,
/// so no request waits for the resolver. Addresses that fail or are slow compared with the others are avoided for a
/// while (AnyBlob, section 3.3: throughput-based resolver). Thread-safe.
class AddressBook {
public:
   /// Throws 58030 when the name cannot be resolved.
   AddressBook(std::string host, uint16_t port);

   /// The address for a new connection: the one with the fewest connections among the addresses that are not avoided.
   SocketAddress choose();
   void onConnected(const SocketAddress& address);
   void onClosed(const SocketAddress& address);
   void onFailure(const SocketAddress& address);
   /// Reports the speed at which a body arrived. Only bodies large enough to measure count.
   void onReceived(const SocketAddress& address, double bytesPerSecond);
   /// Whether idle connections to the address should be closed.
   bool isAvoided(const SocketAddress& address) const;

private:
   struct Entry {
      SocketAddress address;
      uint32_t connections = 0, failures = 0;
      uint32_t samples = 0;
      double bytesPerSecond = 0; ///< moving average
      int64_t avoidedUntil = 0;  ///< steadyNanos()
      int64_t seenAt = 0;        ///< when the resolver last returned it
   };
   std::vector<SocketAddress> resolve() const;
   int64_t refresh();
   Entry* find(const SocketAddress& address) REQUIRES(mutex_);
   double peerSpeed(const Entry& of) const REQUIRES(mutex_);

   const std::string host_;
   const uint16_t port_;
   mutable Mutex mutex_;
   std::vector<Entry> entries_ GUARDED_BY(mutex_);
   RepeatingTask resolver_;
};

} // namespace ouzel::io
