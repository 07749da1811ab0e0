#include "sql/bind/expression/row.hpp"

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// ROW(...), whole-row references and functions of several columns. Comparisons, IN, IS NULL and field selection take a
// Row apart; a subquery passes on its fields; all other constructs make it a value.

namespace ouzel::sql {

namespace {

void adoptFields(BindState& state, const Scope& scope, const std::vector<ScopeColumn>& fields);

std::vector<std::string> fieldNames(const Expr& row) {
   std::vector<std::string> names = row.as<scalar::Row>().names;
   for (size_t i = names.size(); i < row.args.size(); ++i)
      names.push_back("f" + std::to_string(i + 1));
   return names;
}

} // namespace

ExprPtr bindRow(BindState& state, Scope& scope, const ::RowExpr& node) {
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid}, state.at(node.location));
   row->args = bindExpressionList(state, scope, node.args, scope.clause);
   if (row->args.size() > 1664)
      throw SqlError(sqlstate::tooManyColumns, "ROW expressions can have at most 1664 entries").at(row->position);
   return row;
}

ExprPtr referTo(const ScopeColumn& column, uint32_t position) {
   if (column.column != noColumn) {
      auto expr = makeColumn(column.column, column.type);
      expr->position = position;
      return expr;
   }
   auto row = makeTyped(ExprKind::Row, column.type, position);
   for (const ScopeColumn& field : column.fields) {
      row->args.push_back(referTo(field, position));
      row->as<scalar::Row>().names.push_back(field.name);
   }
   return row;
}

bool mayBeMissing(const Expr& expr) {
   const auto* row = expr.getIf<scalar::Row>();
   return row && row->isNullExtended && expr.type.oid != oid::record;
}

void placeRow(BindState& state, Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
              std::vector<ComputedColumn>& computed) {
   checkStack();
   const auto names = fieldNames(row);
   for (size_t i = 0; i < row.args.size(); ++i) {
      const Expr& field = *row.args[i];
      ScopeColumn placed{names[i], noColumn, field.type};
      if (field.kind == ExprKind::Row && !mayBeMissing(field)) {
         placeRow(state, scope, field, placed.fields, computed);
      } else if (field.kind == ExprKind::Column && state.depthOf(columnOf(field)) == scope.depth) {
         placed.column = columnOf(field);
      } else {
         auto value = rowValue(state, unknownToText(state, clone(field)));
         placed.type = value->type;
         placed.column = state.addColumn(scope, names[i], value->type);
         computed.push_back({placed.column, std::move(value)});
      }
      fields.push_back(std::move(placed));
   }
}

void makeRowsValues(BindState& state, uint32_t depth, BoundRel& query) {
   std::vector<ComputedColumn> computed;
   for (size_t i = 0; i < query.output.size(); ++i) {
      OutputColumn& output = query.output[i];
      if (output.column != noColumn) continue;
      ScopeColumn column{output.name, noColumn, output.type};
      column.fields = std::move(query.fields[i]);
      query.fields[i].clear();
      auto value = rowValue(state, referTo(column, 0));
      output.type = value->type;
      output.column = state.addColumn(depth, output.name, output.type);
      computed.push_back({output.column, std::move(value)});
   }
   query.rel = makeMap(std::move(query.rel), std::move(computed));
}

std::vector<ScopeColumn> scopeColumns(BindState& state, const Scope& scope, const BoundRel& query) {
   std::vector<ScopeColumn> columns;
   for (size_t i = 0; i < query.output.size(); ++i) {
      const OutputColumn& output = query.output[i];
      ScopeColumn column{output.name, output.column, output.type};
      if (output.column != noColumn) {
         state.adopt(scope, output.column);
      } else {
         column.fields = query.fields[i];
         adoptFields(state, scope, column.fields);
      }
      columns.push_back(std::move(column));
   }
   return columns;
}

namespace {

void adoptFields(BindState& state, const Scope& scope, const std::vector<ScopeColumn>& fields) {
   checkStack();
   for (const ScopeColumn& field : fields)
      if (field.column != noColumn) {
         state.adopt(scope, field.column);
      } else {
         adoptFields(state, scope, field.fields);
      }
}

} // namespace

} // namespace ouzel::sql
