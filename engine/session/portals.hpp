#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/generic_plan.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/session/cursor_rows.hpp"
#include "engine/session/statement_audit.hpp"
#include "engine/session/statement_counting.hpp"
#include "engine/session/statement_log.hpp"

namespace ouzel::engine {

/// A prepared statement. Its text is parsed on each use: parsing costs microseconds, and a tree may not move to another
/// thread.
struct PreparedStatement {
   std::string name; ///< "": the unnamed one
   std::string text;
   StatementClass logClass = StatementClass::Other;
   AuditTraits audit;
   CountedStatement counted; ///< for pg_stat_statements
   std::string_view command; ///< for the log: "SELECT"
   std::vector<Oid> declaredTypes;
   StatementDescription description;
   bool isEmpty = false;
   bool showsOthers = false; ///< FETCH, EXECUTE: gives the rows of a cursor or of another statement
   bool isFromSql = false;   ///< PREPARE rather than the Parse message
   std::string shownText;    ///< in pg_prepared_statements
   int64_t preparedAt = 0;
   SessionFormat literals; ///< how its literals are read: '01/02/2000' stays the day that it was in PREPARE
   /// Made by the second execution, if one plan is good for all values; dropped when objects or settings change.
   mutable std::shared_ptr<GenericPlan> generic;
   mutable bool hasRun = false;
   mutable bool needsPlanning = false; ///< no generic plan: each execution is planned for its values
   MemoryCharge memory;                ///< of all but the generic plan
};

/// A portal: a statement with parameters, before or during its execution. Ends with its transaction, unless it is a
/// cursor WITH HOLD. Execution states: bound (no execution), suspended (an execution), isDone.
struct Portal {
   std::shared_ptr<const PreparedStatement> statement;
   std::vector<BoundParameter> parameters;
   std::vector<ValueFormat> formats;           ///< of the rows, as Bind asked for them: see formatOf()
   std::optional<StatementDescription> others; ///< of its rows, when it was bound; only if the statement showsOthers
   std::unique_ptr<QueryExecution> execution;  ///< of a query, from its first Execute on
   std::unique_ptr<CursorRows> cursor;         ///< of a cursor, which has no other execution
   bool isDone = false;
   bool isFailed = false;     ///< an error ended its execution
   bool isRunning = false;    ///< its query runs, and perhaps a function that would close it
   bool isHoldable = false;   ///< WITH HOLD
   bool isPinned = false;     ///< has the rows of a loop, whose program may end the transaction
   bool isScrollable = false; ///< SCROLL
   bool isBinary = false;     ///< BINARY
   std::string text;          ///< of a cursor, for pg_cursors
   int64_t createdAt = 0;
   MemoryCharge memory; ///< of all but the execution
   /// Of a statement that has begun and may have more rows, while there is an audit: its record comes when the portal
   /// ends.
   std::unique_ptr<AuditedStatement> audited;
   std::unique_ptr<CountedRun> counted; ///< of such a statement, too

   bool outlivesTransaction() const { return isHoldable || isPinned; }
   PortalDescription describe() const;
   /// The query that has begun and may have more rows; null: none.
   const QueryExecution* running() const { return cursor ? cursor->query() : execution.get(); }
};

/// The portals of a session, by name; "" is the unnamed one. A portal made within a savepoint ends when the savepoint
/// is rolled back to, as its rows may be gone. Others go on: a query does not see what later commands of its
/// transaction write, so that undoing these changes nothing for it.
///
/// A level is the number of savepoints that were open when the portal was made.
class Portals {
public:
   Portal* find(std::string_view name);
   const Portal* find(std::string_view name) const { return const_cast<Portals*>(this)->find(name); }
   /// Replaces a portal of that name.
   Portal& add(std::string_view name, Portal portal, size_t level);
   void close(std::string_view name);
   /// CLOSE ALL. A portal that runs stays.
   void clear();

   /// Keep the rows that cursors WITH HOLD and pinned ones have not given yet, and end the other portals of the
   /// transaction but the one whose procedure commits. Before a commit; throws the errors of these queries.
   void hold();
   /// Before a ROLLBACK of a procedure: pinned ones keep their rows, and the transaction has no part in them any more;
   /// its other portals end, but the one whose procedure it is.
   void holdPinned();
   /// Whether hold() has queries to run.
   bool willHold() const;
   /// Whether the transaction has made a cursor WITH HOLD.
   bool hasNewHoldable() const;
   /// The commit has succeeded: what was held outlives the transaction.
   void committed();
   /// End the transaction's portals of `level` and above: before ROLLBACK (0) and ROLLBACK TO.
   void endFrom(size_t level);
   /// After an error in a block: what these portals run ends. They themselves stay for clients that ask for them, and
   /// learn that the transaction has failed.
   void failFrom(size_t level);
   /// RELEASE: portals of higher levels belong to this one from now on.
   void joinLevel(size_t level);

   /// Whether a query that is not closed reads or writes the relation.
   bool read(Oid relation) const;
   /// The rows of pg_cursors.
   std::vector<catalog::SystemState::Cursor> list() const;

private:
   struct Entry {
      Portal portal;
      std::optional<size_t> level; ///< none: the portal's transaction has ended
   };
   std::map<std::string, Entry, std::less<>> entries_;
};

/// While it lives, the portal of this name, if there is one, runs. Throws 55000 if it does so already.
class RunningPortal {
public:
   RunningPortal(Portals& portals, std::string_view name);
   ~RunningPortal();
   RunningPortal(const RunningPortal&) = delete;

private:
   Portals& portals_;
   const std::string name_;
   bool isSet_ = false;
};

} // namespace ouzel::engine
