#include "server/service_manager.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

#include "io/net/socket.hpp"

namespace ouzel::server {

void notifyServiceManager(const char* state) {
   const char* path = std::getenv("NOTIFY_SOCKET");
   sockaddr_un address{};
   address.sun_family = AF_UNIX;
   if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return;
   std::strcpy(address.sun_path, path);
   const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
   if (*path == '@') address.sun_path[0] = '\0'; // an abstract socket
   const io::FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
   sendto(socket.get(), state, std::strlen(state), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
}

} // namespace ouzel::server
