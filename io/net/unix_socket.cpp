#include "io/net/unix_socket.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr int backlog = 1024;
constexpr mode_t socketMode = 0777, lockMode = 0600;

[[noreturn, gnu::cold]] void fail(const std::string& what, const std::string& path, const std::string& why) {
   throw SqlError(sqlstate::ioError, what + " \"" + path + "\": " + why)
       .hint("--socket takes a directory that exists and that the server may write to.");
}

[[noreturn, gnu::cold]] void throwInUse(const std::string& path) {
   throw SqlError(sqlstate::objectInUse, "could not listen on Unix socket \"" + path + "\": another server lives there")
       .hint("Stop it, or choose another port or another directory with --socket.");
}

sockaddr_un addressOf(const std::string& path) {
   sockaddr_un address{};
   address.sun_family = AF_UNIX;
   if (path.size() >= sizeof address.sun_path)
      fail("could not use Unix socket", path,
           "the path is too long (maximum " + std::to_string(sizeof address.sun_path - 1) + " bytes)");
   std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
   return address;
}

/// Opens and locks the file. A server that ends removes its file, so what was locked may be none any more.
FileDescriptor lockFile(const std::string& path, const std::string& socketPath) {
   while (true) {
      FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, lockMode));
      if (!file.isOpen()) fail("could not create lock file", path, std::strerror(errno));
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) throwInUse(socketPath);
      struct stat own {
      }, named{};
      if (::fstat(file.get(), &own) == 0 && ::stat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino)
         return file;
   }
}

/// Whether somebody accepts connections there: a server that does not lock the file as this one does.
bool isAlive(const std::string& path) {
   const sockaddr_un address = addressOf(path);
   const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
   const int result = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
   return result == 0 || errno == EAGAIN; // its queue is full
}

void removeStale(const std::string& path) {
   struct stat status {};
   if (::lstat(path.c_str(), &status) != 0) return;
   if (!S_ISSOCK(status.st_mode)) fail("could not use Unix socket", path, "a file that is no socket is in its place");
   if (isAlive(path)) throwInUse(path);
   if (::unlink(path.c_str()) != 0) fail("could not remove old Unix socket", path, std::strerror(errno));
}

} // namespace

UnixSocketPath::UnixSocketPath(const std::string& directory, uint16_t port)
   : path_(directory + "/.s.PGSQL." + std::to_string(port)) {
   static_cast<void>(addressOf(path_));
   lock_ = lockFile(path_ + ".lock", path_);
   try {
      removeStale(path_);
   } catch (...) {
      ::unlink((path_ + ".lock").c_str());
      throw;
   }
   // The lines that PostgreSQL writes: process, data directory, start, port, directory of the socket.
   const std::string text = std::to_string(::getpid()) + "\n\n" + std::to_string(std::time(nullptr)) + "\n" +
                            std::to_string(port) + "\n" + directory + "\n";
   if (::ftruncate(lock_.get(), 0) != 0 || ::write(lock_.get(), text.data(), text.size()) < 0)
      fail("could not write lock file", path_ + ".lock", std::strerror(errno));
}

UnixSocketPath::UnixSocketPath(UnixSocketPath&& other) noexcept
   : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

UnixSocketPath::~UnixSocketPath() {
   if (path_.empty()) return;
   ::unlink(path_.c_str());
   ::unlink((path_ + ".lock").c_str()); // before the lock is given back
}

ListeningSocket listenUnix(const UnixSocketPath& path, uint16_t port) {
   const std::string& text = path.path();
   const sockaddr_un address = addressOf(text);
   ListeningSocket entry;
   entry.socket = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
   if (!entry.socket.isOpen() ||
       ::bind(entry.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
       ::chmod(text.c_str(), socketMode) != 0 || ::listen(entry.socket.get(), backlog) != 0)
      fail("could not listen on Unix socket", text, std::strerror(errno));
   entry.address = {text, "[local]", 0, true, true};
   entry.port = port;
   return entry;
}

std::optional<std::string> peerUserName(int fd, std::string& reason) {
   ucred credentials{};
   socklen_t length = sizeof credentials;
   if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
      reason = std::string("could not get peer credentials: ") + std::strerror(errno);
      return std::nullopt;
   }
   std::vector<char> buffer(16384);
   passwd entry{};
   passwd* found = nullptr;
   const int error = ::getpwuid_r(credentials.uid, &entry, buffer.data(), buffer.size(), &found);
   if (found != nullptr) return std::string(found->pw_name);
   reason = "could not look up local user ID " + std::to_string(credentials.uid) + ": " +
            (error != 0 ? std::strerror(error) : "user does not exist");
   return std::nullopt;
}

} // namespace ouzel::io
