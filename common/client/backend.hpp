#pragma once
#include <memory>
#include <utility>

#include "common/client/notification.hpp"
#include "common/client/result_sink.hpp"
#include "common/text/encoding.hpp"

// What a client says to its session. The engine implements Backend, the wire protocol calls it, and tests of the
// protocol have a fake.
//
// Threads: all calls on one Backend come from the thread that runs the session's current message, one at a time, except
// cancel(), which any thread may call.
//
// Errors: all errors in SQL terms are thrown as SqlError. The caller reports the error to the client and then calls
// Backend::fail(), which makes a transaction block failed and rolls an implicit transaction back.

namespace ouzel {

enum class TransactionStatus : char { Idle = 'I', InBlock = 'T', Failed = 'E' };

enum class CancelReason : uint8_t {
   Request,          ///< CancelRequest: 57014, the session goes on
   ClientGone,       ///< the connection is broken: 57P01, the session ends
   Shutdown,         ///< SIGTERM, pg_terminate_backend(): 57P01, the session ends
   StatementTimeout, ///< the session's own: 57014 in other words, the session goes on
};

/// A prepared statement, before it runs.
struct StatementDescription {
   std::vector<Oid> parameterTypes;      ///< by which their values are read
   std::vector<Oid> shownParameterTypes; ///< as clients are told: domains as themselves
   bool returnsRows = false;
   std::vector<ResultColumn> columns;

   SqlType parameterType(size_t i) const {
      const Oid base = parameterTypes[i], shown = shownParameterTypes[i];
      return {base, -1, invalidOid, shown == base ? invalidOid : shown};
   }
};

/// A portal: the columns of its rows, and the formats that Bind asked for, see formatOf().
struct PortalDescription {
   bool returnsRows = false;
   std::span<const ResultColumn> columns;
   std::span<const ValueFormat> formats;
};

/// A parameter as Bind carried it; the bytes are valid during bind() only. Text is valid UTF-8 without NUL bytes; texts
/// in the binary format are in the client's encoding.
struct RawParameter {
   bool isNull = true;
   ValueFormat format = ValueFormat::Text;
   std::string_view bytes;
};

/// A FunctionCall message; parameters as in Bind.
struct FunctionCall {
   Oid function = invalidOid;
   size_t formats = 0; ///< of the arguments, as many as the message has
   std::vector<RawParameter> arguments;
   ValueFormat resultFormat = ValueFormat::Text;
};

struct ExecuteResult {
   enum class Kind : uint8_t {
      Complete,  ///< CommandComplete with `tag`
      Suspended, ///< maxRows rows were given and there may be more
      Empty,     ///< the statement text was empty
   };
   Kind kind = Kind::Complete;
   std::string tag; ///< "SELECT 5", "INSERT 0 1", "BEGIN"
};

/// The statements of one simple Query message. Run in order; several form one implicit transaction, which the last
/// run() commits before it returns, so that a failed commit is reported as the last statement's error.
class Script {
public:
   virtual ~Script() = default;
   /// Go to the next statement; false when there is none left.
   virtual bool next() = 0;
   virtual ExecuteResult run(ResultSink& sink) = 0;
};

/// One database session. Names of statements and portals live behind this interface because SQL (PREPARE, DECLARE,
/// DEALLOCATE, DISCARD) shares them; "" is the unnamed one.
class Backend {
public:
   virtual ~Backend() = default; ///< rolls back an open transaction

   /// Settings reported to the client (GUC_REPORT), all of them, at start.
   virtual std::vector<std::pair<std::string, std::string>> reportedParameters() = 0;
   /// Reported settings whose value changed since the last call; asked before each ReadyForQuery.
   virtual std::vector<std::pair<std::string, std::string>> changedParameters() = 0;
   /// The encoder for the present settings (DateStyle, TimeZone, ...), valid until the next call; asked anew at each
   /// begin() of a result.
   virtual const ValueEncoder& valueEncoder() = 0;
   /// In which the client sends and expects texts; all texts of this interface are UTF-8.
   virtual CharacterEncoding clientEncoding() const { return CharacterEncoding::Utf8; }
   virtual TransactionStatus transactionStatus() const = 0;
   /// Messages of NOTIFY that the client is to get now; each is given once. None within a transaction block.
   virtual std::vector<Notification> notifications() { return {}; }
   /// Milliseconds that the client may stay silent now before the session is to end; 0: for ever.
   virtual int64_t idleMillisMax() const { return 0; }

   /// Parse a simple Query's text as a whole: a syntax error anywhere runs nothing. No statements at all: a Script
   /// whose first next() is false. Drops the unnamed statement. `sql` is valid until the Script is destroyed.
   virtual std::unique_ptr<Script> parseScript(std::string_view sql) = 0;

   /// Parse message. A parameter type of 0 is to be inferred. 42P05 when a named one exists already.
   virtual void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) = 0;
   /// 26000 when unknown. Valid until the statement is replaced or closed.
   virtual const StatementDescription& describeStatement(std::string_view name) = 0;
   /// Bind message. 26000 when the statement is unknown, 42P03 when a named portal exists already, 08P01 when the
   /// number of parameters or formats does not fit the statement. `resultFormats` as sent: see formatOf().
   virtual void bind(std::string_view portal, std::string_view statement, std::span<const RawParameter> parameters,
                     std::span<const ValueFormat> resultFormats) = 0;
   /// 34000 when unknown. Valid until the portal is closed.
   virtual PortalDescription describePortal(std::string_view name) = 0;
   /// Run, or go on with, a portal. maxRows 0: no limit; else at most that many rows reach the sink.
   virtual ExecuteResult execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) = 0;
   /// Closing a statement or portal that does not exist is no error.
   virtual void closeStatement(std::string_view name) = 0;
   virtual void closePortal(std::string_view name) = 0;
   /// Call a function by its OID. The sink gets one row with the result, in the format that the call asks for. Outside
   /// a block the call is a transaction. 42883 when there is no such function, 08P01 when the arguments do not fit it.
   virtual void callFunction(const FunctionCall& /*call*/, ResultSink& /*sink*/) {
      throwNotSupported("the function call message");
   }
   /// Sync: commit the implicit transaction of the pipeline, if one is open. Outside a block portals end here.
   virtual void sync() = 0;
   /// Called after an error was reported: see the top of the file. May be called any number of times; never throws.
   virtual void fail() noexcept = 0;

   /// Make the running statement, if any, throw soon. Any thread, any time; Shutdown and ClientGone also hold for all
   /// later statements.
   virtual void cancel(CancelReason reason) noexcept = 0;
};

} // namespace ouzel
