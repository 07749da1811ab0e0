#include "server/readiness.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <string_view>
#include <sys/socket.h>

#include "common/env/clock.hpp"
#include "io/net/socket.hpp"
#include "protocol/message_reader.hpp"

namespace ouzel::server {

namespace {

constexpr size_t answerSizeMax = 64 << 10;

class Deadline {
public:
   explicit Deadline(int timeoutMs) : end_(steadyNanos() + int64_t{timeoutMs} * 1'000'000) {}
   int leftMs() const { return static_cast<int>(std::max<int64_t>((end_ - steadyNanos()) / 1'000'000, 0)); }

private:
   const int64_t end_;
};

/// Connect a socket. Returns the reason of a failure, or an empty text.
std::string connectTo(const addrinfo& address, const Deadline& deadline, io::FileDescriptor& socket) {
   socket = io::FileDescriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
   if (!socket.isOpen()) return std::strerror(errno);
   if (connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return "";
   if (errno != EINPROGRESS) return std::strerror(errno);
   if (!io::waitWritable(socket.get(), deadline.leftMs())) return "no connection in time";
   int error = 0;
   socklen_t size = sizeof error;
   getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
   return error == 0 ? "" : std::strerror(error);
}

bool sendAll(const io::FileDescriptor& socket, std::string_view bytes, const Deadline& deadline) {
   while (!bytes.empty()) {
      const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0)
         bytes.remove_prefix(static_cast<size_t>(sent));
      else if ((errno != EAGAIN && errno != EINTR) || !io::waitWritable(socket.get(), deadline.leftMs()))
         return false;
   }
   return true;
}

/// The first message of the answer, or the part that has arrived when the time is over or the stream ends.
std::string receiveMessage(const io::FileDescriptor& socket, const Deadline& deadline) {
   std::string message;
   while (message.size() < answerSizeMax) {
      if (message.size() >= 5 && message.size() > protocol::loadInt32(message.data() + 1)) // its type is not counted
         break;
      if (!io::waitReadable(socket.get(), deadline.leftMs())) break;
      char chunk[4096];
      const ssize_t got = recv(socket.get(), chunk, sizeof chunk, 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) break;
      if (got > 0) message.append(chunk, static_cast<size_t>(got));
   }
   return message;
}

/// A field of an ErrorResponse.
std::string_view errorField(std::string_view message, char field) {
   for (size_t at = 5; at < message.size() && message[at] != '\0';) {
      const size_t end = std::min(message.find('\0', at), message.size());
      if (message[at] == field) return message.substr(at + 1, end - at - 1);
      at = end + 1;
   }
   return "";
}

std::string startupPacket() {
   using namespace std::string_view_literals;
   constexpr std::string_view parameters = "user\0postgres\0database\0postgres\0application_name\0ouzel ready\0\0"sv;
   constexpr uint32_t size = 8 + parameters.size(), version = 3 << 16;
   std::string packet;
   for (const uint32_t number : {size, version})
      for (int shift = 24; shift >= 0; shift -= 8)
         packet += static_cast<char>(number >> shift);
   return packet.append(parameters);
}

std::string ask(const addrinfo& address, const Deadline& deadline) {
   io::FileDescriptor socket;
   if (std::string problem = connectTo(address, deadline, socket); !problem.empty()) return problem;
   if (!sendAll(socket, startupPacket(), deadline)) return "the connection was closed";
   const std::string message = receiveMessage(socket, deadline);
   if (message.empty()) return "no answer";
   if (message[0] == 'R') {
      sendAll(socket, std::string_view("X\0\0\0\4", 5), deadline); // Terminate
      return "";
   }
   if (message[0] != 'E') return "an answer that is not PostgreSQL's";
   // A server that asks for a password, knows no such role or is full takes clients. One that refuses all does not.
   const std::string_view state = errorField(message, 'C');
   return state.starts_with("28") || state == "53300" ? "" : std::string(errorField(message, 'M'));
}

} // namespace

std::string whyNotReady(const std::string& host, uint16_t port, int timeoutMs) {
   const Deadline deadline(timeoutMs);
   addrinfo hints{};
   hints.ai_socktype = SOCK_STREAM;
   hints.ai_flags = AI_NUMERICSERV;
   addrinfo* found = nullptr;
   if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
      return gai_strerror(error);
   const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
   std::string problem = "no address";
   for (const addrinfo* address = list.get(); address != nullptr; address = address->ai_next) {
      problem = ask(*address, deadline);
      if (problem.empty()) break;
   }
   return problem;
}

} // namespace ouzel::server
