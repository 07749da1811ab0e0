#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/sync/mutex.hpp"

// A connection to another server that speaks PostgreSQL's protocol, through libpq: queries of one transaction that only
// reads, by cursors. It knows no catalog; the engine says where it connects to.

struct pg_conn;
struct pg_result;

namespace ouzel::io {

/// Where a link connects to, and by what rules.
struct RemoteAddress {
   std::string server;                                          ///< its name, for errors
   std::vector<std::pair<std::string, std::string>> parameters; ///< as libpq has them, "host" and its like
   bool needsPassword = false; ///< the other server has to ask for the password of `parameters`
   bool isKept = true;         ///< when a transaction ends
   bool operator==(const RemoteAddress&) const = default;
};

struct RemoteRowsDeleter {
   void operator()(pg_result* rows) const;
};
using RemoteRows = std::unique_ptr<pg_result, RemoteRowsDeleter>;

/// One connection, made when the first cursor is opened. Thread-safe: one thread after the other uses it.
///
/// A cursor opens a transaction if there is none. It ends with endTransaction(). Waits for the network end with the
/// statement (common/thread/interruption.hpp): the other server is asked to cancel its query, and if it does not answer
/// soon, the connection is given up. Errors of the other server keep their SQLSTATE; 08001 and 08006 are those of the
/// connection. After an error within a transaction the next cursor begins another one.
class RemoteLink {
public:
   explicit RemoteLink(RemoteAddress address);
   ~RemoteLink();
   RemoteLink(const RemoteLink&) = delete;
   RemoteLink& operator=(const RemoteLink&) = delete;

   const RemoteAddress& address() const { return address_; }
   bool isConnected() const;
   bool inTransaction() const;

   /// Opens a cursor over a query, and returns its number.
   uint64_t openCursor(const std::string& query);
   /// The next rows of a cursor, at most `count`; fewer: there are no more. `query` is for errors.
   RemoteRows fetch(uint64_t cursor, uint32_t count, const std::string& query);
   /// Closed with the next cursor that is opened, or with the transaction.
   void closeCursor(uint64_t cursor);
   /// The rows of a query that is no cursor's, in the transaction, as texts; none: NULL.
   std::vector<std::vector<std::optional<std::string>>> query(const std::string& sql);
   /// Ends the transaction, if there is one. A connection that does not answer soon is given up.
   void endTransaction(bool commits) noexcept;
   void disconnect() noexcept;

private:
   enum class Waiting : uint8_t { UntilInterrupted, Briefly };

   void connect() REQUIRES(mutex_);
   void requirePassword() REQUIRES(mutex_);
   void ensureTransaction() REQUIRES(mutex_);
   /// Sends commands and returns the result of the last. `shown`: what errors call the command.
   RemoteRows run(const std::string& sql, const std::string& shown, Waiting waiting = Waiting::UntilInterrupted)
       REQUIRES(mutex_);
   RemoteRows lastResult(int64_t deadlineMs) REQUIRES(mutex_);
   void send(const std::string& sql, int64_t deadlineMs) REQUIRES(mutex_);
   /// Waits until the socket can be read, or written. Throws 08006 at the deadline (0: none).
   void wait(bool forOutput, int64_t deadlineMs) REQUIRES(mutex_);
   /// Asks the other server to cancel what it does, and takes its answer.
   void cancel() noexcept REQUIRES(mutex_);
   void close() noexcept REQUIRES(mutex_);
   [[noreturn]] void throwLost() REQUIRES(mutex_);

   const RemoteAddress address_;
   mutable Mutex mutex_;
   pg_conn* connection_ GUARDED_BY(mutex_) = nullptr; ///< null: none
   bool inTransaction_ GUARDED_BY(mutex_) = false;
   uint64_t lastCursor_ GUARDED_BY(mutex_) = 0;  ///< of all times
   uint64_t firstCursor_ GUARDED_BY(mutex_) = 1; ///< of the transaction; those before it have ended
   std::vector<uint64_t> toClose_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
