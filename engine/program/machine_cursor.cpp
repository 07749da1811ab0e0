#include "engine/core/session_services.hpp"
#include "engine/program/machine.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/bind/type/type_rules.hpp"

// OPEN, FETCH, MOVE, CLOSE and FOR over a cursor. A cursor is one of the session's (DECLARE makes others), so that it
// outlives the program; a variable of type refcursor holds its name.

namespace ouzel::engine {

using namespace sql::program;

std::string Machine::cursorNamed(VariableId id) const {
   const TypedValue& name = variables_.scalar(id);
   if (name.value.isNull)
      throw SqlError(sqlstate::nullValueNotAllowed, "cursor variable \"" + program_.variables[id].name + "\" is null");
   return name.value.bytes;
}

void Machine::requireUnused(VariableId id) const {
   const TypedValue& name = variables_.scalar(id);
   if (!name.value.isNull && core_.services.hasCursor(name.value.bytes))
      throw SqlError(sqlstate::duplicateCursor, "cursor \"" + name.value.bytes + "\" already in use");
}

void Machine::openCursor(VariableId id, const ProgramQuery& query, const std::string& text, Scrolling scrolling) {
   const CursorScroll scroll = scrolling == Scrolling::Scroll     ? CursorScroll::Always
                               : scrolling == Scrolling::NoScroll ? CursorScroll::Never
                                                                  : CursorScroll::Unsaid;
   const TypedValue& name = variables_.scalar(id);
   std::string opened = core_.services.openCursor(name.value.isNull ? std::string() : name.value.bytes,
                                                  startCursorQuery(query, text), scroll, text);
   if (name.value.isNull) variables_.set(id, {sql::plainType(oid::refcursor), Value::string(std::move(opened))});
}

void Machine::openBound(VariableId id, const std::optional<SqlText>& arguments) {
   const BoundCursor& cursor = *program_.variables[id].cursor;
   if (arguments) {
      std::vector<TypedValue> values = evaluateRow(*arguments);
      for (size_t i = 0; i < cursor.arguments.size() && i < values.size(); ++i)
         assignValue(cursor.arguments[i], std::move(values[i]));
   }
   openCursor(id, queryOf(cursor.query), cursor.query.text, cursor.scrolling);
}

Machine::Flow Machine::run(const OpenCursor& node) {
   requireUnused(node.cursor);
   if (node.query) {
      openCursor(node.cursor, queryOf(*node.query), node.query->text, node.scrolling);
   } else if (node.dynamicQuery) {
      const DynamicText dynamic = dynamicText(*node.dynamicQuery, node.parameters);
      openCursor(node.cursor, {core_, nullptr, noName, dynamic.parameters, {}, 0, nullptr}, dynamic.sql,
                 node.scrolling);
   } else {
      openBound(node.cursor, node.arguments);
   }
   return Flow::Next;
}

Machine::Flow Machine::run(const Fetch& node) {
   const std::string name = cursorNamed(node.cursor);
   CursorStep step;
   step.direction = static_cast<CursorStep::Direction>(node.direction);
   step.count = node.count;
   if (node.countExpression) {
      const TypedValue count = evaluate(*node.countExpression, sql::plainType(oid::int4));
      if (count.value.isNull)
         throw SqlError(sqlstate::nullValueNotAllowed, "relative or absolute cursor position is null");
      step.count = count.value.i64;
   }
   QueryRows rows;
   const uint64_t passed = core_.services.fetchCursor(name, step, node.isMove ? nullptr : collectorOf(rows).get());
   if (!node.isMove) assignRow(node.target, rows, 0);
   setFound(passed > 0, passed);
   return Flow::Next;
}

Machine::Flow Machine::run(const CloseCursor& node) {
   core_.services.closeCursor(cursorNamed(node.cursor));
   return Flow::Next;
}

Machine::Flow Machine::forFetched(const ForCursor& node, const std::string& cursor) {
   const Target target{true, {node.record}};
   bool found = false;
   while (true) { // row by row: the body may move the cursor
      QueryRows rows;
      core_.services.fetchCursor(cursor, {}, collectorOf(rows).get());
      if (!rows.rows.empty() || !found) assignRow(target, rows, 0);
      if (rows.rows.empty()) break;
      found = true;
      const auto flow = leavesLoop(runBody(node.body), node.label);
      if (!flow) continue;
      setFound(true, rowCount_);
      return *flow;
   }
   setFound(found, rowCount_);
   return Flow::Next;
}

Machine::Flow Machine::run(const ForCursor& node) {
   requireUnused(node.cursor);
   const bool isUnnamed = variables_.scalar(node.cursor).value.isNull;
   openBound(node.cursor, node.arguments);
   const std::string cursor = cursorNamed(node.cursor);
   if (mayEnd_ == MayEndTransactions::Yes) core_.services.pinCursor(cursor);
   const Flow flow = forFetched(node, cursor);
   core_.services.closeCursor(cursor);
   if (isUnnamed) variables_.clear(node.cursor);
   return flow;
}

} // namespace ouzel::engine
