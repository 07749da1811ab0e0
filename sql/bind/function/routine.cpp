#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/known_null.hpp"
#include "sql/algebra/last_of.hpp"
#include "sql/bind/expression/row_function.hpp"
#include "sql/bind/function/routine_body.hpp"
#include "sql/bind/function/routine_run.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/state/program_compiler.hpp"
#include "sql/bind/state/routine_call.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

using catalog::Function;

namespace {

/// A body over placeholders.
struct Body {
   BoundRel query; ///< its outputs have the types of the result
   RoutineResult result;
   std::vector<ExprPtr> parameters; ///< the placeholders
};

bool writesOrLocks(const ::SelectStmt& select) {
   if (select.intoClause || select.lockingClause) return true;
   if (select.withClause)
      for (const auto* cte : ListOf<::CommonTableExpr>(select.withClause->ctes))
         if (!isNode(cte->ctequery, T_SelectStmt)) return true;
   return false;
}

bool callsVolatileBelow(const Rel& rel) {
   bool found = callsVolatile(rel);
   forEachChild(rel, [&](const RelPtr& child) { found = found || callsVolatileBelow(*child); });
   return found;
}

bool isOnlyMaps(const Rel& rel) {
   return isUnit(rel) || (rel.kind == RelKind::Map && isOnlyMaps(*rel.inputs[0]));
}

/// What a body names may not be there yet where a definition has the call. Whoever runs the function is told.
bool isOfMissingObject(const SqlError& error) {
   const SqlState state = error.state();
   return state == sqlstate::undefinedTable || state == sqlstate::undefinedColumn ||
          state == sqlstate::undefinedFunction || state == sqlstate::undefinedObject ||
          state == sqlstate::invalidSchemaName;
}

/// The query that takes the place of the call; empty: the function has to be run.
std::optional<Body> bindBody(BindState& state, const RoutineCall& call, const ::List* definitions) {
   const Function& function = *call.function;
   const DepthGuard guard(state);
   if (function.returnType.oid == oid::trigger || function.returnType.oid == catalog::eventTriggerType)
      throw SqlError(sqlstate::featureNotSupported, "trigger functions can only be called as triggers");
   const bool isProgram = function.language == catalog::language_oid::plpgsql;
   if (function.language == catalog::language_oid::c) return std::nullopt;
   if (isProgram && (!state.context.programs || function.returnsSet || definitions)) return std::nullopt;
   const bool isOpen =
       std::find(state.openRoutines.begin(), state.openRoutines.end(), function.oid) != state.openRoutines.end();
   const bool hasOtherSettings = std::any_of(function.settings.begin(), function.settings.end(),
                                             [](const auto& setting) { return setting.first != "search_path"; });
   Body body;
   body.result = resultOf(state, function, call.declared, definitions, call.position);
   const bool isProcedure = function.functionKind == catalog::FunctionKind::Procedure;
   if (isOpen || isProcedure || hasOtherSettings || body.result.type.oid == oid::voidType) return std::nullopt;
   if (isProgram) {
      if (body.result.isRow() || isRowValue(body.result.type.oid)) return std::nullopt;
      body.parameters = placeholders(state, function, call.declared);
      const InBody inside(state, function, body.parameters);
      auto query = state.context.programs->compile(state, call, body.parameters);
      if (!query) return std::nullopt;
      body.query = std::move(*query);
      return body;
   }
   const auto script = ParsedScript::parse(function.source);
   const auto& statements = script.statements();
   if (statements.size() != 1 || !isNode(statements[0].node, T_SelectStmt)) return std::nullopt;
   const auto& select = *as<::SelectStmt>(statements[0].node);
   if (writesOrLocks(select)) return std::nullopt;
   body.parameters = placeholders(state, function, call.declared);
   const size_t relations = state.relations.size();
   const AccessList access = state.access;
   const bool callsMutable = state.callsMutable, runsRoutines = state.runsRoutines;
   try {
      const InBody inside(state, function, body.parameters);
      body.query = castResult(state, bindSelect(state, select, nullptr, rowTarget(select, body.result)), body.result);
   } catch (const SqlError& error) {
      if (!isOfMissingObject(error)) throw;
      state.relations.resize(relations);
      state.access = access;
      state.callsMutable = callsMutable;
      state.runsRoutines = runsRoutines;
      return std::nullopt;
   }
   if (!isOnlyMaps(*body.query.rel) && callsVolatileBelow(*body.query.rel)) return std::nullopt;
   return body;
}

/// How often the expression reads the column, subqueries included.
size_t usesOf(const Expr& root, ColumnId column);
size_t usesOf(const Rel& rel, ColumnId column) {
   size_t uses = 0;
   forEachOwnExpr(rel, [&](const Expr& expr) { uses += usesOf(expr, column); });
   forEachChild(rel, [&](const RelPtr& child) { uses += usesOf(*child, column); });
   return uses;
}
size_t usesOf(const Expr& root, ColumnId column) {
   size_t uses = 0;
   forEachExpr(root, [&](const Expr& expr) {
      uses += expr.kind == ExprKind::Column && columnOf(expr) == column;
      // What a subquery reads, it may read once for each of its rows.
      if (const Rel* query = subqueryOf(expr)) uses += 2 * usesOf(*query, column);
      return true;
   });
   return uses;
}

size_t sizeOf(const Expr& root) {
   size_t size = 0;
   forEachExpr(root, [&](const Expr& expr) {
      size += expr.kind == ExprKind::Subquery ? 1000 : 1;
      return true;
   });
   return size;
}

/// Whether the value may be computed in `uses` places instead of one.
bool mayRepeat(const Expr& value, size_t uses) {
   constexpr size_t cheap = 3; // nodes: x::text, x + 1
   return uses <= 1 || (sizeOf(value) <= cheap && !isVolatile(value));
}

/// The expression of a column of Maps over no rows; null: it has one that may not be repeated.
ExprPtr composed(const Rel& rel, ExprPtr expr) {
   const Rel* at = &rel;
   while (at->kind == RelKind::Map) {
      for (const ComputedColumn& computed : at->as<op::Map>().computed) {
         const size_t uses = usesOf(*expr, computed.column);
         if (!mayRepeat(*computed.expr, uses)) return nullptr;
         substituteColumns(expr, [&](ColumnId column) -> const Expr* {
            return column == computed.column ? computed.expr.get() : nullptr;
         });
      }
      at = at->inputs[0].get();
   }
   return expr;
}

bool hasAtMostOneRow(const Rel& rel) {
   if (rel.kind == RelKind::Map || rel.kind == RelKind::Select) return hasAtMostOneRow(*rel.inputs[0]);
   if (const auto* join = rel.getIf<op::Join>(); join && join->kind == JoinKind::Left)
      return hasAtMostOneRow(*rel.inputs[0]) && hasAtMostOneRow(*rel.inputs[1]);
   if (const auto* limit = rel.getIf<op::Limit>()) {
      const Value* count = limit->limit ? knownValue(*limit->limit) : nullptr;
      return count && count->i64 <= 1;
   }
   const auto* group = rel.getIf<op::GroupBy>();
   return isUnit(rel) || (group && group->keys.empty());
}

/// As PostgreSQL, a function that returns no set gives the first row.
RelPtr firstRow(RelPtr rel) {
   if (hasAtMostOneRow(*rel)) return rel;
   op::Limit limit;
   limit.limit = makeConstant(plainType(oid::int8), Value::integer(PhysicalType::I64, 1));
   return makeRel(RelKind::Limit, std::move(limit), std::move(rel));
}

/// Whether the value is NULL as soon as one of the parameters is.
bool isStrictIn(const Expr& expr, const std::vector<ExprPtr>& parameters) {
   std::vector<ColumnId> read;
   const std::function<bool(const Expr&)> isStrict = [&](const Expr& node) {
      switch (node.kind) {
      case ExprKind::Column: read.push_back(columnOf(node)); return true;
      case ExprKind::Constant: return true;
      case ExprKind::Call:
         if (!functionOf(node)->isStrict) return false;
         break;
      case ExprKind::Compare:
         if (isNullSafe(node.as<scalar::Compare>().op)) return false;
         break;
      case ExprKind::Relabel:
      case ExprKind::TypmodCast: break;
      default: return false;
      }
      return std::all_of(node.args.begin(), node.args.end(), [&](const ExprPtr& arg) { return isStrict(*arg); });
   };
   return isStrict(expr) && std::all_of(parameters.begin(), parameters.end(), [&](const ExprPtr& parameter) {
             return std::find(read.begin(), read.end(), columnOf(*parameter)) != read.end();
          });
}

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

/// The test that no argument of a strict function is NULL; null: nothing to test.
ExprPtr allGiven(const RoutineCall& call, const std::vector<ExprPtr>& parameters) {
   if (!call.function->info().isStrict) return nullptr;
   std::vector<ExprPtr> tests;
   for (size_t i = 0; i < parameters.size(); ++i) {
      const Value* known = knownValue(*call.args[i]);
      if (!known || known->isNull) tests.push_back(makeTest(ExprKind::IsNotNull, clone(*parameters[i])));
   }
   return tests.empty() ? nullptr : makeAnd(std::move(tests));
}

/// Takes the arguments that cannot stand in the places of their parameters, as computed columns: they are evaluated
/// once. `uses`: of each parameter.
std::vector<ComputedColumn> takeShared(RoutineCall& call, const Body& body,
                                       const std::function<size_t(ColumnId)>& uses) {
   std::vector<ComputedColumn> shared;
   for (size_t i = 0; i < call.args.size(); ++i) {
      const ColumnId column = columnOf(*body.parameters[i]);
      if (mayRepeat(*call.args[i], uses(column))) continue;
      shared.push_back({column, std::move(call.args[i])});
   }
   return shared;
}

/// Gives the argument for a parameter; null for a shared one and for other columns.
std::function<const Expr*(ColumnId)> argumentOf(const RoutineCall& call, const Body& body) {
   return [&call, &body](ColumnId column) -> const Expr* {
      for (size_t i = 0; i < call.args.size(); ++i)
         if (call.args[i] && columnOf(*body.parameters[i]) == column) return call.args[i].get();
      return nullptr;
   };
}

/// The value over placeholders as one over the arguments.
ExprPtr withArguments(BindState& state, const Scope& scope, RoutineCall call, const Body& body, ExprPtr value) {
   std::vector<ComputedColumn> shared = takeShared(call, body, [&](ColumnId column) { return usesOf(*value, column); });
   substituteColumns(value, argumentOf(call, body));
   value->position = call.position;
   if (shared.empty()) return value;
   const SqlType type = value->type;
   const ColumnId column = state.addColumn(scope.depth + 1, call.function->name, type);
   std::vector<ComputedColumn> outer;
   outer.push_back({column, std::move(value)});
   return makeSubquery(SubqueryKind::Scalar, type, makeMap(makeMap(oneRow(), std::move(shared)), std::move(outer)),
                       {column}, call.position);
}

/// The rows over placeholders as rows over the arguments.
RelPtr withArguments(RoutineCall& call, const Body& body, RelPtr rel) {
   // A row may be asked for its arguments any number of times.
   std::vector<ComputedColumn> shared =
       takeShared(call, body, [&](ColumnId column) { return 2 * usesOf(*rel, column); });
   substituteColumns(*rel, argumentOf(call, body));
   return shared.empty() ? std::move(rel) : crossJoin(makeMap(oneRow(), std::move(shared)), std::move(rel));
}

ExprPtr guarded(ExprPtr value, ExprPtr condition) {
   if (!condition) return value;
   auto guard = makeTyped(ExprKind::Case, value->type);
   guard->args.push_back(std::move(condition));
   guard->args.push_back(std::move(value));
   return guard;
}

/// f(x) in a select list that returns a set: the elements of the array of its rows.
ExprPtr setValue(BindState& state, Scope& scope, RoutineCall call, Body body) {
   makeOneColumn(state, body.query, body.result);
   const OutputColumn output = body.query.output[0];
   const SqlType type = withoutDomain(output.type);
   const bool isPlain = isElement(type);
   const SqlType element = isPlain ? type : plainType(oid::record);
   if (auto condition = allGiven(call, body.parameters))
      body.query.rel = makeSelect(std::move(body.query.rel), std::move(condition));
   ColumnId column = output.column;
   if (!isPlain) {
      auto row = makeTyped(ExprKind::Row, element, call.position);
      row->args.push_back(makeColumn(output.column, output.type));
      column = state.addColumn(noLevel, "row", element);
      std::vector<ComputedColumn> computed;
      computed.push_back({column, rowValue(state, std::move(row))});
      body.query.rel = makeMap(std::move(body.query.rel), std::move(computed));
   }
   auto rows = makeSubquery(SubqueryKind::Array, plainType(arrayType(element.oid)), std::move(body.query.rel), {column},
                            call.position);
   const uint32_t position = call.position;
   auto elements = elementsOf(withArguments(state, scope, std::move(call), body, std::move(rows)), element, position);
   return isPlain ? std::move(elements) : fieldOf(std::move(elements), 0, type);
}

/// A record that is no value of a named type: its columns are joined with the rows of FROM.
ExprPtr recordValue(BindState& state, Scope& scope, RoutineCall call, Body body) {
   const uint32_t position = call.position;
   if (auto condition = allGiven(call, body.parameters))
      body.query.rel = makeSelect(std::move(body.query.rel), std::move(condition));
   body.query.rel = firstRow(std::move(body.query.rel));
   std::vector<ScopeColumn> columns;
   for (const OutputColumn& output : body.query.output)
      columns.push_back({output.name, output.column, output.type});
   return registerRows(state, scope, withArguments(call, body, std::move(body.query.rel)), std::move(columns),
                       position);
}

/// Appends the columns that are read whenever the expression is computed.
void collectCertain(const Expr& expr, std::vector<ColumnId>& columns) {
   if (isKnownNull(expr)) return;
   if (expr.kind == ExprKind::Column) columns.push_back(columnOf(expr));
   const bool isLazy = expr.kind == ExprKind::And || expr.kind == ExprKind::Or || expr.kind == ExprKind::Coalesce ||
                       expr.kind == ExprKind::Case;
   for (size_t i = 0; i < expr.args.size() && (i == 0 || !isLazy); ++i)
      collectCertain(*expr.args[i], columns);
}

/// A program's value, when those arguments have been computed as well that may fail: they are computed before a call.
ExprPtr behindArguments(const RoutineCall& call, const Body& body, ExprPtr value) {
   std::vector<ColumnId> certain;
   collectCertain(*value, certain);
   std::vector<ExprPtr> values;
   for (size_t i = 0; i < call.args.size(); ++i)
      if (mayFail(*call.args[i]) &&
          std::find(certain.begin(), certain.end(), columnOf(*body.parameters[i])) == certain.end())
         values.push_back(clone(*body.parameters[i]));
   return lastOf(std::move(values), std::move(value));
}

ExprPtr inlinedValue(BindState& state, Scope& scope, RoutineCall call) {
   const bool isAnyRecord = call.function->returnType.oid == oid::record && !call.function->hasOutputs();
   std::optional<Body> bound = isAnyRecord ? std::nullopt : bindBody(state, call, nullptr);
   if (!bound) return runValue(state, scope, std::move(call));
   Body& body = *bound;
   if (call.function->returnsSet) return setValue(state, scope, std::move(call), std::move(body));
   if (body.result.isRow() && body.result.type.oid == oid::record)
      return recordValue(state, scope, std::move(call), std::move(body));
   makeOneColumn(state, body.query, body.result);
   const OutputColumn output = body.query.output[0];
   ExprPtr value;
   if (isOnlyMaps(*body.query.rel)) value = composed(*body.query.rel, makeColumn(output.column, output.type));
   const bool isStrict = value && isStrictIn(*value, body.parameters);
   if (!takesSubqueries(scope.clause)) {
      const bool isProgram = call.function->language == catalog::language_oid::plpgsql;
      const bool isRun = isProgram ? !value || hasSubquery(*value) : !value && scope.clause != Clause::Transition;
      if (isRun) return runValue(state, scope, std::move(call));
   }
   if (!value)
      value = makeSubquery(SubqueryKind::Scalar, output.type, firstRow(std::move(body.query.rel)), {output.column},
                           call.position);
   if (!isStrict) value = guarded(std::move(value), allGiven(call, body.parameters));
   if (call.function->language == catalog::language_oid::plpgsql) value = behindArguments(call, body, std::move(value));
   return withArguments(state, scope, std::move(call), body, std::move(value));
}

} // namespace

ExprPtr fieldsOfRoutine(BindState& state, const catalog::Function& function, const std::vector<Oid>& declared,
                        ExprPtr record) {
   if (!function.hasOutputs()) return record;
   auto row = makeTyped(ExprKind::Row, plainType(oid::record), record->position);
   auto& facts = row->as<scalar::Row>();
   facts.isNullExtended = true; // another set of the select list may have more rows
   for (const auto& [name, type] : resultOf(state, function, declared, nullptr, record->position).columns) {
      row->args.push_back(fieldOf(clone(*record), row->args.size(), type));
      facts.names.push_back(name);
   }
   return row;
}

ExprPtr routineValue(BindState& state, Scope& scope, RoutineCall call) {
   if (scope.clause != Clause::Transition) return inlinedValue(state, scope, std::move(call));
   // The expressions of aggregates have no queries.
   RoutineCall again{call.function, {}, call.declared, call.position};
   for (const ExprPtr& arg : call.args)
      again.args.push_back(clone(*arg));
   ExprPtr value = inlinedValue(state, scope, std::move(call));
   return hasSubquery(*value) ? runValue(state, scope, std::move(again)) : std::move(value);
}

std::optional<RoutineRows> routineRows(BindState& state, const Scope& scope, RoutineCall& call,
                                       const ::List* definitions) {
   const RoutineResult result = resultOf(state, *call.function, call.declared, definitions, call.position);
   if (!call.function->returnsSet && !result.isRow() && result.type.oid != oid::record) return std::nullopt;
   if (result.type.oid == oid::record && !result.isRow())
      throw SqlError(sqlstate::syntaxError, "a column definition list is required for functions returning \"record\"")
          .at(call.position);
   std::optional<Body> bound = bindBody(state, call, definitions);
   if (!bound) return runRows(state, scope, call, result);
   Body& body = *bound;
   RelPtr rel = std::move(body.query.rel);
   if (auto condition = allGiven(call, body.parameters)) rel = makeSelect(std::move(rel), std::move(condition));
   if (!call.function->returnsSet) {
      op::Join join;
      join.kind = JoinKind::Left; // without a row, the result is NULL
      rel = makeRel(RelKind::Join, std::move(join), oneRow(), firstRow(std::move(rel)));
   }
   RoutineRows rows;
   rows.rel = withArguments(call, body, std::move(rel));
   rows.columns = std::move(body.query.output);
   rows.isScalar = !result.isRow();
   if (result.isRow() && result.type.oid != oid::record) rows.rowType = result.type.oid;
   for (const OutputColumn& column : rows.columns)
      state.adopt(scope, column.column);
   return rows;
}

ExprPtr parameterNamed(BindState& state, const ::ColumnRef& ref) {
   if (!state.routine || !state.inlineArgs) return nullptr;
   std::vector<std::string> names;
   for (const ::Node* field : ListOf<>(ref.fields)) {
      if (isNode(field, T_String)) names.emplace_back(stringOf(field)); // the last may be *, for the whole row
   }
   if (names.empty()) return nullptr;
   const auto parameter = [&](const std::string& name) -> ExprPtr {
      size_t input = 0;
      for (const catalog::FunctionParameter& one : state.routine->parameters) {
         if (!one.isInput()) continue;
         if (one.name == name) return clone(*(*state.inlineArgs)[input]);
         ++input;
      }
      return nullptr;
   };
   size_t next = 0;
   ExprPtr value;
   if (names.size() > 1 && names[0] == state.routine->name) value = parameter(names[next = 1]);
   if (!value) value = parameter(names[next = 0]);
   if (!value) return nullptr;
   for (++next; next < names.size(); ++next)
      value = selectField(state, std::move(value), names[next]);
   value->position = state.at(ref.location);
   return value;
}

void noteRoutine(BindState& state, const ::FuncCall* call, const catalog::FunctionInfo& function) {
   state.access.of(function.oid, state.openRoutines.empty() ? invalidOid : state.routineRole).privileges |=
       catalog::privilege::execute;
   state.callsMutable |= function.volatility != catalog::Volatility::Immutable;
   if (state.recorder && state.source && call && call->location >= 0)
      state.recorder->nameFunction(call->location, ListOf<>(call->funcname).size(), function.oid, state.source->text());
}

void noteBuiltin(BindState& state, const catalog::FunctionInfo& function) {
   if (!catalog::systemAcl(state.context.catalog, catalog::class_oid::pgProc, function.oid)) return;
   state.access.of(function.oid, state.openRoutines.empty() ? invalidOid : state.routineRole).privileges |=
       catalog::privilege::execute;
}

} // namespace ouzel::sql
