#pragma once
#include <chrono>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

// Support of the wire tests: a server process of their own, libpq connections, and raw sockets for bytes that libpq
// would never send. With OUZEL_WIRE_TARGET=HOST:PORT the tests use that server instead (PostgreSQL itself, to check the
// tests).

namespace ouzel::wire {

/// An `ouzel serve` process over a temporary directory, or the target of the environment.
class ServerProcess {
public:
   explicit ServerProcess(std::vector<std::string> flags = {});
   ~ServerProcess();
   /// Sends SIGTERM and waits. Returns the exit status.
   int stop();
   /// Starts the server again over the same data.
   void start();
   bool isForeign() const { return pid_ == 0; }
   bool isRunning() const;
   void signal(int number) const;
   /// Waits for the end of a process that dies by itself. Returns the number of the signal that killed it, or 0.
   int awaitDeath();
   /// What the server has written to stderr so far.
   std::string log() const;
   /// Waits until log() holds the text; returns the log.
   std::string awaitLog(const std::string& text) const;
   const std::string& directory() const { return directory_; }
   /// The largest resident memory in bytes since forgetPeak(). REQUIRES: !isForeign().
   size_t residentPeak() const;
   void forgetPeak() const;
   /// CPU time that the server has used. REQUIRES: !isForeign().
   std::chrono::milliseconds cpuTime() const;

   std::string host = "127.0.0.1";
   int port = 0;

private:
   std::vector<std::string> flags_;
   std::string directory_;
   pid_t pid_ = 0;
};

/// The server that most tests share; started by the first call.
ServerProcess& sharedServer();

struct ResultDeleter {
   void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

/// A libpq connection. Fails the test when it cannot connect, unless `mayFail`.
class Connection {
public:
   explicit Connection(const ServerProcess& server = sharedServer(), const std::string& more = "",
                       bool mayFail = false);
   ~Connection() { PQfinish(connection_); }
   Connection(const Connection&) = delete;

   PGconn* get() const { return connection_; }
   bool isOpen() const { return PQstatus(connection_) == CONNECTION_OK; }
   /// Runs a simple query. Returns rows as text ("1|a\n2|\\N\n"), else the command tag, else "ERROR 42601 ...".
   std::string run(const std::string& sql) const;
   /// Runs one statement with text parameters. Results come in text or binary.
   Result parameters(const std::string& sql, const std::vector<const char*>& values, bool binary = false) const;
   std::string error() const { return PQerrorMessage(connection_); }

private:
   PGconn* connection_;
};

std::string describe(const PGresult* result);
/// An IPv4 address of this machine that is not loopback.
std::optional<std::string> outsideAddress();

/// A socket that sends raw bytes.
class RawClient {
public:
   explicit RawClient(const ServerProcess& server = sharedServer());
   ~RawClient() { close(); }
   RawClient(RawClient&& other) noexcept;
   void send(const std::string& bytes) const;
   /// Receives raw bytes until ReadyForQuery or the end of the stream.
   std::string receive() const;
   /// receive(), one line per message; "(closed)" at the end of the stream.
   std::string answer() const;
   std::string ask(const std::string& bytes) const {
      send(bytes);
      return answer();
   }
   std::string start() const; ///< start-up as postgres
   void close();

private:
   int fd_ = -1;
};

} // namespace ouzel::wire
