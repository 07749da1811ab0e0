#include "io/http/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace ouzel::io {

Connection::Connection(std::shared_ptr<AddressBook> itsBook, const SocketAddress& itsAddress)
   : book(std::move(itsBook)), address(itsAddress),
     socket(::socket(itsAddress.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
   book->onConnected(address);
   const int one = 1;
   if (socket.isOpen()) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

Connection::~Connection() {
   book->onClosed(address);
}

} // namespace ouzel::io
