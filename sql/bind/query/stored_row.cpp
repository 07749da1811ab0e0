#include "sql/bind/query/stored_row.hpp"

#include <map>

#include "sql/bind/expression/expression.hpp"

namespace ouzel::sql {

ExprPtr bindOverTarget(BindState& state, const catalog::Relation& table, const std::vector<GetColumn>& target,
                       std::string_view text, Clause clause) {
   const auto script = ParsedScript::parseExpression(text);
   const SourceText* outer = std::exchange(state.source, nullptr);
   const Oid outerOwn = std::exchange(state.access.own, table.oid);
   ViewTextRecorder* recorder = std::exchange(state.recorder, nullptr); // the text around it does not name this
   Scope scope(nullptr);
   scope.items.push_back(itemOf(table, target));
   auto expr = bindExpr(state, scope, script.expression(), clause);
   state.source = outer;
   state.access.own = outerOwn;
   state.recorder = recorder;
   return expr;
}

namespace {

/// The call of a collation key as makeCollationKey() makes it.
ExprPtr sameKey(ExprPtr key) {
   const Value *locale = knownValue(*key->args[1]), *hasText = knownValue(*key->args[2]);
   if (!locale || !hasText) return key;
   return makeCollationKey(std::move(key->args[0]), {invalidOid, locale->bytes, hasText->i64 != 0, false});
}

} // namespace

std::shared_ptr<const TableParts> boundParts(BindState& state, const catalog::RelationPtr& table, bool withExtra) {
   auto parts = partsOf(state.context.catalog, table, withExtra);
   if (!parts || parts->expressions.empty()) return parts;
   auto bound = std::make_shared<TableParts>();
   bound->table = parts->table;
   bound->parts = parts->parts;
   bound->nodes = parts->nodes;
   bound->extra = parts->extra;
   Scope scope(nullptr);
   std::vector<GetColumn> columns;
   std::map<ColumnId, ExprPtr> byAttribute;
   for (const catalog::Column& column : table->columns) {
      if (column.isDropped) continue;
      const ColumnId id = state.addColumn(scope, column.name, column.type);
      columns.push_back({id, column.attribute});
      byAttribute[id] = makeColumn(ColumnId{static_cast<uint32_t>(column.attribute)}, column.type);
   }
   for (const KeyExpression& expression : parts->expressions) {
      ExprPtr expr = bindOverTarget(state, *table, columns, expression.text, Clause::PartitionKey);
      if (isCollationKey(*expr)) // in the form in which predicates have it
         expr = sameKey(std::move(expr));
      substituteColumns(expr, [&](ColumnId id) { return byAttribute.at(id).get(); });
      bound->expressions.push_back({expression.text, expression.type, expression.reads, std::move(expr)});
   }
   return bound;
}

} // namespace ouzel::sql
