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

ExprPtr registerRowFunction(BindState& state, Scope& scope, ExprPtr call) {
   if (scope.clause != Clause::Select || scope.srfBlocker)
      throwNotSupported("a function of several columns here", call->position);
   RowFunction* known = nullptr;
   for (RowFunction& other : scope.rowFunctions)
      if (equal(*other.call, *call) && !isVolatile(*call)) known = &other;
   const uint32_t position = call->position;
   if (!known) {
      auto columns = functionColumns(state, scope, *call);
      for (const ScopeColumn& column : columns)
         state.setKind(column.column, ColumnKind::Srf);
      scope.rowFunctions.push_back({std::move(call), std::move(columns)});
      known = &scope.rowFunctions.back();
   }
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid}, position);
   for (const ScopeColumn& column : known->columns) {
      row->args.push_back(makeColumn(column.column, column.type));
      row->args.back()->position = position;
      row->as<scalar::Row>().names.push_back(column.name);
   }
   return row;
}

} // namespace ouzel::sql
