#include "io/net/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr int backlog = 1024;
constexpr int keepAliveIdleSeconds = 120, keepAliveIntervalSeconds = 30, keepAliveProbes = 4;

struct AddressDeleter {
   void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressDeleter>;

AddressList resolve(const std::string& host, uint16_t port) {
   addrinfo hints{};
   hints.ai_family = AF_UNSPEC;
   hints.ai_socktype = SOCK_STREAM;
   hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
   addrinfo* list = nullptr;
   const int error = getaddrinfo(host == "*" ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &list);
   if (error != 0)
      throw SqlError(sqlstate::ioError, "could not resolve \"" + host + "\": " + gai_strerror(error))
          .hint("--listen takes a name or an address of this machine, or \"*\".");
   return AddressList(list);
}

bool isLoopbackAddress(const sockaddr* address) {
   if (address->sa_family == AF_INET) {
      sockaddr_in v4;
      std::memcpy(&v4, address, sizeof v4);
      return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
   }
   if (address->sa_family == AF_INET6) {
      sockaddr_in6 v6;
      std::memcpy(&v6, address, sizeof v6);
      if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return v6.sin6_addr.s6_addr[12] == 127;
      return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
   }
   return false;
}

PeerAddress describe(const sockaddr* address, socklen_t length) {
   if (address->sa_family == AF_UNIX) return {"[local]", "[local]", 0, true, true};
   char host[NI_MAXHOST] = "?", service[NI_MAXSERV] = "?";
   getnameinfo(address, length, host, sizeof host, service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV);
   const bool bracket = address->sa_family == AF_INET6;
   return {(bracket ? "[" : "") + std::string(host) + (bracket ? "]:" : ":") + service, host,
           static_cast<uint16_t>(std::strtoul(service, nullptr, 10)), isLoopbackAddress(address), false};
}

void setOption(int fd, int level, int name, int value) {
   setsockopt(fd, level, name, &value, sizeof value);
}

void setConnectionOptions(int fd) {
   setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
   setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
   setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, keepAliveIdleSeconds);
   setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, keepAliveIntervalSeconds);
   setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, keepAliveProbes);
}

bool waitFor(int fd, short events, int timeoutMs) {
   pollfd entry{fd, events, 0};
   int ready;
   do
      ready = poll(&entry, 1, timeoutMs);
   while (ready < 0 && errno == EINTR);
   return ready > 0;
}

[[noreturn]] void throwPortInUse(const std::string& host, uint16_t port) {
   throw SqlError(sqlstate::objectInUse, "could not listen on \"" + host + "\", port " + std::to_string(port) + ": " +
                                             std::strerror(EADDRINUSE))
       .hint("Another server listens there. Stop it, or choose another port.");
}

/// A socket bound to each address of `host`.
std::vector<ListeningSocket> bindTcp(const std::string& host, uint16_t port) {
   std::vector<ListeningSocket> sockets;
   std::string reason = "no address";
   const AddressList list = resolve(host, port);
   for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
      FileDescriptor socket(::socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (!socket.isOpen()) {
         reason = std::strerror(errno);
         continue;
      }
      setOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
      // Each address family has its own socket: an IPv6 socket that also took IPv4 would collide with the IPv4 one.
      if (info->ai_family == AF_INET6) setOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
      sockaddr_storage wanted{};
      std::memcpy(&wanted, info->ai_addr, info->ai_addrlen);
      // With port 0 the second family takes the first one's port.
      if (port == 0 && !sockets.empty()) {
         const uint16_t chosen = htons(sockets.front().port);
         std::memcpy(reinterpret_cast<char*>(&wanted) + offsetof(sockaddr_in, sin_port), &chosen, sizeof chosen);
      }
      if (bind(socket.get(), reinterpret_cast<sockaddr*>(&wanted), info->ai_addrlen) != 0) {
         // Clients of the addresses that are left would reach two servers under one name.
         if (errno == EADDRINUSE && port != 0) throwPortInUse(host, port);
         reason = std::strerror(errno);
         continue;
      }
      sockaddr_storage bound{};
      socklen_t length = sizeof bound;
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length);
      uint16_t boundPort; // at the same offset in both families
      std::memcpy(&boundPort, reinterpret_cast<char*>(&bound) + offsetof(sockaddr_in, sin_port), sizeof boundPort);
      ListeningSocket entry;
      entry.address = describe(reinterpret_cast<sockaddr*>(&bound), length);
      entry.port = ntohs(boundPort);
      entry.socket = std::move(socket);
      // Names may be listed with an address twice.
      const auto isSame = [&](const ListeningSocket& other) { return other.address.text == entry.address.text; };
      if (std::none_of(sockets.begin(), sockets.end(), isSame)) sockets.push_back(std::move(entry));
   }
   if (sockets.empty())
      throw SqlError(sqlstate::ioError,
                     "could not listen on \"" + host + "\", port " + std::to_string(port) + ": " + reason)
          .hint("--listen takes an address of this machine, --port a port above 1023 or a right to lower ones.");
   return sockets;
}

} // namespace

void FileDescriptor::close() {
   if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::vector<ListeningSocket> listenTcp(const std::string& host, uint16_t port) {
   std::vector<ListeningSocket> sockets = bindTcp(host, port);
   for (const ListeningSocket& entry : sockets) {
      if (listen(entry.socket.get(), backlog) == 0) continue;
      // Two sockets can be bound to a port as long as neither listens.
      if (errno == EADDRINUSE) throwPortInUse(host, entry.port);
      throw SqlError(sqlstate::ioError, "could not listen on " + entry.address.text + ": " + std::strerror(errno));
   }
   return sockets;
}

void requireFreePort(const std::string& host, uint16_t port) {
   bindTcp(host, port);
}

FileDescriptor connectTcp(const std::string& host, uint16_t port, int timeoutMs, int& error) {
   addrinfo hints{};
   hints.ai_socktype = SOCK_STREAM;
   hints.ai_flags = AI_NUMERICSERV;
   addrinfo* found = nullptr;
   error = EHOSTUNREACH;
   if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return {};
   const AddressList list(found);
   for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
      FileDescriptor socket(::socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      error = 0;
      if (!socket.isOpen() || connect(socket.get(), info->ai_addr, info->ai_addrlen) != 0) error = errno;
      if (error == EINPROGRESS) {
         socklen_t size = sizeof error;
         error = ETIMEDOUT;
         if (waitWritable(socket.get(), timeoutMs)) getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
      if (error != 0) continue;
      setConnectionOptions(socket.get());
      return socket;
   }
   return {};
}

bool isLoopbackHost(const std::string& host) {
   if (host == "*") return false;
   const AddressList list = resolve(host, 0);
   for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next)
      if (!isLoopbackAddress(info->ai_addr)) return false;
   return true;
}

PeerAddress localAddress(int fd) {
   sockaddr_storage address{};
   socklen_t length = sizeof address;
   getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
   return describe(reinterpret_cast<sockaddr*>(&address), length);
}

AcceptStatus acceptConnection(const FileDescriptor& listener, FileDescriptor& socket, PeerAddress& peer) {
   while (true) {
      sockaddr_storage address{};
      socklen_t length = sizeof address;
      const int fd =
          accept4(listener.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
         socket = FileDescriptor(fd);
         peer = describe(reinterpret_cast<sockaddr*>(&address), length);
         if (peer.isLocal) return AcceptStatus::Accepted;
         setConnectionOptions(fd);
         return AcceptStatus::Accepted;
      }
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return AcceptStatus::OutOfHandles;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return AcceptStatus::None;
      // Other errors (ECONNABORTED, EINTR, network errors) concern the one waiting client: accept the next.
   }
}

bool waitReadable(int fd, int timeoutMs) {
   return waitFor(fd, POLLIN | POLLRDHUP, timeoutMs);
}
bool waitWritable(int fd, int timeoutMs) {
   return waitFor(fd, POLLOUT, timeoutMs);
}

bool peerIsGone(int fd) {
   char byte;
   const ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
   return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

uint64_t raiseHandleLimit() {
   rlimit limit{};
   if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
   if (limit.rlim_cur < limit.rlim_max) {
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_NOFILE, &limit);
      getrlimit(RLIMIT_NOFILE, &limit);
   }
   return limit.rlim_cur;
}

} // namespace ouzel::io
