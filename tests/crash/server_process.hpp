#pragma once
#include <libpq-fe.h>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

// A server process that tests can kill, and a client connection that returns errors instead of throwing them.

namespace ouzel::crash {

/// Prints the problem and ends the test at once.
[[noreturn]] void fail(const std::string& what);
void require(bool holds, const std::string& what);

/// A new directory in `root` (empty: the directory of temporary files), removed by the destructor.
struct Directory {
   std::string path;
   explicit Directory(const std::string& root = {});
   ~Directory();
   Directory(const Directory&) = delete;
   Directory& operator=(const Directory&) = delete;
};

/// A server process. The destructor kills it with SIGKILL unless stop() was called.
class ServerProcess {
public:
   using Environment = std::vector<std::pair<std::string, std::string>>;
   /// Starts on `directory`/data and waits until the server listens; isRunning() tells whether it does. Its stderr goes
   /// to `directory`/log.
   ServerProcess(const std::string& binary, const std::string& directory, const std::vector<std::string>& flags = {},
                 const Environment& environment = {});
   ~ServerProcess();
   ServerProcess(const ServerProcess&) = delete;
   ServerProcess& operator=(const ServerProcess&) = delete;

   int port() const { return port_; }
   bool isRunning() const { return port_ != 0; }
   pid_t processId() const { return pid_; }
   /// Sends SIGKILL and waits.
   void kill();
   void signal(int number) const;
   /// Waits until the process has stopped itself (SIGSTOP); false when it has ended instead.
   bool waitStopped();
   /// Sends SIGTERM and waits. Returns the exit status, or 128 + the signal.
   int stop();
   /// Waits until the process ends by itself. Returns the same as stop().
   int wait();

private:
   pid_t pid_ = 0;
   int port_ = 0;
};

/// One client connection. Rows are vectors of texts.
class Client {
public:
   explicit Client(int port, const std::string& database = "postgres");
   ~Client() { PQfinish(connection_); }
   Client(const Client&) = delete;
   Client& operator=(const Client&) = delete;

   bool isConnected() const { return PQstatus(connection_) == CONNECTION_OK; }
   PGconn* get() const { return connection_; }
   /// Runs a statement. False: it failed, and sqlstate() is its error (empty: the connection is lost).
   bool run(const std::string& statement);
   /// Sends a statement and returns. finish() waits for its results and returns the same as run().
   void begin(const std::string& statement);
   bool finish();
   /// Whether all results have arrived.
   bool hasFinished();
   /// Breaks the connection without an end of the protocol, like a crashing client. `resets`: with a TCP reset, like a
   /// crashing machine.
   void breakOff(bool resets);
   const std::string& sqlstate() const { return sqlstate_; }
   const std::string& message() const { return message_; }
   /// Rows of the last statement.
   const std::vector<std::vector<std::string>>& rows() const { return rows_; }
   /// Runs COPY table FROM STDIN with these bytes. Returns the same as run().
   bool copyIn(const std::string& statement, const std::string& bytes);

private:
   bool take(PGresult* result);
   PGconn* connection_;
   std::string sqlstate_, message_;
   std::vector<std::vector<std::string>> rows_;
};

} // namespace ouzel::crash
