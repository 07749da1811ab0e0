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

/// Answers GET /metrics with the text of `render`. One thread serves all clients; each connection serves one request.
/// Clients are not trusted: heads are at most httpHeadSizeMax, a connection is closed after `patienceMs` in any case,
/// and a new connection closes the oldest one when there are `clientsMax`.
class MetricsServer {
public:
   struct Limits {
      size_t clientsMax = 64;
      int64_t patienceMs = 10'000;
   };
   /// Called on the server's own thread. An exception is answered with 500.
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
   /// Reading: until the head is complete. Writing: until the answer is sent. Draining: until the client closes, its
   /// further bytes are read, since closing a socket with unread input would discard the answer.
   enum class Phase : uint8_t { Reading, Writing, Draining };
   struct Client {
      io::FileDescriptor socket;
      int64_t deadline = 0;
      Phase phase = Phase::Reading;
      std::string input, output;
      size_t sent = 0;
   };
   /// The event that a connection waits for next; Over: close the connection.
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
   std::map<uint64_t, Client> clients_; ///< in the order of age, which is that of deadlines
   uint64_t nextId_ = 0;
   int64_t acceptPausedUntil_ = 0; ///< no file handles until then; 0: not paused
   std::atomic<bool> stopping_{false};
   std::thread thread_;
};

} // namespace ouzel::server
