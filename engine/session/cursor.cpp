#include "engine/session/session_impl.hpp"
#include "sql/parse/node_access.hpp"
#include "storage/table/table.hpp"

// DECLARE, FETCH, MOVE and CLOSE.

namespace ouzel::engine {

using sql::as;

namespace {

void checkOptions(int options) {
   if ((options & CURSOR_OPT_SCROLL) != 0 && (options & CURSOR_OPT_NO_SCROLL) != 0)
      throw SqlError(sqlstate::invalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL");
   if ((options & CURSOR_OPT_ASENSITIVE) != 0 && (options & CURSOR_OPT_INSENSITIVE) != 0)
      throw SqlError(sqlstate::invalidCursorDefinition, "cannot specify both ASENSITIVE and INSENSITIVE");
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

CursorStep stepOf(const ::FetchStmt& statement) {
   static_assert(FETCH_ALL == CursorStep::all);
   using enum CursorStep::Direction;
   const auto direction = statement.direction == FETCH_FORWARD    ? Forward
                          : statement.direction == FETCH_BACKWARD ? Backward
                          : statement.direction == FETCH_ABSOLUTE ? Absolute
                                                                  : Relative;
   return {direction, static_cast<int64_t>(statement.howMany)};
}

/// FETCH and MOVE of a cursor. Returns the number of rows for the command tag.
uint64_t fetchFrom(CursorRows& cursor, const CursorStep& step, ResultSink* sink) {
   using enum CursorStep::Direction;
   const int64_t rows = step.count;
   if (step.direction == Absolute) return cursor.absolute(rows, sink);
   if (step.direction == Relative) return cursor.relative(rows, sink);
   if (rows == 0) return cursor.again(sink);
   const bool isForward = (step.direction == Forward) == (rows > 0);
   const uint64_t count = rows == CursorStep::all ? CursorRows::all : static_cast<uint64_t>(rows > 0 ? rows : -rows);
   return isForward ? cursor.forward(count, sink) : cursor.backward(count, sink);
}

/// FETCH and MOVE of a portal that Bind has made: it goes forward only.
uint64_t fetchFromPortal(QueryExecution& execution, const CursorStep& step, ResultSink* sink) {
   if (step.direction != CursorStep::Direction::Forward || step.count < 0)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "cursor can only scan forward")
          .hint("Declare it with SCROLL option to enable backward scan.");
   const uint64_t before = execution.givenRows();
   if (step.count > 0)
      execution.run(step.count == CursorStep::all ? 0 : static_cast<uint64_t>(step.count), sink);
   else if (sink)
      sink->begin(execution.columns());
   return execution.givenRows() - before;
}

CursorRows::Scroll scrollOf(CursorScroll wanted, const QueryExecution& query) {
   if (wanted == CursorScroll::Always) return CursorRows::Scroll::Always;
   const bool isNever = wanted == CursorScroll::Never || query.locksRows();
   return isNever ? CursorRows::Scroll::Never : CursorRows::Scroll::WhileFew;
}

} // namespace

std::string SessionImpl::declareCursor(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                       std::span<const BoundParameter> parameters) {
   const auto& cursor = *as<::DeclareCursorStmt>(statement.node);
   const bool isHoldable = (cursor.options & CURSOR_OPT_HOLD) != 0;
   const bool isScrollable = (cursor.options & CURSOR_OPT_SCROLL) != 0;
   checkOptions(cursor.options);
   refuseInto(script, *cursor.query);
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
   portal.isBinary = (cursor.options & CURSOR_OPT_BINARY) != 0;
   const std::string_view text = script.source().text();
   const size_t end = statement.offset + statement.text.size();
   portal.text = std::string(statement.text) + (end < text.size() && text[end] == ';' ? ";" : "");
   portal.memory = MemoryCharge(ledger());
   portal.memory.resize(portal.text.size());
   portal.createdAt = core_.statementStart;
   auto query = [&] {
      const OpensCursor opens(core_, *cursor.query);
      return startQuery(core_, script, *cursor.query, parameters);
   }();
   if (!query->written().empty())
      throw SqlError(sqlstate::featureNotSupported,
                     "DECLARE CURSOR must not contain data-modifying statements in WITH");
   if (query->locksRows()) checkLocking(cursor);
   if (portals_.find(cursor.portalname))
      throw SqlError(sqlstate::duplicateCursor, "cursor \"" + std::string(cursor.portalname) + "\" already exists");
   const CursorScroll scroll = isScrollable                                   ? CursorScroll::Always
                               : (cursor.options & CURSOR_OPT_NO_SCROLL) != 0 ? CursorScroll::Never
                                                                              : CursorScroll::Unsaid;
   const CursorRows::Scroll kept = scrollOf(scroll, *query);
   portal.cursor = std::make_unique<CursorRows>(core_, std::move(query), kept);
   portal.audited = audit_.takeWithText(); // until the cursor ends
   portals_.add(cursor.portalname, std::move(portal), core_.transaction.savepointCount());
   return "DECLARE CURSOR";
}

std::string SessionImpl::openCursor(std::string name, std::unique_ptr<QueryExecution> query, CursorScroll scroll,
                                    std::string text) {
   if (scroll == CursorScroll::Always && query->locksRows())
      throw SqlError(sqlstate::featureNotSupported, "DECLARE SCROLL CURSOR ... FOR UPDATE/SHARE is not supported")
          .detail("Scrollable cursors must be READ ONLY.");
   const bool isUnnamed = name.empty();
   while (isUnnamed && (name.empty() || portals_.find(name)))
      name = "<unnamed portal " + std::to_string(++unnamedCursors_) + ">";
   if (portals_.find(name)) throw SqlError(sqlstate::duplicateCursor, "cursor \"" + name + "\" already exists");
   Portal portal;
   portal.isScrollable = scroll == CursorScroll::Always;
   portal.text = std::move(text);
   portal.memory = MemoryCharge(ledger());
   portal.memory.resize(portal.text.size());
   portal.createdAt = core_.statementStart;
   const CursorRows::Scroll kept = scrollOf(scroll, *query);
   portal.cursor = std::make_unique<CursorRows>(core_, std::move(query), kept);
   portals_.add(name, std::move(portal), core_.transaction.savepointCount());
   return name;
}

Portal& SessionImpl::requireCursor(std::string_view name) {
   Portal* portal = portals_.find(name);
   if (!portal) throw SqlError(sqlstate::invalidCursorName, "cursor \"" + std::string(name) + "\" does not exist");
   if (portal->isFailed) throwCannotRun(name);
   if (!portal->cursor && !portal->execution) startBound(name, *portal);
   return *portal;
}

uint64_t SessionImpl::fetchCursor(std::string_view name, const CursorStep& step, ResultSink* sink) {
   Portal& portal = requireCursor(name);
   return runOrFail(name, [&] {
      if (!portal.cursor) return fetchFromPortal(*portal.execution, step, sink);
      if (sink) sink->begin(portal.cursor->columns());
      return fetchFrom(*portal.cursor, step, sink);
   });
}

void SessionImpl::useFormatOf(const ::Node& node, ResultSink& sink) const {
   if (!sql::isNode(&node, T_FetchStmt)) return;
   const auto& statement = *as<::FetchStmt>(&node);
   const Portal* portal = statement.ismove ? nullptr : portals_.find(statement.portalname);
   static constexpr ValueFormat binary[] = {ValueFormat::Binary};
   if (portal && portal->isBinary) sink.useFormats(binary);
}

std::string SessionImpl::fetch(const ::Node& node, ResultSink& sink) {
   const auto& statement = *as<::FetchStmt>(&node);
   const Portal& portal = requireCursor(statement.portalname);
   const uint64_t passed = fetchCursor(statement.portalname, stepOf(statement), statement.ismove ? nullptr : &sink);
   if (portal.audited && !statement.ismove) portal.audited->rows = portal.audited->rows.value_or(0) + passed;
   return (statement.ismove ? "MOVE " : "FETCH ") + std::to_string(passed);
}

void SessionImpl::closeCursor(std::string_view name) {
   const Portal* portal = portals_.find(name);
   if (!portal) throw SqlError(sqlstate::invalidCursorName, "cursor \"" + std::string(name) + "\" does not exist");
   if (portal->isRunning)
      throw SqlError(sqlstate::invalidCursorState, "cannot drop active portal \"" + std::string(name) + "\"");
   closePortal(name);
}

std::string SessionImpl::closeCursors(const ::Node& node) {
   const auto& statement = *as<::ClosePortalStmt>(&node);
   if (!statement.portalname) {
      portals_.clear();
      return "CLOSE CURSOR ALL";
   }
   closeCursor(statement.portalname);
   return "CLOSE CURSOR";
}

namespace {

[[noreturn]] void throwBadState(const std::string& message) {
   throw SqlError(sqlstate::invalidCursorState, message);
}

/// The part of the table that a place of the row lies in; invalidOid: an outer join has none.
Oid tableOf(const sql::RowPlace& place, const std::vector<Value>& hidden) {
   if (hidden[place.rowId].isNull) return invalidOid;
   return place.tableOid ? static_cast<Oid>(hidden[*place.tableOid].i64) : place.table;
}

/// The place among those of a cursor that a statement on the table means. Throws 24000 if that is not clear.
const sql::RowPlace& placeFor(const std::string& cursor, const CursorRows& rows,
                              const std::optional<std::vector<Value>>& hidden, const catalog::Relation& table) {
   const sql::RowPlace* found = nullptr;
   size_t count = 0;
   bool locks = false;
   for (const sql::RowPlace& place : rows.places()) {
      locks = locks || place.isLocked;
      if (place.table != table.oid && !(hidden && tableOf(place, *hidden) == table.oid)) continue;
      found = &place;
      ++count;
   }
   const std::string about = "cursor \"" + cursor + "\" ", what = " table \"" + table.name + "\"";
   if (locks && count == 0) throwBadState(about + "does not have a FOR UPDATE/SHARE reference to" + what);
   if (locks && count > 1) throwBadState(about + "has multiple FOR UPDATE/SHARE references to" + what);
   if (count != 1) throwBadState(about + "is not a simply updatable scan of" + what);
   return *found;
}

} // namespace

sql::CursorPlace SessionImpl::cursorPlace(const std::string& name, const catalog::Relation& table) {
   Portal& portal = requireCursor(name);
   if (!portal.cursor)
      throwBadState("cursor \"" + name + "\" is not a simply updatable scan of table \"" + table.name + "\"");
   if (!portal.cursor->query()) throwBadState("cursor \"" + name + "\" is held from a previous transaction");
   const auto hidden = portal.cursor->hiddenValues();
   const sql::RowPlace& place = placeFor(name, *portal.cursor, hidden, table);
   if (!hidden) throwBadState("cursor \"" + name + "\" is not positioned on a row");
   const Oid part = tableOf(place, *hidden);
   constexpr int64_t noRow = -1; // the outer side of a join has no row
   return {part, part == invalidOid ? noRow : (*hidden)[place.rowId].i64};
}

void SessionImpl::cursorFollows(QueryExecution& update) {
   Portal* portal = portals_.find(update.cursor());
   if (!portal || !portal->cursor || update.written().empty()) return;
   auto hidden = portal->cursor->hiddenValues();
   const Oid target = update.written().front().relation;
   const auto table = core_.transaction.catalog().relation(target);
   if (!hidden || !table) return;
   const sql::RowPlace& place = placeFor(update.cursor(), *portal->cursor, hidden, *table);
   const auto part = core_.transaction.catalog().relation(tableOf(place, *hidden));
   const auto stored = part ? core_.database.storage->find(part->storage) : nullptr;
   if (!stored) return;
   const auto written = stored->newKeys(core_.transaction.storage(), update.command(), {0}, true, 1);
   if (!written || written->rows.size() != 1) return;
   (*hidden)[place.rowId] = Value::integer(PhysicalType::I64, static_cast<int64_t>(written->rows[0]));
   portal->cursor->setHidden(std::move(*hidden));
}

} // namespace ouzel::engine
