#pragma once
#include <cstdint>
#include <memory>

#include "io/http/address_book.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"

namespace ouzel::io {

/// A connection to a server, in use by one exchange or idle. Tells its address book when it goes. One thread.
struct Connection {
   Connection(std::shared_ptr<AddressBook> itsBook, const SocketAddress& itsAddress);
   ~Connection();
   Connection(const Connection&) = delete;
   Connection& operator=(const Connection&) = delete;

   int handle() const { return tls ? tls->handle() : socket.get(); }

   const std::shared_ptr<AddressBook> book; ///< shared with the retriever and the other connections to the host
   const SocketAddress address;
   FileDescriptor socket;               ///< plain
   std::unique_ptr<Stream> tls;         ///< or encrypted, and then the socket is its
   bool isConnected = false;            ///< handshake and all
   uint32_t requests = 0;               ///< answered over it
   int64_t idleSince = 0;               ///< steadyNanos()
   size_t receiveSize = receiveSizeMin; ///< of one operation that receives a body (see Exchange::adaptReceive)
   static constexpr size_t receiveSizeMin = 256 << 10, receiveSizeMax = 4 << 20;
};

} // namespace ouzel::io
