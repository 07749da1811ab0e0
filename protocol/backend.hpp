#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"

// The interfaces that the protocol needs from a database and a server. server/ implements them over engine/, tests over
// a fake.
//
// Threads: all calls on one Backend come from the thread that runs the session's current message, one at a time, except
// cancel(), which any thread may call. Calls on sinks and sources go back to the protocol from within such a call, on
// that thread, and may block on the client.
//
// Errors: all errors in SQL terms are thrown as SqlError. After each error that it has reported, the protocol calls
// Backend::fail(), which makes a transaction block failed and rolls an implicit transaction back.

namespace ouzel::protocol {

enum class Format : int16_t { Text = 0, Binary = 1 };
enum class TransactionStatus : char { Idle = 'I', InBlock = 'T', Failed = 'E' };
enum class CancelReason : uint8_t {
   Request,    ///< CancelRequest: 57014, the session goes on
   ClientGone, ///< the connection is broken; the session ends
   Shutdown,   ///< SIGTERM: 57P01
};

/// One column of a result: its RowDescription, and how its values lie in a Batch.
struct ResultColumn {
   std::string name;
   SqlType type;
   Representation representation;
   Oid tableOid = invalidOid;   ///< the column is a plain reference to a table's column, or 0
   int16_t attributeNumber = 0; ///< of that table, or 0
};

/// The columns that a prepared statement or a portal returns.
struct ResultShape {
   bool returnsRows = false; ///< false: Describe answers NoData
   std::vector<ResultColumn> columns;
   std::vector<Format> formats; ///< of a portal: one per column. Of a statement: empty, meaning text
};

struct StatementDescription {
   std::vector<Oid> parameterTypes;
   ResultShape result;
};

/// A parameter as Bind carried it; the bytes are valid during bind() only. Text is valid UTF-8 without NUL bytes.
struct RawParameter {
   bool isNull = true;
   Format format = Format::Text;
   std::string_view bytes;
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

/// A NOTICE, WARNING, ... for the client; does not end the statement.
struct Notice {
   enum class Severity : uint8_t { Debug, Log, Info, Notice, Warning };
   Severity severity = Severity::Notice;
   SqlState state = sqlstate::successfulCompletion;
   std::string message, detail, hint, context;
};

/// Encodes values in their text or binary form. Stateless or immutable: batches may be encoded on several threads.
class ValueEncoder {
public:
   virtual ~ValueEncoder() = default;
   /// Append the values of the selected rows to `bytes`, one after the other, and the size of `bytes` after the i-th
   /// one to ends[i]. NULL rows append nothing.
   virtual void append(const Vector& values, const Selection& selection, const ResultColumn& column, Format format,
                       std::string& bytes, uint32_t* ends) const = 0;
};

struct CopyShape {
   Format format = Format::Text; ///< Binary for COPY ... (FORMAT binary); csv is text
   uint16_t columns = 0;
};

/// COPY FROM STDIN: the client's bytes, in the pieces it sent (a piece may end anywhere inside a row).
class CopySource {
public:
   virtual ~CopySource() = default;
   /// The next piece, valid until the next call; nullopt after CopyDone. Blocks on the client. Throws 57014 "COPY from
   /// stdin failed: ..." after CopyFail, 08P01 for anything else, 57014 when the statement was cancelled.
   virtual std::optional<std::string_view> read() = 0;
};

/// The receiver of a running statement's output.
class ResultSink {
public:
   virtual ~ResultSink() = default;
   /// Once per result, before its first rows and also when there are none. Sends RowDescription in the simple protocol.
   /// `shape` must outlive the statement's execution.
   virtual void begin(const ResultShape& shape) = 0;
   /// The live rows of `batch`, in order. May block on a slow client. The views are not used after the call.
   virtual void rows(const Batch& batch) = 0;
   /// Start COPY FROM STDIN. The source lives as long as the sink.
   virtual CopySource& beginCopyIn(const CopyShape& shape) = 0;
   /// Start COPY TO STDOUT.
   virtual void beginCopyOut(const CopyShape& shape) = 0;
   /// Rows of COPY TO STDOUT: row i is bytes[ends[i-1], ends[i]). One CopyData message each, as clients expect.
   virtual void copyRows(std::string_view bytes, std::span<const uint32_t> ends) = 0;
};

/// Notices to the client at any time while a message is handled, also outside results.
class ClientVoice {
public:
   virtual ~ClientVoice() = default;
   virtual void notice(const Notice& notice) = 0;
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

/// One database session as the protocol sees it. Owned by protocol::Session. Names of statements and portals live
/// behind this interface because SQL (PREPARE, DECLARE, DEALLOCATE, DISCARD) shares them; "" is the unnamed one.
class Backend {
public:
   virtual ~Backend() = default;

   /// Settings reported to the client (GUC_REPORT), all of them, at start.
   virtual std::vector<std::pair<std::string, std::string>> reportedParameters() = 0;
   /// Reported settings whose value changed since the last call; asked before each ReadyForQuery.
   virtual std::vector<std::pair<std::string, std::string>> changedParameters() = 0;
   /// The encoder for the present settings (DateStyle, TimeZone, ...); asked anew at each begin() of a result.
   virtual const ValueEncoder& valueEncoder() = 0;
   virtual TransactionStatus transactionStatus() const = 0;
   /// Milliseconds that the client may stay silent now before the session is to end; 0: for ever.
   virtual int64_t idleMillisMax() const { return 0; }

   /// Parse a simple Query's text as a whole: a syntax error anywhere runs nothing. No statements at all: a Script
   /// whose first next() is false. Drops the unnamed statement. `sql` is valid until the Script is destroyed.
   virtual std::unique_ptr<Script> parseScript(std::string_view sql) = 0;

   /// Parse message. A parameter type of 0 is to be inferred. 42P05 when a named one exists already.
   virtual void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) = 0;
   /// 26000 when unknown. Valid until the statement is replaced or closed.
   virtual const StatementDescription& describeStatement(std::string_view name) = 0;
   virtual size_t parameterCount(std::string_view statement) = 0; ///< 26000 when unknown
   /// `resultFormats` as sent: none (all text), one (for all), or one per column; see expandFormats().
   virtual void bind(std::string_view portal, std::string_view statement, std::span<const RawParameter> parameters,
                     std::span<const Format> resultFormats) = 0;
   /// 34000 when unknown. Valid until the portal is closed.
   virtual const ResultShape& describePortal(std::string_view name) = 0;
   /// Run, or go on with, a portal. maxRows 0: no limit; else at most that many rows reach the sink.
   virtual ExecuteResult execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) = 0;
   /// Closing a statement or portal that does not exist is no error.
   virtual void closeStatement(std::string_view name) = 0;
   virtual void closePortal(std::string_view name) = 0;
   /// Sync: commit the implicit transaction of the pipeline, if one is open. Outside a block portals end here.
   virtual void sync() = 0;
   /// Called after an error was reported: see the top of the file. May be called any number of times; never throws.
   virtual void fail() noexcept = 0;

   /// Make the running statement, if any, throw soon. Any thread, any time; Shutdown and ClientGone also hold for all
   /// later statements.
   virtual void cancel(CancelReason reason) noexcept = 0;
};

/// Expand Bind's result formats to one per column; 08P01 when the counts do not fit.
std::vector<Format> expandFormats(std::span<const Format> requested, size_t columns);

/// The contents of the client's startup packet.
struct StartupRequest {
   std::string user, database;                                ///< database defaults to the user's name
   std::vector<std::pair<std::string, std::string>> settings; ///< run-time parameters, `options` already taken apart
};

enum class AuthenticationMethod : uint8_t { Trust, ScramSha256, Reject };
struct AuthenticationRule {
   AuthenticationMethod method = AuthenticationMethod::Reject;
   std::string verifier; ///< as in pg_authid.rolpassword; empty: every password fails, like a wrong one
};

struct BackendKey {
   int32_t processId = 0, secret = 0;
};

/// Authenticates clients and makes Backends. Shared by all sessions of a server; thread-safe.
class Doorkeeper {
public:
   virtual ~Doorkeeper() = default;
   virtual AuthenticationRule ruleFor(const StartupRequest& request) = 0;
   /// 16 or more unpredictable bytes, for nonces and salts.
   virtual void randomBytes(std::span<unsigned char> out) = 0;
   /// Handle a CancelRequest; a key that matches no session is ignored.
   virtual void cancelRequested(const BackendKey& key) = 0;
   /// Open a session after authentication. Throws 3D000, 28000, 53300, ..., which are FATAL for the connection. `voice`
   /// outlives the Backend.
   virtual std::unique_ptr<Backend> open(const StartupRequest& request, ClientVoice& voice) = 0;
};

} // namespace ouzel::protocol
