#pragma once
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "io/net/socket.hpp"

/// A server that answers every request with the same bytes and closes the connection.
class Parrot {
public:
   explicit Parrot(std::string answer) : answer_(std::move(answer)), listeners_(ouzel::io::listenTcp("127.0.0.1", 0)) {
      thread_ = std::thread([this] { run(); });
   }
   ~Parrot() {
      isStopping_ = true;
      thread_.join();
   }
   std::string address() const { return "http://127.0.0.1:" + std::to_string(listeners_.front().port); }

private:
   void run() {
      while (!isStopping_) {
         ouzel::io::FileDescriptor socket;
         ouzel::io::PeerAddress peer;
         if (!ouzel::io::waitReadable(listeners_.front().socket.get(), 10) ||
             ouzel::io::acceptConnection(listeners_.front().socket, socket, peer) != ouzel::io::AcceptStatus::Accepted)
            continue;
         char request[8192];
         ouzel::io::waitReadable(socket.get(), 1000);
         static_cast<void>(!::recv(socket.get(), request, sizeof request, 0));
         for (std::string_view rest = answer_; !rest.empty();) {
            const ssize_t sent = ::send(socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (sent > 0)
               rest.remove_prefix(static_cast<size_t>(sent));
            else if (!ouzel::io::waitWritable(socket.get(), 100))
               break;
            else if (sent < 0 && errno != EAGAIN)
               break;
         }
         ::shutdown(socket.get(), SHUT_WR);
      }
   }

   const std::string answer_;
   const std::vector<ouzel::io::ListeningSocket> listeners_;
   std::atomic<bool> isStopping_{false};
   std::thread thread_;
};
