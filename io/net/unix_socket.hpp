#pragma once
#include <optional>
#include <string>

#include "io/net/socket.hpp"

// Unix-domain sockets as PostgreSQL names them: DIR/.s.PGSQL.PORT, with a lock file beside it.

namespace ouzel::io {

/// The right to a socket's path: DIR/.s.PGSQL.PORT.lock, which is locked while the object lives and holds the process's
/// id in its first line, which PostgreSQL reads. The destructor removes both files.
class UnixSocketPath {
public:
   /// Removes a socket that nobody listens on. Throws 55006 when a server lives there, and 58030 when the directory
   /// cannot be used.
   UnixSocketPath(const std::string& directory, uint16_t port);
   UnixSocketPath(UnixSocketPath&& other) noexcept;
   UnixSocketPath& operator=(UnixSocketPath&&) = delete;
   ~UnixSocketPath();

   const std::string& path() const { return path_; }

private:
   std::string path_;
   FileDescriptor lock_;
};

/// Listens on the path; every user of this machine may connect. Throws 58030.
ListeningSocket listenUnix(const UnixSocketPath& path, uint16_t port);

/// The name of the user whose process made the other end of the Unix-domain connection. nullopt: the system does not
/// tell, and `reason` is why.
std::optional<std::string> peerUserName(int fd, std::string& reason);

} // namespace ouzel::io
