#pragma once
#include <libpq-fe.h>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

// A real server in a process of its own that can be killed, and a connection to it that reports instead of throwing.

namespace ouzel::crash {

/// Say what went wrong and end the test at once.
[[noreturn]] void fail(const std::string& what);
void require(bool holds, const std::string& what);

/// A directory of its own in `root` (empty: where temporary files go), removed at the end.
struct Directory {
   std::string path;
   explicit Directory(const std::string& root = {});
   ~Directory();
   Directory(const Directory&) = delete;
   Directory& operator=(const Directory&) = delete;
};

/// Ends with SIGKILL unless stop() was called.
class ServerProcess {
public:
   using Environment = std::vector<std::pair<std::string, std::string>>;
   /// Start on `directory`/data; wait until it listens. isRunning() says whether it does. Its stderr goes to
   /// `directory`/log.
   ServerProcess(const std::string& binary, const std::string& directory, const std::vector<std::string>& flags = {},
                 const Environment& environment = {});
   ~ServerProcess();
   ServerProcess(const ServerProcess&) = delete;
   ServerProcess& operator=(const ServerProcess&) = delete;

   int port() const { return port_; }
   bool isRunning() const { return port_ != 0; }
   pid_t processId() const { return pid_; }
   /// SIGKILL, and wait.
   void kill();
   void signal(int number) const;
   /// Wait until it has stopped itself; false when it has ended instead.
   bool waitStopped();
   /// SIGTERM, and wait; the exit status, or 128 + the signal.
   int stop();
   /// Wait until it ends by itself; as stop().
   int wait();

private:
   pid_t pid_ = 0;
   int port_ = 0;
};

/// One client. Rows are vectors of texts.
class Client {
public:
   explicit Client(int port);
   ~Client() { PQfinish(connection_); }
   Client(const Client&) = delete;
   Client& operator=(const Client&) = delete;

   bool isConnected() const { return PQstatus(connection_) == CONNECTION_OK; }
   PGconn* get() const { return connection_; }
   /// False when it failed; sqlstate() tells why (empty: the connection is gone).
   bool run(const std::string& statement);
   /// Send it and return; finish() takes its results, and the last one is what run() would give.
   void begin(const std::string& statement);
   bool finish();
   /// The results are there.
   bool hasFinished();
   /// Break the connection in the middle of whatever is going on, as a client that crashes (`resets`: with a reset, as
   /// one whose machine does).
   void breakOff(bool resets);
   const std::string& sqlstate() const { return sqlstate_; }
   const std::string& message() const { return message_; }
   /// Of the last statement.
   const std::vector<std::vector<std::string>>& rows() const { return rows_; }
   /// COPY table FROM STDIN with these bytes; like run().
   bool copyIn(const std::string& statement, const std::string& bytes);

private:
   bool take(PGresult* result);
   PGconn* connection_;
   std::string sqlstate_, message_;
   std::vector<std::vector<std::string>> rows_;
};

} // namespace ouzel::crash
