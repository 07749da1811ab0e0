// The lower bound of a client's cost: a blocking socket in each thread, no signature, and only the HTTP parsing that
// finds the body.
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "bench/s3/workload.hpp"

namespace ouzel::bench {

namespace {

constexpr size_t pieceSize = 256 << 10;

int connectTo(const Task& task) {
   const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
   ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
   sockaddr_in address{};
   address.sin_family = AF_INET;
   address.sin_port = htons(task.port);
   ::inet_pton(AF_INET, task.host.c_str(), &address.sin_addr);
   if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
   return fd;
}

void readBodies(Workload& workload, char* target, bool lands) {
   const Task& task = workload.task();
   const int fd = connectTo(task);
   uint64_t offset = 0;
   char head[1024];
   while (workload.next(offset)) {
      const std::string request = "GET " + task.path() + " HTTP/1.1\r\nHost: " + task.host +
                                  "\r\nRange: bytes=" + std::to_string(offset) + "-" +
                                  std::to_string(offset + task.requestSize - 1) + "\r\n\r\n";
      if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("cannot send");
      // The head is received first, so that the body can be received into its memory.
      size_t headSize = 0;
      while (headSize == 0) {
         const ssize_t got = ::recv(fd, head, sizeof head, MSG_PEEK);
         if (got <= 0) throw std::runtime_error("no answer");
         const std::string_view text(head, static_cast<size_t>(got));
         if (const size_t end = text.find("\r\n\r\n"); end != std::string_view::npos) headSize = end + 4;
      }
      if (::recv(fd, head, headSize, 0) != static_cast<ssize_t>(headSize) || !std::strstr(head, " 206 "))
         throw std::runtime_error("another answer than 206");
      for (size_t got = 0; got < task.requestSize;) {
         const size_t want = std::min(pieceSize, task.requestSize - got);
         const ssize_t part = ::recv(fd, lands ? target + got : target, want, 0);
         if (part <= 0) throw std::runtime_error("the body ended early");
         got += static_cast<size_t>(part);
      }
      workload.finished(task.requestSize);
   }
   ::close(fd);
}

} // namespace

void runRaw(Workload& workload, bool lands) {
   std::vector<std::thread> threads;
   for (size_t i = 0; i < workload.task().outstanding; ++i)
      threads.emplace_back([&, i] { readBodies(workload, workload.frame(i), lands); });
   for (std::thread& thread : threads)
      thread.join();
}

} // namespace ouzel::bench
