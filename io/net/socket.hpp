#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// TCP sockets without blocking.

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
   bool isLoopback = false;
};

struct ListeningSocket {
   FileDescriptor socket;
   PeerAddress address; ///< with the real port, when 0 was asked for
   uint16_t port = 0;
};

/// Bind and listen on every address `host` resolves to ("*": all interfaces). Throws SqlError 58030 when none works.
std::vector<ListeningSocket> listenTcp(const std::string& host, uint16_t port);

/// True when `host` names nothing but this machine.
bool isLoopbackHost(const std::string& host);

enum class AcceptStatus : uint8_t {
   Accepted,
   None,        ///< nobody waits any more
   OutOfHandles ///< try again later
};
/// Take one waiting connection: non-blocking, TCP_NODELAY, keep-alive.
AcceptStatus acceptConnection(const FileDescriptor& listener, FileDescriptor& socket, PeerAddress& peer);

/// Wait until the socket is readable or writable. False: the time is over. Hang-ups count as ready.
bool waitReadable(int fd, int timeoutMs);
bool waitWritable(int fd, int timeoutMs);
/// The peer has closed its side and nothing it sent is left unread.
bool peerIsGone(int fd);

/// Raise the number of handles the process may have to what it is allowed to ask for; returns it.
uint64_t raiseHandleLimit();

} // namespace ouzel::io
