#include "sql/bind/query/table_function.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/row_function.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Functions in FROM: generate_series(...), unnest(...) WITH ORDINALITY, ROWS FROM (...).

namespace ouzel::sql {

using catalog::builtins;
using catalog::FunctionInfo;

namespace {

const SqlType int8Type{oid::int8, -1, invalidOid};

/// A function call in FROM whose arguments are bound.
struct BoundFunction {
   ExprPtr call;
   std::string name; ///< of the function
};

/// json_populate_record(NULL::record, json) AS t(a integer) is json_to_record(json) AS t(a integer).
void takeColumnsFromList(Expr& call) {
   const std::string_view name = functionOf(call)->name;
   const size_t at = name.find("_populate_");
   if (at == std::string_view::npos) return;
   if (!isNullConstant(*call.args[0]))
      throwNotSupported("a record to fill, and a column definition list", call.position);
   const std::string other = std::string(name.substr(0, at)) + "_to_" + std::string(name.substr(at + 10));
   call.as<scalar::Call>().function = builtins().functions(other)[0];
   auto json = std::move(call.args[1]);
   call.args.clear();
   call.args.push_back(std::move(json));
}

/// json_to_record(...) AS t(a integer, b text): gives the columns, and the function their names as a further argument.
std::vector<ScopeColumn> defineColumns(BindState& state, const Scope& scope, const ::List* definitions, Expr& call) {
   const FunctionInfo* function = functionOf(call);
   const uint32_t position = state.at(ListOf<::ColumnDef>(definitions).front()->location);
   const bool isRecord = call.type.oid == oid::record;
   if (function && isRecord && !function->argModes.empty())
      throw SqlError(sqlstate::syntaxError, "a column definition list is redundant for a function with OUT parameters")
          .at(position);
   if (!function || !isRecord)
      throw SqlError(sqlstate::syntaxError,
                     "a column definition list is only allowed for functions returning \"record\"")
          .at(position);
   takeColumnsFromList(call);
   if (functionOf(call)->name.find("_to_record") == std::string_view::npos) // they take the names as an argument
      throwNotSupported("a column definition list for " + std::string(functionOf(call)->name), position);
   std::vector<ScopeColumn> columns;
   std::vector<ExprPtr> names;
   for (const ::ColumnDef* definition : ListOf<::ColumnDef>(definitions)) {
      const SqlType type = resolveColumnType(*definition, state.context);
      const std::string name = definition->colname;
      if (std::any_of(columns.begin(), columns.end(), [&](const ScopeColumn& other) { return other.name == name; }))
         throw SqlError(sqlstate::duplicateColumn, "column name \"" + name + "\" specified more than once")
             .at(state.at(definition->location));
      columns.push_back({name, state.addColumn(scope, name, type), type});
      names.push_back(makeConstant(plainType(oid::text), Value::string(name)));
   }
   call.args.push_back(makeArrayExpr(std::move(names), oid::textArray, position));
   return columns;
}

RelPtr functionRows(BindState& state, const Scope& scope, ExprPtr call, const std::vector<ScopeColumn>& columns,
                    ColumnId ordinality) {
   op::TableFunction rows;
   rows.function = functionOf(*call);
   rows.args = std::move(call->args);
   rows.ordinality = ordinality;
   if (!isExpandArray(*rows.function)) {
      for (const ScopeColumn& column : columns)
         rows.columns.push_back(column.column);
      return makeRel(RelKind::TableFunction, std::move(rows));
   }
   for (const FunctionInfo* unnest : builtins().functions("unnest"))
      if (unnest->argTypes[0] == oid::anyarray) rows.function = unnest;
   rows.columns.push_back(columns[0].column);
   if (ordinality == noColumn) rows.ordinality = state.addColumn(scope, "ordinality", int8Type);
   auto number = makeColumn(rows.ordinality, int8Type);
   std::vector<ComputedColumn> computed;
   computed.push_back({columns[1].column, coerce(state, std::move(number), oid::int4, -1, CoercionContext::Explicit)});
   return makeMap(makeRel(RelKind::TableFunction, std::move(rows)), std::move(computed));
}

/// A function that returns values of a row type: their fields are the columns of the item.
RelPtr rowFunctionRows(BindState& state, const Scope& scope, ExprPtr call, bool hasOrdinality, NamespaceItem& item) {
   const SqlType wanted = call->type, type = withoutDomain(wanted);
   call->type = type;
   const FunctionInfo* function = functionOf(*call);
   ColumnId row = state.addColumn(scope, "row", type);
   ColumnId ordinality = noColumn;
   if (hasOrdinality) ordinality = state.addColumn(scope, "ordinality", int8Type);
   RelPtr rel;
   if (function && function->returnsSet) {
      rel = functionRows(state, scope, std::move(call), {{"row", row, type}}, ordinality);
   } else {
      std::vector<ComputedColumn> computed;
      computed.push_back({row, std::move(call)});
      if (hasOrdinality) computed.push_back({ordinality, makeConstant(int8Type, Value::integer(PhysicalType::I64, 1))});
      rel = makeMap(oneRow(), std::move(computed));
   }
   if (wanted.domain) {
      std::vector<ComputedColumn> checked;
      checked.push_back({state.addColumn(scope, "row", wanted), intoDomain(makeColumn(row, type), wanted)});
      row = checked.front().column;
      rel = makeMap(std::move(rel), std::move(checked));
   }
   std::vector<ComputedColumn> fields;
   for (RowMember& member : membersOf(state, makeColumn(row, type))) {
      const SqlType fieldType = member.expr->type;
      const ColumnId column = state.addColumn(scope, member.name, fieldType);
      item.columns.push_back({member.name, column, fieldType});
      fields.push_back({column, std::move(member.expr)});
   }
   if (hasOrdinality) item.columns.push_back({"ordinality", ordinality, int8Type});
   if (!hasOrdinality) item.rowType = type.oid;
   return makeMap(std::move(rel), std::move(fields));
}

} // namespace

RelPtr placeRowFunctions(BindState& state, RelPtr rel, Scope& scope) {
   for (RowFunction& function : scope.rowFunctions)
      rel = crossJoin(std::move(rel), functionRows(state, scope, std::move(function.call), function.columns, noColumn));
   return rel;
}

FromItem bindTableFunction(BindState& state, Scope& scope, const ::RangeFunction& node) {
   const bool outerLateral = std::exchange(scope.lateralActive, true);
   std::vector<BoundFunction> functions;
   const auto bindOne = [&](const ::Node* expression) {
      const ClauseGuard guard(scope, Clause::FromFunction);
      auto call = isNode(expression, T_FuncCall) ? bindFromCall(state, scope, *as<FuncCall>(expression))
                                                 : bindExpr(state, scope, expression);
      functions.push_back({std::move(call), outputName(expression)});
   };
   for (const auto* pair : ListOf<List>(node.functions)) {
      const ListOf<> parts(pair);
      if (parts[1]) throwNotSupported("a column definition list in ROWS FROM");
      const ::Node* expression = parts[0];
      const auto* call = isNode(expression, T_FuncCall) ? as<FuncCall>(expression) : nullptr;
      // unnest(a, b) is ROWS FROM (unnest(a), unnest(b)).
      if (call && ListOf<>(call->funcname).size() == 1 && stringOf(ListOf<>(call->funcname)[0]) == "unnest" &&
          ListOf<>(call->args).size() > 1 && !call->agg_order && !call->func_variadic) {
         for (const ::Node* arg : ListOf<>(call->args)) {
            std::vector<ExprPtr> args;
            args.push_back(bindExpr(state, scope, arg, Clause::FromFunction));
            const size_t before = scope.srfs.size();
            {
               const ClauseGuard guard(scope, Clause::Select); // this clause allows set-returning functions
               callFunction(state, scope, "unnest", std::move(args), state.at(call->location));
            }
            functions.push_back({std::move(scope.srfs.back().call), "unnest"});
            scope.srfs.resize(before);
         }
         continue;
      }
      bindOne(expression);
   }
   scope.lateralActive = outerLateral;

   NamespaceItem item;
   item.alias = functions[0].name;
   FromItem result;
   const std::string aliasName = node.alias ? node.alias->aliasname : std::string();
   if (functions.size() == 1) {
      auto& [call, name] = functions[0];
      const FunctionInfo* function = functionOf(*call);
      const bool isDefined = node.coldeflist != nullptr;
      item.columns =
          isDefined ? defineColumns(state, scope, node.coldeflist, *call) : functionColumns(state, scope, *call);
      if (item.columns.empty() && !isDefined && call->type.oid >= firstUserOid && isRowValue(call->type.oid)) {
         result.rel = rowFunctionRows(state, scope, std::move(call), node.ordinality, item);
      } else if (item.columns.size() <= 1 && !isDefined) {
         const std::string column = !item.columns.empty() ? item.columns[0].name
                                    : !aliasName.empty()  ? aliasName
                                                          : name;
         if (isRowType(call->type.oid)) {
            if (function && call->type.oid == oid::record)
               throw SqlError(sqlstate::syntaxError,
                              "a column definition list is required for functions returning \"record\"")
                   .at(call->position);
            throwNotSupported("function " + name + " in FROM", call->position);
         }
         item.columns.clear();
         item.columns.push_back({column, state.addColumn(scope, column, call->type), call->type});
         item.isScalarFunction = true;
      }
      if (result.rel) {
         // the columns are there
      } else if (function && (function->returnsSet || item.columns.size() > 1 || isDefined)) {
         ColumnId ordinality = noColumn;
         if (node.ordinality) ordinality = state.addColumn(scope, "ordinality", int8Type);
         auto rel = functionRows(state, scope, std::move(call), item.columns, ordinality);
         if (node.ordinality) item.columns.push_back({"ordinality", ordinality, int8Type});
         result.rel = std::move(rel);
      } else {
         std::vector<ComputedColumn> computed;
         computed.push_back({item.columns[0].column, std::move(call)});
         if (node.ordinality) {
            const ColumnId ordinality = state.addColumn(scope, "ordinality", int8Type);
            computed.push_back({ordinality, makeConstant(int8Type, Value::integer(PhysicalType::I64, 1))});
            item.columns.push_back({"ordinality", ordinality, int8Type});
         }
         result.rel = makeMap(oneRow(), std::move(computed));
      }
   } else {
      if (node.coldeflist) throwNotSupported("a column definition list in ROWS FROM");
      op::Map sets; // rows in lockstep; shorter sets are padded with NULLs
      for (auto& [call, name] : functions) {
         if (!functionOf(*call) || !functionOf(*call)->returnsSet || isRowType(call->type.oid))
            throwNotSupported("ROWS FROM with such a function", call->position);
         const ColumnId column = state.addColumn(scope, name, call->type);
         item.columns.push_back({name, column, call->type});
         sets.computed.push_back({column, std::move(call)});
      }
      result.rel = makeRel(RelKind::ProjectSet, std::move(sets), oneRow());
      if (node.ordinality) {
         op::Window window;
         WindowCall number;
         number.column = state.addColumn(scope, "ordinality", int8Type);
         number.function = builtins().functions("row_number")[0];
         number.type = int8Type;
         item.columns.push_back({"ordinality", number.column, int8Type});
         window.calls.push_back(std::move(number));
         result.rel = makeRel(RelKind::Window, std::move(window), std::move(result.rel));
      }
   }
   applyAlias(item, node.alias, 0);
   if (item.columns.size() != 1) item.isScalarFunction = false;
   addEntry(scope, item);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
