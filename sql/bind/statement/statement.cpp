#include "sql/bind/statement/statement.hpp"

#include "catalog/object/function.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/dml/copy.hpp"
#include "sql/bind/dml/current_of.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/part_assignment.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/function/routine_body.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/view.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/bind/statement/rules.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// Binds one statement: query, output, types of parameters.

namespace ouzel::sql {

namespace {

void typeParameters(const BindState& state, Rel& rel);

void typeParameters(const BindState& state, Expr& expr) {
   checkStack();
   const auto* parameter = expr.getIf<scalar::Parameter>();
   if (parameter && expr.type.oid == oid::unknown) {
      expr.type = plainType(state.parameters[parameter->number]);
      expr.repr = storedRepresentation(expr.type);
   }
   for (ExprPtr& arg : expr.args)
      typeParameters(state, *arg);
   if (Rel* subquery = subqueryOf(expr)) typeParameters(state, *subquery);
}

/// Sets the type of parameters whose type became known only after they were bound.
void typeParameters(const BindState& state, Rel& rel) {
   checkStack();
   forEachOwnExpr(rel, [&state](ExprPtr& expr) { typeParameters(state, *expr); });
   forEachChild(rel, [&state](RelPtr& child) { typeParameters(state, *child); });
}

} // namespace

namespace {

StatementKind kindOf(const ::Node& statement) {
   switch (statement.type) {
   case T_SelectStmt: return StatementKind::Select;
   case T_InsertStmt: return StatementKind::Insert;
   case T_UpdateStmt: return StatementKind::Update;
   case T_DeleteStmt: return StatementKind::Delete;
   default: return StatementKind::Merge;
   }
}

/// The whole of a statement, whose parts `state` has collected.
BoundQuery queryOf(BindState& state, BoundRel bound, StatementKind kind) {
   BoundQuery query;
   query.kind = kind;
   makeRowsValues(state, 0, bound);
   state.checkParameters();
   if (!state.parameters.empty()) typeParameters(state, *bound.rel);
   query.written = std::move(state.written);
   query.hasConflictClause = state.hasConflictClause;
   query.readOnly = query.written.empty();
   query.runsRoutines = state.runsRoutines;
   query.firesTriggers = state.firesTriggers;
   query.root = std::move(bound.rel);
   query.output = std::move(bound.output);
   query.cursor = std::move(state.cursor);
   query.isForOnce = state.isForOnce;
   if (state.context.givesPlaces && kind == StatementKind::Select) addRowPlaces(state, query);
   query.columns = std::move(state.columns);
   for (const Oid type : state.parameters)
      query.parameters.push_back(plainType(type));
   for (const auto& [number, domain] : state.parameterDomains)
      query.parameters[number].domain = domain;
   query.relations = std::move(state.relations);
   query.rowLocked = std::move(state.rowLocked);
   query.firstLock = state.firstLock;
   query.access = std::move(state.access.all);
   return query;
}

} // namespace

namespace {

/// Casts the columns as PL/pgSQL does what it assigns: where there is no cast for an assignment, by their texts.
/// Columns without a type in the list stay as they are.
BoundRel castOutputs(BindState& state, BoundRel query, std::span<const SqlType> types) {
   makeRowsValues(state, 0, query);
   std::vector<ComputedColumn> casts;
   for (size_t i = 0; i < query.output.size() && i < types.size(); ++i) {
      OutputColumn& output = query.output[i];
      ExprPtr value = makeColumn(output.column, output.type);
      ExprPtr cast = tryCoerce(state, value, types[i], CoercionContext::Assignment);
      if (!cast) cast = tryCoerce(state, value, types[i], CoercionContext::Explicit);
      if (!cast) { // every type has a text form
         value = coerce(state, std::move(value), oid::text, -1, CoercionContext::Explicit);
         cast = tryCoerce(state, value, types[i], CoercionContext::Explicit);
      }
      output.type = cast->type;
      output.column = state.addColumn(uint32_t{0}, output.name, cast->type);
      casts.push_back({output.column, std::move(cast)});
   }
   query.rel = makeMap(std::move(query.rel), std::move(casts));
   return query;
}

/// The type of the part, which literals without a type take; none: it is not known here.
std::optional<SqlType> typeOf(const BindState& state, const PartTarget& part, const ::List* steps) {
   SqlType type = part.type;
   const ListOf<> list(steps);
   for (uint32_t i = 0; i < list.size(); ++i) {
      const ::Node* step = list[i];
      if (isNode(step, T_String)) {
         const auto relation = state.context.catalog.relationOfType(type.oid);
         if (!relation) return std::nullopt;
         const auto column = std::find_if(relation->columns.begin(), relation->columns.end(),
                                          [&](const catalog::Column& one) { return one.name == stringOf(step); });
         if (column == relation->columns.end()) return std::nullopt;
         type = column->type;
         continue;
      }
      bool isSlice = false; // of consecutive subscripts, one makes all slices
      for (; i < list.size() && isNode(list[i], T_A_Indices); ++i)
         isSlice = isSlice || as<::A_Indices>(list[i])->is_slice;
      --i;
      if (isSlice) continue;
      const Oid element = elementType(type.oid);
      if (!element) return std::nullopt;
      type = SqlType{element, type.typmod, plainType(element).collation};
   }
   return type;
}

bool writesOrLocks(const ::SelectStmt& select) {
   if (select.intoClause || select.lockingClause) return true;
   if (select.withClause)
      for (const auto* cte : ListOf<::CommonTableExpr>(select.withClause->ctes))
         if (!isNode(cte->ctequery, T_SelectStmt)) return true;
   return false;
}

ParsedScript assignmentTo(const PartTarget& part) {
   return ParsedScript::parse("UPDATE v SET v" + part.steps + " = NULL");
}
const ::List* stepsOf(const ParsedScript& assignment) {
   const auto* update = as<::UpdateStmt>(assignment.statements().at(0).node);
   return ListOf<::ResTarget>(update->targetList).front()->indirection;
}

/// The value of a variable of which the query's only column has become a part.
BoundRel withPart(BindState& state, BoundRel query, const PartTarget& part) {
   makeRowsValues(state, 0, query);
   if (query.output.size() != 1) return query;
   const auto script = assignmentTo(part);
   catalog::Column variable;
   variable.name = "variable";
   variable.type = part.type;
   Scope scope(nullptr);
   scope.clause = Clause::UpdateSource;
   OutputColumn& output = query.output[0];
   ExprPtr value = bindPartAssignment(state, scope, variable, part.base(), makeColumn(output.column, output.type),
                                      stepsOf(script), 0);
   output.type = value->type;
   output.column = state.addColumn(uint32_t{0}, output.name, value->type);
   std::vector<ComputedColumn> computed;
   computed.push_back({output.column, std::move(value)});
   query.rel = makeMap(std::move(query.rel), std::move(computed));
   return query;
}

} // namespace

void declareParameters(BindState& state) {
   for (uint32_t i = 0; i < state.parameters.size(); ++i) {
      const SqlType declared = typeOfOid(state.context.catalog, state.parameters[i]);
      if (declared.domain == invalidOid) continue;
      state.parameters[i] = declared.oid;
      state.parameterDomains.emplace(i, declared.domain);
   }
}

BoundQuery bindStatement(BindState& state, const ::Node& statement) {
   std::vector<ExprPtr> arguments; // of the function whose statement this is
   if (const catalog::Function* function = state.context.routine) {
      for (size_t i = 0; i < state.parameters.size(); ++i) {
         arguments.push_back(makeTyped(ExprKind::Parameter, plainType(state.parameters[i])));
         arguments.back()->as<scalar::Parameter>().number = static_cast<uint32_t>(i);
      }
      state.routine = function;
      state.inlineArgs = &arguments;
      state.openRoutines.push_back(function->oid);
   }
   state.mayWrite = !isNode(&statement, T_SelectStmt) || writesOrLocks(*as<::SelectStmt>(&statement));
   std::vector<SqlType> literals(state.context.resultTypes.begin(), state.context.resultTypes.end());
   if (const PartTarget* part = state.context.part)
      if (const auto type = typeOf(state, *part, stepsOf(assignmentTo(*part)))) literals.assign(1, *type);
   if (state.context.givesRoutineRow && isNode(&statement, T_SelectStmt))
      literals = rowTarget(*as<SelectStmt>(&statement), runResult(state, *state.context.routine));
   BoundRel bound = isNode(&statement, T_SelectStmt) ? bindSelect(state, *as<SelectStmt>(&statement), nullptr, literals)
                                                     : bindDml(state, statement, nullptr);
   if (state.context.givesRoutineRow) bound = routineRow(state, std::move(bound), *state.context.routine);
   if (state.context.part) bound = withPart(state, std::move(bound), *state.context.part);
   if (!state.context.resultTypes.empty()) bound = castOutputs(state, std::move(bound), state.context.resultTypes);
   return queryOf(state, std::move(bound), kindOf(statement));
}

bool isBindable(const ::Node& statement) {
   return statement.type == T_SelectStmt || statement.type == T_InsertStmt || statement.type == T_UpdateStmt ||
          statement.type == T_DeleteStmt || statement.type == T_MergeStmt;
}

BoundQuery bindQuery(const ::Node& statement, const BindContext& context) {
   if (const auto target = ruledTarget(statement, context)) return bindByRules(statement, target, context);
   BindState state(context);
   declareParameters(state);
   return bindStatement(state, statement);
}

BoundQuery bindCopy(const CopyRows& copy, const BindContext& context) {
   BindState state(context);
   return queryOf(state, bindCopy(state, copy), StatementKind::Insert);
}

catalog::QualifiedName qualifiedName(const ::RangeVar& name, const BindContext& context) {
   return {std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
           std::string(textOf(name.relname)), context.source ? context.source->position(name.location) : 0};
}

} // namespace ouzel::sql
