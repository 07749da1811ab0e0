#include "engine/session/session_impl.hpp"
#include "sql/parse/node_access.hpp"

// DECLARE, FETCH, MOVE and CLOSE.

namespace ouzel::engine {

using sql::as;

namespace {

void checkOptions(int options) {
   if ((options & CURSOR_OPT_SCROLL) != 0 && (options & CURSOR_OPT_NO_SCROLL) != 0)
      throw SqlError(sqlstate::invalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL");
   if ((options & CURSOR_OPT_ASENSITIVE) != 0 && (options & CURSOR_OPT_INSENSITIVE) != 0)
      throw SqlError(sqlstate::invalidCursorDefinition, "cannot specify both ASENSITIVE and INSENSITIVE");
   if ((options & CURSOR_OPT_BINARY) != 0) throwNotSupported("a BINARY cursor");
}

const char* strengthOf(const ::Node& query) {
   const sql::ListOf<::LockingClause> clauses(as<::SelectStmt>(&query)->lockingClause);
   switch (clauses.size() > 0 ? clauses[0]->strength : LCS_FORUPDATE) { // a clause in a subquery locks as well
   case LCS_FORKEYSHARE: return "FOR KEY SHARE";
   case LCS_FORSHARE: return "FOR SHARE";
   case LCS_FORNOKEYUPDATE: return "FOR NO KEY UPDATE";
   default: return "FOR UPDATE";
   }
}

/// Throws for what a cursor that locks rows cannot be.
void checkLocking(const ::DeclareCursorStmt& cursor) {
   const std::string strength = strengthOf(*cursor.query);
   if ((cursor.options & CURSOR_OPT_HOLD) != 0)
      throw SqlError(sqlstate::featureNotSupported, "DECLARE CURSOR WITH HOLD ... " + strength + " is not supported")
          .detail("Holdable cursors must be READ ONLY.");
   if ((cursor.options & CURSOR_OPT_SCROLL) != 0)
      throw SqlError(sqlstate::featureNotSupported, "DECLARE SCROLL CURSOR ... " + strength + " is not supported")
          .detail("Scrollable cursors must be READ ONLY.");
   if ((cursor.options & CURSOR_OPT_INSENSITIVE) != 0)
      throw SqlError(sqlstate::invalidCursorDefinition, "DECLARE INSENSITIVE CURSOR ... " + strength + " is not valid")
          .detail("Insensitive cursors must be READ ONLY.");
}

/// FETCH and MOVE of a cursor. Returns the number of rows for the command tag.
uint64_t fetchFrom(CursorRows& cursor, const ::FetchStmt& statement, ResultSink* sink) {
   const auto rows = static_cast<int64_t>(statement.howMany);
   if (statement.direction == FETCH_ABSOLUTE) return cursor.absolute(rows, sink);
   if (statement.direction == FETCH_RELATIVE) return cursor.relative(rows, sink);
   if (rows == 0) return cursor.again(sink);
   const bool isForward = (statement.direction == FETCH_FORWARD) == (rows > 0);
   const uint64_t count = rows == FETCH_ALL ? CursorRows::all : static_cast<uint64_t>(rows > 0 ? rows : -rows);
   return isForward ? cursor.forward(count, sink) : cursor.backward(count, sink);
}

/// FETCH and MOVE of a portal that Bind has made: it goes forward only.
uint64_t fetchFromPortal(QueryExecution& execution, const ::FetchStmt& statement, ResultSink* sink) {
   if (statement.direction != FETCH_FORWARD || statement.howMany < 0)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "cursor can only scan forward")
          .hint("Declare it with SCROLL option to enable backward scan.");
   const uint64_t before = execution.givenRows();
   if (statement.howMany > 0)
      execution.run(statement.howMany == FETCH_ALL ? 0 : static_cast<uint64_t>(statement.howMany), sink);
   else if (sink)
      sink->begin(execution.columns());
   return execution.givenRows() - before;
}

} // namespace

std::string SessionImpl::declareCursor(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                       std::span<const BoundParameter> parameters) {
   const auto& cursor = *as<::DeclareCursorStmt>(statement.node);
   const bool isHoldable = (cursor.options & CURSOR_OPT_HOLD) != 0;
   const bool isScrollable = (cursor.options & CURSOR_OPT_SCROLL) != 0;
   checkOptions(cursor.options);
   if (!isHoldable && !core_.transaction.inBlock()) {
      // What is wrong with the query comes first, what the user may not do after.
      const catalog::SearchPath path = core_.searchPath();
      const std::vector<Oid> types = parameterTypes(parameters);
      sql::BindContext bind = core_.bindContext(path, &script.source());
      bind.parameterTypes = types;
      sql::bindQuery(*cursor.query, bind);
      throw SqlError(sqlstate::noActiveSqlTransaction, "DECLARE CURSOR can only be used in transaction blocks");
   }
   Portal portal;
   portal.isHoldable = isHoldable;
   portal.isScrollable = isScrollable;
   const std::string_view text = script.source().text();
   const size_t end = statement.offset + statement.text.size();
   portal.text = std::string(statement.text) + (end < text.size() && text[end] == ';' ? ";" : "");
   portal.memory = MemoryCharge(ledger());
   portal.memory.resize(portal.text.size());
   portal.createdAt = core_.statementStart;
   auto query = startQuery(core_, script, *cursor.query, parameters);
   if (!query->written().empty())
      throw SqlError(sqlstate::featureNotSupported,
                     "DECLARE CURSOR must not contain data-modifying statements in WITH");
   if (query->locksRows()) checkLocking(cursor);
   if (portals_.find(cursor.portalname))
      throw SqlError(sqlstate::duplicateCursor, "cursor \"" + std::string(cursor.portalname) + "\" already exists");
   const CursorRows::Scroll scroll = isScrollable ? CursorRows::Scroll::Always
                                     : (cursor.options & CURSOR_OPT_NO_SCROLL) != 0 || query->locksRows()
                                         ? CursorRows::Scroll::Never
                                         : CursorRows::Scroll::WhileFew;
   portal.cursor = std::make_unique<CursorRows>(core_, std::move(query), scroll);
   portal.audited = audit_.takeWithText(); // until the cursor ends
   portals_.add(cursor.portalname, std::move(portal), core_.transaction.savepointCount());
   return "DECLARE CURSOR";
}

std::string SessionImpl::fetch(const ::Node& node, ResultSink& sink) {
   const auto& statement = *as<::FetchStmt>(&node);
   Portal* portal = portals_.find(statement.portalname);
   if (!portal || (!portal->execution && !portal->cursor))
      throw SqlError(sqlstate::invalidCursorName,
                     "cursor \"" + std::string(statement.portalname) + "\" does not exist");
   if (portal->isFailed) throwCannotRun(statement.portalname);
   const uint64_t passed = runOrFail(statement.portalname, [&] {
      ResultSink* out = statement.ismove ? nullptr : &sink;
      if (!portal->cursor) return fetchFromPortal(*portal->execution, statement, out);
      if (out) out->begin(portal->cursor->columns());
      return fetchFrom(*portal->cursor, statement, out);
   });
   if (portal->audited && !statement.ismove) portal->audited->rows = portal->audited->rows.value_or(0) + passed;
   return (statement.ismove ? "MOVE " : "FETCH ") + std::to_string(passed);
}

std::string SessionImpl::closeCursor(const ::Node& node) {
   const auto& statement = *as<::ClosePortalStmt>(&node);
   if (!statement.portalname) {
      portals_.clear();
      return "CLOSE CURSOR ALL";
   }
   if (!portals_.find(statement.portalname))
      throw SqlError(sqlstate::invalidCursorName,
                     "cursor \"" + std::string(statement.portalname) + "\" does not exist");
   closePortal(statement.portalname);
   return "CLOSE CURSOR";
}

} // namespace ouzel::engine
