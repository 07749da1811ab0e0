#include "sql/bind/statement/statement.hpp"

#include "sql/bind/binder.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/view.hpp"
#include "sql/bind/type/type_rules.hpp"

// One statement from start to end.

namespace ouzel::sql {

namespace {

void typeParameters(const BindState& state, Rel& rel);

void typeParameters(const BindState& state, Expr& expr) {
   if (expr.kind == ExprKind::Parameter && expr.type.oid == oid::unknown) {
      expr.type = plainType(state.parameters[expr.parameter]);
      expr.repr = storedRepresentation(expr.type);
   }
   for (ExprPtr& arg : expr.args)
      typeParameters(state, *arg);
   if (expr.subquery) typeParameters(state, *expr.subquery);
}

/// Parameters whose type became known only after they were bound.
void typeParameters(const BindState& state, Rel& rel) {
   forEachOwnExpr(rel, [&state](ExprPtr& expr) { typeParameters(state, *expr); });
   for (RelPtr& input : rel.inputs)
      typeParameters(state, *input);
   for (Cte& cte : rel.ctes) {
      typeParameters(state, *cte.query);
      if (cte.recursive) typeParameters(state, *cte.recursive);
   }
}

} // namespace

BoundQuery bindStatement(BindState& state, const ::Node& statement) {
   BoundQuery query;
   BoundRel bound;
   switch (statement.type) {
   case T_SelectStmt:
      bound = bindSelect(state, *as<SelectStmt>(&statement), nullptr);
      break;
   default:
      bound = bindDml(state, statement, nullptr);
      query.kind = isNode(&statement, T_InsertStmt)   ? StatementKind::Insert
                   : isNode(&statement, T_UpdateStmt) ? StatementKind::Update
                   : isNode(&statement, T_DeleteStmt) ? StatementKind::Delete
                                                      : StatementKind::Merge;
   }
   printRows(state, bound);
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
   return query;
}

bool isBindable(const ::Node& statement) {
   return statement.type == T_SelectStmt || statement.type == T_InsertStmt || statement.type == T_UpdateStmt ||
          statement.type == T_DeleteStmt || statement.type == T_MergeStmt;
}

BoundQuery bindQuery(const ::Node& statement, const BindContext& context) {
   BindState state(context);
   return bindStatement(state, statement);
}

catalog::QualifiedName qualifiedName(const ::RangeVar& name, const BindContext& context) {
   return {std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
           std::string(textOf(name.relname)), context.source ? context.source->position(name.location) : 0};
}

} // namespace ouzel::sql
