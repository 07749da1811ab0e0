#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/client/session_control.hpp"
#include "common/sync/mutex.hpp"
#include "io/net/poller.hpp"
#include "io/net/unix_socket.hpp"
#include "server/connection.hpp"
#include "server/options.hpp"
#include "server/session_pool.hpp"

namespace ouzel::server {

/// Listens, accepts, and moves connections between the event loop (one thread, waits for all sockets) and the session
/// threads (run statements). An idle connection is an entry in the poller and a few KiB.
///
/// Ownership: the table `connections_`, the event loop and a session thread share each Connection. The event loop arms
/// the poller for one event at a time: Input or Output while it owns the connection, HangUp while a session thread
/// does.
class Server : private SessionControl {
public:
   /// Binds the sockets. Throws 28P01 when it would listen beyond this machine while the superuser has no password.
   Server(const ServerOptions& options, SessionFactory& factory);
   ~Server() override;

   void start();
   /// Stop accepting, cancel all statements, send 57P01 to all clients, and wait until all connections have ended.
   void shutdown();

   /// Read certificates, keys and the rules of access anew, for clients from now on. When they cannot be used, the log
   /// says why and the old ones stay. Any thread.
   void reload(const ServerOptions& options);

   const std::vector<io::ListeningSocket>& listeners() const { return listeners_; }
   uint32_t connections() const;
   uint64_t acceptedConnections() const { return accepted_.load(std::memory_order_relaxed); }
   uint32_t sessionThreads() const { return pool_.threads(); }

private:
   using ConnectionPointer = std::shared_ptr<Connection>; // shared by the table, the event loop and a session thread
   struct Entry {
      ConnectionPointer connection;
      int64_t authenticationDeadline;
   };

   bool cancelStatement(int32_t processId) override;
   bool terminate(int32_t processId) override;
   void wake(const std::set<int32_t>& processIds) override;
   bool isOpen(int32_t processId) const override;
   std::vector<AccessRuleRow> accessRules() const override;
   std::vector<UserMapRow> userMaps() const override;

   void reloadTls(const ServerOptions& options);
   void loop();
   void acceptAll(size_t listener);
   void onEvent(uint64_t id);
   void dispatch(uint64_t id, const ConnectionPointer& connection, Connection::Next next);
   void runOn(uint64_t id, ConnectionPointer connection);
   void dropSlowStarters();
   int waitMs() const; ///< how long the event loop may sleep
   /// Make the event loop check idle deadlines no later than `deadline`. Any thread.
   void expectIdleDeadline(int64_t deadline);
   /// End the sessions whose idle deadline has passed.
   void endIdle();
   void endAll();
   /// Hand the waiting connections that are to end, or have something to tell their clients, to session threads.
   void runRequested();
   ConnectionPointer find(uint64_t id) const;
   void remove(uint64_t id);

   // PROPERTIES
   const ServerOptions options_;
   std::unique_ptr<io::TlsContext> tls_;
   AccessRules accessRules_;
   FailedLogins failedLogins_;
   SessionRegistry registry_;
   ConnectionContext context_;
   std::vector<io::ListeningSocket> listeners_; // that of --socket is the last
   std::optional<io::UnixSocketPath> socketPath_;
   // STATE
   io::Poller poller_;
   mutable Mutex mutex_; // guards connections_
   CondVar allGone_;
   std::unordered_map<uint64_t, Entry> connections_ GUARDED_BY(mutex_);
   std::atomic<uint32_t> starting_{0};            // at least the connections that are not authenticated
   std::atomic<int64_t> idleDeadline_{INT64_MAX}; // not later than the first idle deadline of a waiting connection
   uint64_t nextId_ = 0;
   std::atomic<uint64_t> accepted_{0};
   int32_t nextProcessId_ = 0;
   int64_t acceptPausedUntil_ = 0; // no file handles until then; 0: not paused
   std::atomic<bool> stopping_{false}, stopped_{false};
   std::atomic<bool> hasRequests_{false}; // a connection was marked since runRequested()
   SessionPool pool_;
   std::thread loopThread_;
};

} // namespace ouzel::server
