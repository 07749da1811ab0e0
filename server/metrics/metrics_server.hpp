#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "io/net/poller.hpp"
#include "io/net/socket.hpp"

namespace ouzel::server {

/// Answers GET /metrics with what `render` returns. One thread for all clients; each connection is good for one
/// request. Whoever connects is a stranger: heads are at most httpHeadSizeMax, a connection lasts no longer than
/// `patienceMs` whatever it does, and when there are `clientsMax` the oldest one makes room.
class MetricsServer {
public:
   struct Limits {
      size_t clientsMax = 64;
      int64_t patienceMs = 10'000;
   };
   /// By the server's own thread. What it throws is answered as 500.
   using Render = std::function<std::string()>;

   /// Binds the sockets. Throws 58030.
   MetricsServer(const std::string& host, uint16_t port, Render render, Limits limits);
   MetricsServer(const std::string& host, uint16_t port, Render render)
      : MetricsServer(host, port, std::move(render), Limits()) {}
   /// Closes all connections.
   ~MetricsServer();
   MetricsServer(const MetricsServer&) = delete;
   MetricsServer& operator=(const MetricsServer&) = delete;

   void start();
   const std::vector<io::ListeningSocket>& listeners() const { return listeners_; }

private:
   /// Reading: the head is not complete. Writing: the answer goes out. Draining: it has gone out; what the client sent
   /// besides is read, so that closing does not take the answer from it.
   enum class Phase : uint8_t { Reading, Writing, Draining };
   struct Client {
      io::FileDescriptor socket;
      int64_t deadline = 0;
      Phase phase = Phase::Reading;
      std::string input, output;
      size_t sent = 0;
   };
   /// What a step waits for; Over: the connection is to be closed.
   enum class Next : uint8_t { Input, Output, Over };

   void loop();
   int waitMs() const;
   void acceptAll(size_t listener);
   Next advance(Client& client);
   Next read(Client& client);
   Next write(Client& client);
   static Next drain(Client& client);
   std::string answer(std::string_view head) const;

   // PROPERTIES
   const Render render_;
   const Limits limits_;
   std::vector<io::ListeningSocket> listeners_;
   // STATE of the thread
   io::Poller poller_;
   std::map<uint64_t, Client> clients_; ///< by age, and so by deadline
   uint64_t nextId_ = 0;
   int64_t acceptPausedUntil_ = 0; ///< for want of handles; 0: it is not
   std::atomic<bool> stopping_{false};
   std::thread thread_;
};

} // namespace ouzel::server
