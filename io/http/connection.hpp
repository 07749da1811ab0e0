#pragma once
#include <cstdint>
#include <memory>

#include "io/http/address_book.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"

namespace ouzel::io {

/// A connection to a server, plain or TLS. Owned by the exchange that uses it, or by the retriever while idle. The
/// destructor reports the end to the address book. Used by one thread.
struct Connection {
   Connection(std::shared_ptr<AddressBook> itsBook, const SocketAddress& itsAddress);
   ~Connection();
   Connection(const Connection&) = delete;
   Connection& operator=(const Connection&) = delete;

   int handle() const { return tls ? tls->handle() : socket.get(); }

   const std::shared_ptr<AddressBook> book; ///< shared with the retriever and the other connections to the host
   const SocketAddress address;
   FileDescriptor socket;               ///< plain connections only
   std::unique_ptr<Stream> tls;         ///< TLS connections only; owns the socket
   bool isConnected = false;            ///< the TLS handshake is complete, too
   uint32_t requests = 0;               ///< answers received over it
   int64_t idleSince = 0;               ///< steadyNanos()
   size_t receiveSize = receiveSizeMin; ///< most bytes of one receive (see Exchange::adaptReceive)
   static constexpr size_t receiveSizeMin = 256 << 10, receiveSizeMax = 4 << 20;
};

} // namespace ouzel::io
