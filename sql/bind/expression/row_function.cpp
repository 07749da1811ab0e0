#include "sql/bind/expression/row_function.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/type/type_rules.hpp"

// Functions of several columns: their columns in FROM, and their Row in a select list.

namespace ouzel::sql {

using catalog::FunctionInfo;

/// information_schema's helper: the elements of an array and their numbers.
bool isExpandArray(const FunctionInfo& function) {
   return function.name == "_pg_expandarray";
}

std::vector<ScopeColumn> functionColumns(BindState& state, const Scope& scope, const Expr& call) {
   std::vector<ScopeColumn> columns;
   if (call.kind != ExprKind::Call) return columns;
   const FunctionInfo& function = *functionOf(call);
   for (size_t i = 0; i < function.argModes.size(); ++i) {
      const char mode = function.argModes[i];
      if (mode != 'o' && mode != 'b' && mode != 't') continue;
      Oid type = function.allArgTypes[i];
      if (isExpandArray(function) && isPolymorphic(type)) type = elementType(call.args[0]->type.oid);
      if (isPolymorphic(type)) throwNotSupported("function " + std::string(function.name) + " in FROM", call.position);
      std::string name(i < function.argNames.size() ? function.argNames[i] : std::string_view());
      if (name.empty()) name = "column" + std::to_string(columns.size() + 1);
      columns.push_back({name, state.addColumn(scope, name, plainType(type)), plainType(type)});
   }
   return columns;
}

namespace {

void requireSelectList(const Scope& scope, uint32_t position) {
   if (scope.clause != Clause::Select || scope.srfBlocker)
      throwNotSupported("a function of several columns here", position);
}

ExprPtr rowOf(const std::vector<ScopeColumn>& columns, uint32_t position) {
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid}, position);
   for (const ScopeColumn& column : columns) {
      row->args.push_back(makeColumn(column.column, column.type));
      row->args.back()->position = position;
      row->as<scalar::Row>().names.push_back(column.name);
   }
   return row;
}

} // namespace

ExprPtr registerRowFunction(BindState& state, Scope& scope, ExprPtr call) {
   requireSelectList(scope, call->position);
   RowFunction* known = nullptr;
   for (RowFunction& other : scope.rowFunctions)
      if (other.call && equal(*other.call, *call) && !isVolatile(*call)) known = &other;
   const uint32_t position = call->position;
   if (!known) {
      auto columns = functionColumns(state, scope, *call);
      for (const ScopeColumn& column : columns)
         state.setKind(column.column, ColumnKind::Srf);
      scope.rowFunctions.push_back({std::move(call), std::move(columns)});
      known = &scope.rowFunctions.back();
   }
   return rowOf(known->columns, position);
}

ExprPtr registerRows(BindState& state, Scope& scope, RelPtr rows, std::vector<ScopeColumn> columns, uint32_t position) {
   requireSelectList(scope, position);
   for (const ScopeColumn& column : columns) {
      state.adopt(scope, column.column);
      state.setKind(column.column, ColumnKind::Srf);
   }
   auto row = rowOf(columns, position);
   row->as<scalar::Row>().isNullExtended = true;
   scope.rowFunctions.push_back({nullptr, std::move(columns), std::move(rows)});
   return row;
}

} // namespace ouzel::sql
