#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/type/session_format.hpp"
#include "engine/core/result_sink.hpp"

// One client's conversation with the database, without sockets: statements in, batches out. server/ adapts it to the
// wire protocol's Backend.

namespace ouzel::engine {

class Database;

enum class TransactionStatus : char { Idle = 'I', InBlock = 'T', Failed = 'E' };
enum class CancelReason : uint8_t {
   Request,          ///< 57014, the session goes on
   ClientGone,       ///< the connection is broken: 57P01, the session ends
   Shutdown,         ///< 57P01
   StatementTimeout, ///< 57014 in other words, the session goes on
};

/// A parameter as Bind carried it. Text is valid UTF-8.
struct ParameterValue {
   bool isNull = true;
   bool binary = false;
   std::string_view bytes;
};

struct StatementDescription {
   std::vector<Oid> parameterTypes;
   bool returnsRows = false;
   std::vector<ResultColumn> columns;
};

struct ExecuteResult {
   enum class Kind : uint8_t {
      Complete,  ///< `tag` is the command tag
      Suspended, ///< maxRows rows were given and there may be more
      Empty,     ///< the statement text was empty
   };
   Kind kind = Kind::Complete;
   std::string tag;
};

/// The statements of one simple query text, run one after the other; several form one implicit transaction, which the
/// last run() commits before it returns.
class Script {
public:
   virtual ~Script() = default;
   virtual bool next() = 0; ///< go to the next statement; false: there is none
   virtual ExecuteResult run(ResultSink& sink) = 0;
};

struct SessionOptions {
   std::string user = "postgres", database = "postgres";
   std::vector<std::pair<std::string, std::string>> settings; ///< from the startup packet
   int32_t processId = 0;
   std::string clientAddress; ///< for pg_stat_activity
};

/// Used by one thread at a time, except cancel(). Errors in SQL terms are thrown as SqlError; the caller reports the
/// error to the client and then calls fail(). Names of statements and portals live here, because SQL shares them ("" is
/// the unnamed).
class Session {
public:
   /// Throws 3D000 (no such database), 28000 (no such role), 22023/42704 for a bad setting.
   static std::unique_ptr<Session> open(Database& database, const SessionOptions& options, NoticeSink& notices);
   virtual ~Session() = default; ///< rolls back an open transaction

   virtual std::vector<std::pair<std::string, std::string>> reportedParameters() = 0;
   virtual std::vector<std::pair<std::string, std::string>> changedParameters() = 0;
   virtual const SessionFormat& format() const = 0;
   /// Text of a regclass, regtype or the like: the object's name, qualified where the search path does not find it.
   virtual std::string objectName(Oid regType, Oid object) = 0;
   virtual TransactionStatus transactionStatus() const = 0;
   /// Milliseconds that the client may stay silent now before the session is to end; 0: for ever.
   virtual int64_t idleMillisMax() const = 0;

   /// Parses the whole text first: a syntax error anywhere runs nothing. `sql` outlives the Script.
   virtual std::unique_ptr<Script> parseScript(std::string_view sql) = 0;

   virtual void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) = 0;
   virtual const StatementDescription& describeStatement(std::string_view name) = 0; ///< 26000
   virtual void bind(std::string_view portal, std::string_view statement,
                     std::span<const ParameterValue> parameters) = 0;
   virtual const StatementDescription& describePortal(std::string_view name) = 0; ///< 34000
   virtual ExecuteResult execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) = 0;
   virtual void closeStatement(std::string_view name) = 0;
   virtual void closePortal(std::string_view name) = 0;
   virtual void sync() = 0; ///< commits the pipeline's implicit transaction; outside a block portals end here
   virtual void fail() noexcept = 0;
   /// Any thread, any time. Shutdown and ClientGone hold for all later statements too.
   virtual void cancel(CancelReason reason) noexcept = 0;
};

} // namespace ouzel::engine
