#include "engine/session/session_impl.hpp"
#include "sql/parse/node_access.hpp"

// DECLARE, FETCH, MOVE and CLOSE.

namespace ouzel::engine {

using sql::as;

std::string SessionImpl::declareCursor(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                       std::span<const BoundParameter> parameters) {
   const auto& cursor = *as<::DeclareCursorStmt>(statement.node);
   const bool isHoldable = (cursor.options & CURSOR_OPT_HOLD) != 0;
   if (cursor.options & CURSOR_OPT_SCROLL) throwNotSupported("a SCROLL cursor");
   if (!isHoldable && !core_.transaction.inBlock())
      throw SqlError(sqlstate::noActiveSqlTransaction, "DECLARE CURSOR can only be used in transaction blocks");
   if (portals_.find(cursor.portalname))
      throw SqlError(sqlstate::duplicateCursor, "cursor \"" + std::string(cursor.portalname) + "\" already exists");
   Portal portal;
   portal.isCursor = true;
   portal.isHoldable = isHoldable;
   const std::string_view text = script.source().text();
   const size_t end = statement.offset + statement.text.size();
   portal.text = std::string(statement.text) + (end < text.size() && text[end] == ';' ? ";" : "");
   portal.memory = MemoryCharge(ledger());
   portal.memory.resize(portal.text.size());
   portal.createdAt = core_.statementStart;
   portal.execution = startQuery(core_, script, *cursor.query, parameters);
   if (!portal.execution->written().empty())
      throw SqlError(sqlstate::featureNotSupported,
                     "DECLARE CURSOR must not contain data-modifying statements in WITH");
   if (isHoldable && portal.execution->locksRows())
      throw SqlError(sqlstate::featureNotSupported, "DECLARE CURSOR WITH HOLD ... FOR UPDATE is not supported")
          .detail("Holdable cursors must be READ ONLY.");
   portals_.add(cursor.portalname, std::move(portal), core_.transaction.savepointCount());
   return "DECLARE CURSOR";
}

std::string SessionImpl::fetch(const ::Node& node, ResultSink& sink) {
   const auto& statement = *as<::FetchStmt>(&node);
   Portal* cursor = portals_.find(statement.portalname);
   if (!cursor || (!cursor->execution && !cursor->held))
      throw SqlError(sqlstate::invalidCursorName,
                     "cursor \"" + std::string(statement.portalname) + "\" does not exist");
   if (statement.direction != FETCH_FORWARD || statement.howMany < 0)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "cursor can only scan forward")
          .hint("Declare it with SCROLL option to enable backward scan.");
   if (cursor->isFailed) throwCannotRun(statement.portalname);
   const uint64_t before = cursor->givenRows();
   if (statement.howMany > 0)
      runOrFail(statement.portalname, [&] {
         return cursor->give(statement.howMany == FETCH_ALL ? 0 : static_cast<uint64_t>(statement.howMany),
                             statement.ismove ? nullptr : &sink);
      });
   else if (!statement.ismove)
      sink.begin(cursor->columns());
   return (statement.ismove ? "MOVE " : "FETCH ") + std::to_string(cursor->givenRows() - before);
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
