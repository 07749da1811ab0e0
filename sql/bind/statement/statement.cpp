#include "sql/bind/statement/statement.hpp"

#include "common/thread/stack.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/dml/copy.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/view.hpp"
#include "sql/bind/statement/rules.hpp"
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
   query.root = std::move(bound.rel);
   query.output = std::move(bound.output);
   query.columns = std::move(state.columns);
   for (const Oid type : state.parameters)
      query.parameters.push_back(plainType(type));
   query.relations = std::move(state.relations);
   query.rowLocked = std::move(state.rowLocked);
   query.access = std::move(state.access.all);
   return query;
}

} // namespace

BoundQuery bindStatement(BindState& state, const ::Node& statement) {
   BoundRel bound = isNode(&statement, T_SelectStmt) ? bindSelect(state, *as<SelectStmt>(&statement), nullptr)
                                                     : bindDml(state, statement, nullptr);
   return queryOf(state, std::move(bound), kindOf(statement));
}

bool isBindable(const ::Node& statement) {
   return statement.type == T_SelectStmt || statement.type == T_InsertStmt || statement.type == T_UpdateStmt ||
          statement.type == T_DeleteStmt || statement.type == T_MergeStmt;
}

BoundQuery bindQuery(const ::Node& statement, const BindContext& context) {
   if (const auto target = ruledTarget(statement, context)) return bindByRules(statement, target, context);
   BindState state(context);
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
