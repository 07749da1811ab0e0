#include "io/remote/remote_link.hpp"

#include <chrono>
#include <libpq-fe.h>
#include <poll.h>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/wait_scope.hpp"

namespace ouzel::io {

namespace {

constexpr int64_t brieflyMs = 5000; ///< for answers to a cancel request, and to the end of a transaction
constexpr int askedEveryMs = 50;    ///< whether the statement goes on

int64_t nowMs() {
   using namespace std::chrono;
   return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

/// What libpq says, without the line feed at its end.
std::string messageOf(const PGconn* connection) {
   std::string message = PQerrorMessage(connection);
   while (!message.empty() && message.back() == '\n')
      message.pop_back();
   return message;
}

std::string fieldOf(const PGresult* result, int field) {
   const char* text = PQresultErrorField(result, field);
   return text ? text : "";
}

[[noreturn]] void throwRemote(const PGresult* result, const PGconn* connection, const std::string& shown) {
   auto state = SqlState::fromText(fieldOf(result, PG_DIAG_SQLSTATE));
   // That the other server, or its session, ends does not end the session here, as these codes would.
   if (state && state->text().starts_with("57P")) state = sqlstate::connectionFailure;
   std::string message = fieldOf(result, PG_DIAG_MESSAGE_PRIMARY);
   if (message.empty()) message = messageOf(connection);
   SqlError error(state.value_or(sqlstate::connectionFailure),
                  message.empty() ? "could not obtain message string for remote error" : message);
   error = std::move(error).detail(fieldOf(result, PG_DIAG_MESSAGE_DETAIL));
   error = std::move(error).hint(fieldOf(result, PG_DIAG_MESSAGE_HINT));
   if (const std::string context = fieldOf(result, PG_DIAG_CONTEXT); !context.empty()) error.addContext(context);
   error.addContext("remote SQL command: " + shown);
   throw error;
}

bool hasFailed(const PGresult* result) {
   const ExecStatusType status = PQresultStatus(result);
   return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

/// The time until which a connection has to be made; 0: there is none.
int64_t connectDeadline(const RemoteAddress& address) {
   for (const auto& [name, value] : address.parameters)
      if (name == "connect_timeout")
         if (const int seconds = std::atoi(value.c_str()); seconds > 0)
            return nowMs() + std::max(seconds, 2) * int64_t{1000}; // fewer than 2 are 2, as in libpq
   return 0;
}

} // namespace

void RemoteRowsDeleter::operator()(pg_result* rows) const {
   PQclear(rows);
}

RemoteLink::RemoteLink(RemoteAddress address) : address_(std::move(address)) {}

RemoteLink::~RemoteLink() {
   disconnect();
}

bool RemoteLink::isConnected() const {
   const MutexLock lock(mutex_);
   return connection_ != nullptr;
}

bool RemoteLink::inTransaction() const {
   const MutexLock lock(mutex_);
   return inTransaction_;
}

void RemoteLink::disconnect() noexcept {
   const MutexLock lock(mutex_);
   close();
}

void RemoteLink::close() noexcept {
   if (connection_) PQfinish(connection_);
   connection_ = nullptr;
   inTransaction_ = false;
   firstCursor_ = lastCursor_ + 1;
   toClose_.clear();
}

void RemoteLink::throwLost() {
   const std::string message = connection_ ? messageOf(connection_) : "";
   close();
   throw SqlError(sqlstate::connectionFailure,
                  message.empty() ? "connection to server \"" + address_.server + "\" was lost" : message);
}

void RemoteLink::wait(bool forOutput, int64_t deadlineMs) {
   const WaitScope scope;
   pollfd socket{PQsocket(connection_), static_cast<short>(forOutput ? POLLIN | POLLOUT : POLLIN), 0};
   for (;;) {
      const int ready = poll(&socket, 1, askedEveryMs);
      if (ready > 0) return; // errors show when libpq reads
      if (deadlineMs == 0)
         checkInterrupted();
      else if (nowMs() >= deadlineMs)
         throw SqlError(sqlstate::connectionFailure, "server \"" + address_.server + "\" does not answer");
   }
}

// ---- connecting ----

void RemoteLink::connect() {
   std::vector<const char*> names, values;
   const auto add = [&](const char* name, const char* value) {
      names.push_back(name);
      values.push_back(value);
   };
   for (const auto& [name, value] : address_.parameters)
      add(name.c_str(), value.c_str());
   add("fallback_application_name", "postgres_fdw");
   add("client_encoding", "UTF8");
   add(nullptr, nullptr);
   connection_ = PQconnectStartParams(names.data(), values.data(), 0);
   if (!connection_) throw SqlError(sqlstate::outOfMemory, "out of memory");
   const auto refuse = [&](const std::string& detail) REQUIRES(mutex_) {
      close();
      throw SqlError(sqlstate::sqlclientUnableToEstablishSqlconnection,
                     "could not connect to server \"" + address_.server + "\"")
          .detail(detail);
   };
   const int64_t deadline = connectDeadline(address_);
   try {
      PostgresPollingStatusType status = PGRES_POLLING_WRITING;
      while (PQstatus(connection_) != CONNECTION_BAD && status != PGRES_POLLING_OK) {
         const WaitScope scope;
         pollfd socket{PQsocket(connection_), static_cast<short>(status == PGRES_POLLING_WRITING ? POLLOUT : POLLIN),
                       0};
         if (poll(&socket, 1, askedEveryMs) == 0) {
            checkInterrupted();
            if (deadline != 0 && nowMs() >= deadline) refuse("timeout expired");
            continue;
         }
         if ((status = PQconnectPoll(connection_)) == PGRES_POLLING_FAILED) break;
      }
      if (PQstatus(connection_) != CONNECTION_OK) refuse(messageOf(connection_));
      PQsetnonblocking(connection_, 1);
      PQsetNoticeReceiver(
          connection_, [](void*, const PGresult*) {}, nullptr);
      requirePassword();
      // Values have texts that mean the same whatever the settings of the other server are.
      const std::string settings = "SET search_path = pg_catalog; SET timezone = 'GMT'; SET datestyle = ISO; "
                                   "SET intervalstyle = postgres; SET extra_float_digits = 3";
      run(settings, settings);
   } catch (...) {
      close();
      throw;
   }
}

void RemoteLink::requirePassword() {
   if (!address_.needsPassword || PQconnectionUsedPassword(connection_)) return;
   throw SqlError(sqlstate::sREProhibitedSqlStatementAttempted, "password is required")
       .detail("Non-superuser cannot connect if the server does not request a password.")
       .hint("Target server's authentication method must be changed or password_required=false set in the user mapping "
             "attributes.");
}

void RemoteLink::ensureTransaction() {
   if (connection_ && inTransaction_) {
      if (PQtransactionStatus(connection_) == PQTRANS_INTRANS) return;
      // A query has failed; the session has rolled back to a savepoint since.
      run("ABORT TRANSACTION", "ABORT TRANSACTION");
      inTransaction_ = false;
      firstCursor_ = lastCursor_ + 1;
      toClose_.clear();
   }
   const std::string begin = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
   if (connection_) {
      try {
         run(begin, begin);
         inTransaction_ = true;
         return;
      } catch (const SqlError&) {
         checkInterrupted();
         close(); // it was lost while nobody used it
      }
   }
   connect();
   run(begin, begin);
   inTransaction_ = true;
}

// ---- queries ----

void RemoteLink::send(const std::string& sql, int64_t deadlineMs) {
   if (!PQsendQuery(connection_, sql.c_str())) throwLost();
   for (;;) {
      const int left = PQflush(connection_);
      if (left == 0) return;
      if (left < 0) throwLost();
      wait(true, deadlineMs);
      if (!PQconsumeInput(connection_)) throwLost();
   }
}

RemoteRows RemoteLink::lastResult(int64_t deadlineMs) {
   RemoteRows last;
   for (;;) {
      while (PQisBusy(connection_)) {
         wait(false, deadlineMs);
         if (!PQconsumeInput(connection_)) throwLost();
      }
      RemoteRows next(PQgetResult(connection_));
      if (!next) return last;
      if (!last || !hasFailed(last.get())) last = std::move(next); // the first error counts
   }
}

RemoteRows RemoteLink::run(const std::string& sql, const std::string& shown, Waiting waiting) {
   const int64_t deadline = waiting == Waiting::Briefly ? nowMs() + brieflyMs : 0;
   RemoteRows result;
   const auto giveUp = [&]() REQUIRES(mutex_) {
      if (connection_) waiting == Waiting::Briefly ? close() : cancel();
   };
   try {
      send(sql, deadline);
      result = lastResult(deadline);
   } catch (SqlError& error) {
      if (!connection_) error.addContext("remote SQL command: " + shown); // it was lost
      giveUp();
      throw;
   } catch (...) {
      giveUp();
      throw;
   }
   if (!result) throw SqlError(sqlstate::connectionFailure, "server \"" + address_.server + "\" gave no result");
   if (!hasFailed(result.get())) return result;
   try {
      throwRemote(result.get(), connection_, shown);
   } catch (...) {
      if (PQstatus(connection_) == CONNECTION_BAD) close();
      throw;
   }
}

void RemoteLink::cancel() noexcept {
   try {
      // libpq sends the request over a connection of its own and waits for it, perhaps for minutes.
      if (PGcancel* request = PQgetCancel(connection_))
         std::thread([request] {
            char why[256];
            PQcancel(request, why, sizeof why);
            PQfreeCancel(request);
         }).detach();
      lastResult(nowMs() + brieflyMs);
   } catch (...) {
      close();
   }
}

uint64_t RemoteLink::openCursor(const std::string& query) {
   const MutexLock lock(mutex_);
   ensureTransaction();
   for (const uint64_t ended : std::exchange(toClose_, {}))
      if (ended >= firstCursor_) {
         const std::string close = "CLOSE c" + std::to_string(ended);
         run(close, close);
      }
   const uint64_t cursor = ++lastCursor_;
   run("DECLARE c" + std::to_string(cursor) + " CURSOR FOR\n" + query, query);
   return cursor;
}

RemoteRows RemoteLink::fetch(uint64_t cursor, uint32_t count, const std::string& query) {
   const MutexLock lock(mutex_);
   if (!connection_ || cursor < firstCursor_) throwLost();
   return run("FETCH " + std::to_string(count) + " FROM c" + std::to_string(cursor), query);
}

void RemoteLink::closeCursor(uint64_t cursor) {
   const MutexLock lock(mutex_);
   if (connection_ && cursor >= firstCursor_) toClose_.push_back(cursor);
}

std::vector<std::vector<std::optional<std::string>>> RemoteLink::query(const std::string& sql) {
   RemoteRows result;
   {
      const MutexLock lock(mutex_);
      ensureTransaction();
      result = run(sql, sql);
   }
   std::vector<std::vector<std::optional<std::string>>> rows(static_cast<size_t>(PQntuples(result.get())));
   for (size_t row = 0; row < rows.size(); ++row)
      for (int field = 0; field < PQnfields(result.get()); ++field) {
         const int at = static_cast<int>(row);
         auto& value = rows[row].emplace_back();
         if (!PQgetisnull(result.get(), at, field)) value = PQgetvalue(result.get(), at, field);
      }
   return rows;
}

void RemoteLink::endTransaction(bool commits) noexcept {
   const MutexLock lock(mutex_);
   if (!connection_ || !inTransaction_) return;
   const PGTransactionStatusType status = PQtransactionStatus(connection_);
   if (!address_.isKept || (status != PQTRANS_INTRANS && status != PQTRANS_INERROR)) return close();
   try {
      const std::string end = commits ? "COMMIT TRANSACTION" : "ABORT TRANSACTION";
      run(end, end, Waiting::Briefly);
      inTransaction_ = false;
      firstCursor_ = lastCursor_ + 1;
      toClose_.clear();
   } catch (...) {
      close(); // the transaction has only read
   }
}

} // namespace ouzel::io
