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
   std::string name;                    ///< of the function
   const ::List* definitions = nullptr; ///< column definition list
   std::optional<RoutineRows> rows{};   ///< of a function of a user; `call` is null then
   std::string outName{};               ///< of its only OUT parameter; empty: it has none
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

/// The rows with their numbers, the column "ordinality".
RelPtr numbered(BindState& state, const Scope& scope, RelPtr rel, NamespaceItem& item) {
   op::Window window;
   WindowCall number;
   number.column = state.addColumn(scope, "ordinality", int8Type);
   number.function = builtins().functions("row_number")[0];
   number.type = int8Type;
   item.columns.push_back({"ordinality", number.column, int8Type});
   window.calls.push_back(std::move(number));
   return makeRel(RelKind::Window, std::move(window), std::move(rel));
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

/// The rows of a function of a user.
RelPtr routineItem(BindState& state, const Scope& scope, RoutineRows rows, bool hasOrdinality, const std::string& name,
                   NamespaceItem& item) {
   for (const OutputColumn& column : rows.columns)
      item.columns.push_back({rows.isScalar ? name : column.name, column.column, column.type});
   item.isScalarFunction = rows.isScalar;
   if (!hasOrdinality) {
      item.rowType = rows.rowType;
      return std::move(rows.rel);
   }
   return numbered(state, scope, std::move(rows.rel), item);
}

/// The rows of one function, whose columns go to `item`. `name`: of the column of a function that has only one and does
/// not name it.
RelPtr rowsOfOne(BindState& state, const Scope& scope, BoundFunction bound, bool hasOrdinality,
                 const std::string& otherName, NamespaceItem& item) {
   const std::string& name = bound.outName.empty() ? otherName : bound.outName;
   if (bound.rows) return routineItem(state, scope, std::move(*bound.rows), hasOrdinality, name, item);
   ExprPtr& call = bound.call;
   const FunctionInfo* function = functionOf(*call);
   const bool isDefined = bound.definitions != nullptr;
   item.columns =
       isDefined ? defineColumns(state, scope, bound.definitions, *call) : functionColumns(state, scope, *call);
   if (isDefined) function = functionOf(*call);
   if (item.columns.empty() && !isDefined && call->type.oid >= firstUserOid && isRowValue(call->type.oid))
      return rowFunctionRows(state, scope, std::move(call), hasOrdinality, item);
   if (item.columns.size() <= 1 && !isDefined) {
      const std::string column = !item.columns.empty() ? item.columns[0].name : name;
      if (isRowType(call->type.oid)) {
         if (function && call->type.oid == oid::record)
            throw SqlError(sqlstate::syntaxError,
                           "a column definition list is required for functions returning \"record\"")
                .at(call->position);
         throwNotSupported("function " + bound.name + " in FROM", call->position);
      }
      item.columns.clear();
      item.columns.push_back({column, state.addColumn(scope, column, call->type), call->type});
      item.isScalarFunction = true;
   }
   if (function && (function->returnsSet || item.columns.size() > 1 || isDefined)) {
      ColumnId ordinality = noColumn;
      if (hasOrdinality) ordinality = state.addColumn(scope, "ordinality", int8Type);
      auto rel = functionRows(state, scope, std::move(call), item.columns, ordinality);
      if (hasOrdinality) item.columns.push_back({"ordinality", ordinality, int8Type});
      return rel;
   }
   std::vector<ComputedColumn> computed;
   computed.push_back({item.columns[0].column, std::move(call)});
   if (hasOrdinality) {
      const ColumnId ordinality = state.addColumn(scope, "ordinality", int8Type);
      computed.push_back({ordinality, makeConstant(int8Type, Value::integer(PhysicalType::I64, 1))});
      item.columns.push_back({"ordinality", ordinality, int8Type});
   }
   return makeMap(oneRow(), std::move(computed));
}

bool isPlainSet(const BoundFunction& bound) {
   if (bound.rows) return false;
   const FunctionInfo* function = functionOf(*bound.call);
   return function && function->returnsSet && !isRowType(bound.call->type.oid) && !bound.definitions &&
          !isRowValue(bound.call->type.oid);
}

/// Set-returning functions of one column each: their rows advance in lockstep, and shorter sets are padded with NULLs.
RelPtr rowsInLockstep(BindState& state, const Scope& scope, std::vector<BoundFunction> functions, bool hasOrdinality,
                      NamespaceItem& item) {
   op::Map sets;
   for (BoundFunction& function : functions) {
      const SqlType type = function.call->type;
      const ColumnId column = state.addColumn(scope, function.name, type);
      item.columns.push_back({function.name, column, type});
      sets.computed.push_back({column, std::move(function.call)});
   }
   auto rel = makeRel(RelKind::ProjectSet, std::move(sets), oneRow());
   if (!hasOrdinality) return rel;
   return numbered(state, scope, std::move(rel), item);
}

/// Functions of any kind: their rows are joined by their numbers.
RelPtr rowsByNumber(BindState& state, const Scope& scope, std::vector<BoundFunction> functions, bool hasOrdinality,
                    NamespaceItem& item) {
   RelPtr rel;
   ColumnId number = noColumn;
   for (BoundFunction& function : functions) {
      NamespaceItem part;
      const std::string name = function.name;
      auto rows = rowsOfOne(state, scope, std::move(function), true, name, part);
      const ColumnId own = part.columns.back().column;
      part.columns.pop_back();
      item.columns.insert(item.columns.end(), part.columns.begin(), part.columns.end());
      if (!rel) {
         rel = std::move(rows);
         number = own;
         continue;
      }
      rel = makeJoin(JoinKind::Full, std::move(rel), std::move(rows),
                     makeCompare(CompareOp::Eq, makeColumn(number, int8Type), makeColumn(own, int8Type)));
      auto either = makeTyped(ExprKind::Coalesce, int8Type);
      either->args.push_back(makeColumn(number, int8Type));
      either->args.push_back(makeColumn(own, int8Type));
      number = state.addColumn(scope, "ordinality", int8Type);
      std::vector<ComputedColumn> computed;
      computed.push_back({number, std::move(either)});
      rel = makeMap(std::move(rel), std::move(computed));
   }
   op::Sort sort;
   sort.keys.push_back({makeColumn(number, int8Type), false, false});
   if (hasOrdinality) item.columns.push_back({"ordinality", number, int8Type});
   return makeRel(RelKind::Sort, std::move(sort), std::move(rel));
}

void refuseDefinitions(BindState& state, const ::RangeFunction& node, size_t functions) {
   if (!node.coldeflist) return;
   const uint32_t position = state.at(ListOf<::ColumnDef>(node.coldeflist).front()->location);
   if (functions > 1) {
      SqlError error(sqlstate::syntaxError,
                     node.is_rowsfrom ? "ROWS FROM() with multiple functions cannot have a column definition list"
                                      : "UNNEST() with multiple arguments cannot have a column definition list");
      error.setPosition(position);
      throw std::move(error).hint(
          node.is_rowsfrom
              ? "Put a separate column definition list for each function inside ROWS FROM()."
              : "Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition list to each one.");
   }
   if (node.ordinality)
      throw SqlError(sqlstate::syntaxError, "WITH ORDINALITY cannot be used with a column definition list")
          .at(position)
          .hint("Put the column definition list inside ROWS FROM().");
}

} // namespace

RelPtr placeRowFunctions(BindState& state, RelPtr rel, Scope& scope) {
   for (RowFunction& function : scope.rowFunctions) {
      if (function.rows) { // without a row, the columns are NULL
         op::Join join;
         join.kind = JoinKind::Left;
         join.dependent = readsColumnsOf(*function.rows, *rel);
         rel = makeRel(RelKind::Join, std::move(join), std::move(rel), std::move(function.rows));
         continue;
      }
      rel = crossJoin(std::move(rel), functionRows(state, scope, std::move(function.call), function.columns, noColumn));
   }
   return rel;
}

FromItem bindTableFunction(BindState& state, Scope& scope, const ::RangeFunction& node) {
   const bool outerLateral = std::exchange(scope.lateralActive, true);
   std::vector<BoundFunction> functions;
   const auto bindOne = [&](const ::Node* expression, const ::List* definitions) {
      const ClauseGuard guard(scope, Clause::FromFunction);
      FromCall from;
      if (isNode(expression, T_FuncCall))
         from = bindFromCall(state, scope, *as<FuncCall>(expression), definitions ? definitions : node.coldeflist);
      else
         from.call = bindExpr(state, scope, expression);
      functions.push_back({std::move(from.call), outputName(expression, state.context.catalog), definitions,
                           std::move(from.rows), std::move(from.outName)});
   };
   for (const auto* pair : ListOf<List>(node.functions)) {
      const ListOf<> parts(pair);
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
            functions.push_back({std::move(scope.srfs.back().call), "unnest", nullptr});
            scope.srfs.resize(before);
         }
         continue;
      }
      bindOne(expression, as<List>(parts[1]));
   }
   scope.lateralActive = outerLateral;

   NamespaceItem item;
   item.alias = functions[0].name;
   FromItem result;
   refuseDefinitions(state, node, functions.size());
   if (functions.size() == 1) {
      BoundFunction& function = functions[0];
      if (node.coldeflist) function.definitions = node.coldeflist;
      const std::string name = node.alias ? node.alias->aliasname : function.name;
      result.rel = rowsOfOne(state, scope, std::move(function), node.ordinality, name, item);
   } else if (std::all_of(functions.begin(), functions.end(), isPlainSet)) {
      result.rel = rowsInLockstep(state, scope, std::move(functions), node.ordinality, item);
   } else {
      result.rel = rowsByNumber(state, scope, std::move(functions), node.ordinality, item);
   }
   applyAlias(item, node.alias);
   if (item.columns.size() != 1) item.isScalarFunction = false;
   addEntry(scope, item);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
