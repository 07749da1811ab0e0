#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Non-blocking sockets. Those of TCP are made here, those of this machine alone in unix_socket.hpp.

namespace ouzel::io {

/// Owns a file descriptor.
class FileDescriptor {
public:
   FileDescriptor() = default;
   explicit FileDescriptor(int fd) : fd_(fd) {}
   FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
   FileDescriptor& operator=(FileDescriptor&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
   }
   ~FileDescriptor() { close(); }

   int get() const { return fd_; }
   bool isOpen() const { return fd_ >= 0; }
   void close();

private:
   int fd_ = -1;
};

struct PeerAddress {
   std::string text; ///< "127.0.0.1:50312", "[::1]:50312"
   std::string host; ///< numeric: "127.0.0.1", "::1"
   uint16_t port = 0;
   bool isLoopback = false;
   bool isLocal = false; ///< of a Unix-domain socket: "[local]", no port, and also isLoopback
};

struct ListeningSocket {
   FileDescriptor socket;
   PeerAddress address; ///< with the assigned port, when port 0 was requested
   uint16_t port = 0;
};

/// Binds and listens on every address of `host` ("*": all interfaces). Throws 55006 when another process listens on one
/// of them, and 58030 when no address works.
std::vector<ListeningSocket> listenTcp(const std::string& host, uint16_t port);
/// Throws what listenTcp() would throw now. To be asked before work that would be in vain.
void requireFreePort(const std::string& host, uint16_t port);

/// Connects to the first address of `host` that answers. The socket is non-blocking, with TCP_NODELAY and keep-alive.
/// Not open: `error` tells why, an errno. The time-out is for each address; resolving the name may take longer.
FileDescriptor connectTcp(const std::string& host, uint16_t port, int timeoutMs, int& error);

/// Whether `host` names only this machine.
bool isLoopbackHost(const std::string& host);

enum class AcceptStatus : uint8_t {
   Accepted,
   None,        ///< no connection is waiting
   OutOfHandles ///< the process has no free descriptor: try again later
};
/// Accepts one waiting connection and sets it to non-blocking, TCP_NODELAY and keep-alive.
AcceptStatus acceptConnection(const FileDescriptor& listener, FileDescriptor& socket, PeerAddress& peer);

/// The socket's own end of its connection.
PeerAddress localAddress(int fd);

/// Waits until the socket is readable or writable; a hang-up counts as ready. False: the time is over.
bool waitReadable(int fd, int timeoutMs);
bool waitWritable(int fd, int timeoutMs);
/// Whether the peer has closed its side and all received bytes are read.
bool peerIsGone(int fd);

/// Raises the process's limit of descriptors to the hard limit. Returns the limit.
uint64_t raiseHandleLimit();

} // namespace ouzel::io
