#include "sql/bind/function/routine_run.hpp"

#include <algorithm>

#include "common/type/row.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/row_function.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Calls of ouzel_run() and ouzel_run_set(), with which the executor has the session run a function. Arguments and
// results are rows, so that any types pass.

namespace ouzel::sql {

void refuse(const RoutineCall& call, const std::string& what) {
   throwNotSupported("calling function " + call.function->name + ", " + what, call.position);
}

bool takesSubqueries(Clause clause) {
   switch (clause) {
   case Clause::Check:
   case Clause::Default:
   case Clause::Generated:
   case Clause::AlterUsing:
   case Clause::Index:
   case Clause::Statistics:
   case Clause::IndexPredicate:
   case Clause::PartitionKey:
   case Clause::PartitionBound:
   case Clause::Execute:
   case Clause::CallArgument:
   case Clause::CopyWhere:
   case Clause::Transition: return false;
   default: return true;
   }
}

namespace {

const catalog::FunctionInfo* unnestFunction() {
   for (const catalog::FunctionInfo* overload : catalog::builtins().functions("unnest"))
      if (overload->argTypes[0] == oid::anyarray) return overload;
   throwInternal("there is no unnest(anyarray)");
}

} // namespace

ExprPtr elementsOf(ExprPtr array, const SqlType& element, uint32_t position) {
   std::vector<ExprPtr> args;
   args.push_back(std::move(array));
   auto elements = makeCall(unnestFunction(), element, std::move(args));
   elements->position = position;
   return elements;
}

bool isElement(const SqlType& type) {
   return arrayType(type.oid) && !elementType(type.oid);
}

ExprPtr fieldOf(ExprPtr row, size_t number, const SqlType& type) {
   const uint32_t position = row->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(row));
   args.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, static_cast<int64_t>(number))));
   auto field = makeCall(catalog::builtins().functions("ouzel_field")[0], type, std::move(args));
   field->position = position;
   return field;
}

namespace {

/// The call of ouzel_run or ouzel_run_set, whose result is of `type`.
ExprPtr runCall(BindState& state, RoutineCall call, const char* runner, const SqlType& type, ExprPtr expected = {}) {
   state.runsRoutines = true;
   auto row = makeTyped(ExprKind::Row, plainType(oid::record), call.position);
   row->args = std::move(call.args);
   if (expected) row->args.push_back(std::move(expected));
   std::vector<ExprPtr> args;
   args.push_back(makeConstant(plainType(oid::oid), Value::integer(PhysicalType::I64, call.function->oid)));
   args.push_back(rowValue(state, std::move(row)));
   auto run = makeCall(catalog::builtins().functions(runner)[0], type, std::move(args));
   run->position = call.position;
   return run;
}

/// The type of the rows that ouzel_run gives.
SqlType runType(const RoutineResult& result) {
   return result.isRow() && result.type.oid != oid::record ? withoutDomain(result.type) : plainType(oid::record);
}

/// Rows with the columns of the result, over rows with the row as one column.
RelPtr takenApart(BindState& state, const Scope& scope, RelPtr rel, ColumnId row, const RoutineResult& result,
                  std::vector<OutputColumn>& columns) {
   const SqlType rowType = runType(result);
   std::vector<ComputedColumn> fields;
   for (size_t i = 0; i < result.columns.size(); ++i) {
      const auto& [name, type] = result.columns[i];
      const ColumnId column = state.addColumn(scope, name, type);
      fields.push_back({column, fieldOf(makeColumn(row, rowType), i, type)});
      columns.push_back({name, column, type});
   }
   return makeMap(std::move(rel), std::move(fields));
}

/// The places of attributes that were dropped are places of a row, too.
void requireNoDropped(const BindState& state, const RoutineCall& call, const RoutineResult& result) {
   const auto relation = result.isRow() ? state.context.catalog.relationOfType(result.type.oid) : nullptr;
   if (relation && std::any_of(relation->columns.begin(), relation->columns.end(),
                               [](const catalog::Column& column) { return column.isDropped; }))
      refuse(call, "which returns rows of a table that has lost a column, and is more than a query");
}

} // namespace

ExprPtr runValue(BindState& state, Scope& scope, RoutineCall call) {
   const RoutineResult result = resultOf(state, *call.function, call.declared, nullptr, call.position);
   // A function that is not IMMUTABLE is refused later, where it must be.
   const bool isComputed = !takesSubqueries(scope.clause) && scope.clause != Clause::Default &&
                           scope.clause != Clause::Check && scope.clause != Clause::Transition;
   if (isComputed && call.function->volatility == catalog::Volatility::Immutable)
      refuse(call, "which is more than a query, here");
   requireNoDropped(state, call, result);
   const uint32_t position = call.position;
   if (call.function->returnsSet) {
      const SqlType element = result.isRow() ? runType(result) : withoutDomain(result.type);
      const bool isPlain = isElement(element);
      const SqlType row = isPlain ? element : plainType(oid::record);
      auto elements =
          elementsOf(runCall(state, std::move(call), "ouzel_run_set", plainType(arrayType(row.oid))), row, position);
      return isPlain ? std::move(elements) : fieldOf(std::move(elements), 0, element);
   }
   if (result.type.oid == oid::record && !result.isRow())
      return runCall(state, std::move(call), "ouzel_run", result.type);
   if (!result.isRow()) return fieldOf(runCall(state, std::move(call), "ouzel_run", runType(result)), 0, result.type);
   if (result.type.oid != oid::record) return runCall(state, std::move(call), "ouzel_run", runType(result));
   const ColumnId row = state.addColumn(scope, "row", runType(result));
   std::vector<ComputedColumn> computed;
   computed.push_back({row, runCall(state, std::move(call), "ouzel_run", runType(result))});
   std::vector<OutputColumn> columns;
   RelPtr rel = takenApart(state, scope, makeMap(oneRow(), std::move(computed)), row, result, columns);
   std::vector<ScopeColumn> fields;
   for (const OutputColumn& column : columns)
      fields.push_back({column.name, column.column, column.type});
   return registerRows(state, scope, std::move(rel), std::move(fields), position);
}

namespace {

/// A row of NULLs with the types that a column definition list says; null: the function itself says what it returns.
ExprPtr expectedRow(BindState& state, const RoutineCall& call, const RoutineResult& result) {
   if (result.type.oid != oid::record || call.function->hasOutputs()) return nullptr;
   auto row = makeTyped(ExprKind::Row, plainType(oid::record), call.position);
   for (const RoutineResult::Column& column : result.columns)
      row->args.push_back(makeConstant(column.type, Value::null(rowFieldPhysical(column.type.oid))));
   return rowValue(state, std::move(row));
}

} // namespace

RoutineRows runRows(BindState& state, const Scope& scope, RoutineCall& call, const RoutineResult& result) {
   requireNoDropped(state, call, result);
   RoutineRows rows;
   rows.isScalar = !result.isRow();
   if (result.isRow() && result.type.oid != oid::record) rows.rowType = result.type.oid;
   const SqlType element = result.isRow() ? runType(result) : withoutDomain(result.type);
   const std::string name = call.function->name;
   const bool isWrapped = call.function->returnsSet && !isElement(element);
   const SqlType given = isWrapped ? plainType(oid::record) : element;
   const ColumnId column = state.addColumn(scope, name, given);
   ExprPtr expected = expectedRow(state, call, result);
   if (call.function->returnsSet) {
      op::TableFunction elements;
      elements.function = unnestFunction();
      elements.args.push_back(
          runCall(state, std::move(call), "ouzel_run_set", plainType(arrayType(given.oid)), std::move(expected)));
      elements.columns.push_back(column);
      rows.rel = makeRel(RelKind::TableFunction, std::move(elements));
   } else {
      std::vector<ComputedColumn> computed;
      computed.push_back({column, runCall(state, std::move(call), "ouzel_run", element, std::move(expected))});
      rows.rel = makeMap(oneRow(), std::move(computed));
   }
   if (result.isRow()) {
      rows.rel = takenApart(state, scope, std::move(rows.rel), column, result, rows.columns);
   } else if (isWrapped) {
      const ColumnId value = state.addColumn(scope, name, element);
      std::vector<ComputedColumn> computed;
      computed.push_back({value, fieldOf(makeColumn(column, given), 0, element)});
      rows.rel = makeMap(std::move(rows.rel), std::move(computed));
      rows.columns.push_back({name, value, element});
   } else {
      rows.columns.push_back({name, column, element});
   }
   return rows;
}

RoutineRows argumentsOf(BindState& state, const Scope& scope, RoutineCall call, CalledProcedure& called) {
   const RoutineResult result = resultOf(state, *call.function, call.declared, nullptr, call.position);
   called.procedure = call.function->oid;
   called.columns.clear();
   for (const RoutineResult::Column& column : result.columns)
      called.columns.emplace_back(column.name, column.type);
   RoutineRows rows;
   rows.isScalar = true;
   const SqlType record = plainType(oid::record);
   const ColumnId column = state.addColumn(scope, call.function->name, record);
   auto row = makeTyped(ExprKind::Row, record, call.position);
   row->args = std::move(call.args);
   std::vector<ComputedColumn> computed;
   computed.push_back({column, rowValue(state, std::move(row))});
   rows.rel = makeMap(oneRow(), std::move(computed));
   rows.columns.push_back({call.function->name, column, record});
   return rows;
}

} // namespace ouzel::sql
