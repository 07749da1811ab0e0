#include <algorithm>

#include "sql/bind/query_binder.hpp"

// What INSERT, UPDATE and DELETE share: the target table, defaults, constraints, RETURNING.

namespace ouzel::sql {

using catalog::RelationKind;

catalog::RelationPtr QueryBinder::targetTable(const ::RangeVar& name, const char* verb) {
   const uint32_t position = at(name.location);
   catalog::QualifiedName qualified{std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
                                    std::string(textOf(name.relname)), position};
   auto relation = catalog::requireRelation(context_.catalog, context_.searchPath, qualified);
   const std::string quoted = "\"" + relation->name + "\"";
   switch (relation->relationKind) {
   case RelationKind::Table:
      break;
   case RelationKind::View:
      // PostgreSQL binds an INSERT before it looks at what the view is made of, so the caller says this later.
      if (std::string_view(verb) != "INSERT into") throwNotSupported(std::string(verb) + " a view", position);
      break;
   case RelationKind::MaterializedView:
      throw SqlError(sqlstate::wrongObjectType, "cannot change materialized view " + quoted);
   case RelationKind::Sequence:
      throw SqlError(sqlstate::wrongObjectType, "cannot change sequence " + quoted);
   case RelationKind::Index:
      throw SqlError(sqlstate::wrongObjectType, "cannot open relation " + quoted)
          .at(position)
          .detail("This operation is not supported for indexes.");
   case RelationKind::Virtual:
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied: " + quoted + " is a system catalog");
   }
   relations_.push_back(relation->oid);
   pinned_.push_back(relation);
   return relation;
}

std::unique_ptr<Dml> QueryBinder::makeDml(const catalog::Relation& table, const ::RangeVar& name) const {
   auto dml = std::make_unique<Dml>();
   const auto schema = context_.catalog.schema(table.schema);
   dml->table = {table.oid, static_cast<uint64_t>(table.storage), schema ? schema->name : std::string(), table.name,
                 name.alias ? name.alias->aliasname : table.name};
   return dml;
}

FromItem QueryBinder::bindTargetTable(Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& table,
                                      ColumnId& rowId) {
   auto item = bindBaseTable(scope, table, name.alias, at(name.location));
   rowId = addColumn(scope, "rowid", {oid::int8, -1, invalidOid});
   columns_[rowId].nullable = false;
   item.rel->getColumns.push_back({rowId, rowIdAttribute});
   return item;
}

Oid sequenceOfDefault(const Expr& expression) {
   constexpr Oid nextval = 1574; // pg_proc
   constexpr std::string_view conversions = "int8 int48 int2 int4";
   const Expr* expr = &expression;
   // An assignment cast to the column's type lies around it.
   while (expr->kind == ExprKind::Relabel ||
          (expr->kind == ExprKind::Call && expr->args.size() == 1 && expr->function && expr->function->oid != nextval &&
           conversions.find(expr->function->name) != std::string_view::npos))
      expr = expr->args[0].get();
   if (expr->kind != ExprKind::Call || !expr->function || expr->function->oid != nextval) return invalidOid;
   const Expr* argument = expr->args[0].get();
   while (argument->kind == ExprKind::Relabel)
      argument = argument->args[0].get();
   if (argument->kind != ExprKind::Constant || argument->constant.isNull) return invalidOid;
   return static_cast<Oid>(argument->constant.i64);
}

ExprPtr QueryBinder::defaultOf(const catalog::Relation& table, const catalog::Column& column) {
   static_cast<void>(table);
   if (!column.hasDefault() && column.defaultSequence == invalidOid) return makeNull(column.type);
   // By OID: the sequence may have been renamed since.
   const auto script = ParsedScript::parseExpression(
       column.defaultSequence == invalidOid
           ? column.defaultExpr
           : "pg_catalog.nextval('" + std::to_string(column.defaultSequence) + "'::pg_catalog.regclass)");
   const SourceText* outer = std::exchange(source_, nullptr);
   Scope scope(nullptr);
   auto expr = bindExpr(scope, script.expression(), Clause::Default);
   expr = coerceForAssignment(std::move(expr), column.type, column.name, Clause::Default);
   source_ = outer;
   return expr;
}

ExprPtr QueryBinder::bindOverTarget(const catalog::Relation& table, const std::vector<GetColumn>& target,
                                    std::string_view text, Clause clause) {
   const auto script = ParsedScript::parseExpression(text);
   const SourceText* outer = std::exchange(source_, nullptr);
   Scope scope(nullptr);
   NamespaceItem item;
   item.alias = table.name;
   item.relation = &table;
   for (const GetColumn& column : target) {
      const auto* attribute = table.column(column.attribute);
      item.columns.push_back({attribute->name, column.column, attribute->type, table.oid, column.attribute});
   }
   scope.items.push_back(std::move(item));
   auto expr = bindExpr(scope, script.expression(), clause);
   source_ = outer;
   return expr;
}

void QueryBinder::addChecks(Dml& dml, const catalog::Relation& table) {
   for (const GetColumn& target : dml.target) {
      const auto* column = table.column(target.attribute);
      if (!column || !column->notNull) continue;
      Dml::Check check;
      check.notNullAttribute = column->attribute;
      check.column = column->name;
      dml.checks.push_back(std::move(check));
   }
   for (const catalog::Constraint& constraint : table.constraints) {
      if (constraint.kind != catalog::ConstraintKind::Check) continue;
      Dml::Check check;
      check.expr = coerceToBoolean(bindOverTarget(table, dml.target, constraint.expression, Clause::Check), "CHECK");
      check.constraint = constraint.name;
      dml.checks.push_back(std::move(check));
   }
}

RelPtr QueryBinder::computeGenerated(Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table) {
   std::vector<ComputedColumn> computed;
   for (GetColumn& target : dml.target) {
      const auto* column = table.column(target.attribute);
      if (!column->generated) continue;
      auto value = bindOverTarget(table, dml.target, column->defaultExpr, Clause::Generated);
      value = coerceForAssignment(std::move(value), column->type, column->name, Clause::Generated);
      target.column = addColumn(scope, column->name, column->type);
      computed.push_back({target.column, std::move(value)});
   }
   return makeMap(std::move(rel), std::move(computed));
}

std::vector<OutputColumn> QueryBinder::bindReturning(Scope& scope, const ::List* list, Dml& dml) {
   std::vector<OutputColumn> output;
   if (!list) return output;
   auto targets = bindTargetList(scope, list, Clause::Returning);
   for (Target& target : targets) {
      if (target.expr->kind == ExprKind::Row) throwNotSupported("row values in RETURNING", target.position);
      target.expr = unknownToText(std::move(target.expr));
      const ColumnId column = addColumn(scope, target.name, target.expr->type);
      OutputColumn result{target.name, column, target.expr->type};
      if (target.expr->kind == ExprKind::Column) {
         result.tableOid = columns_[target.expr->column].tableOid;
         result.attribute = columns_[target.expr->column].attribute;
      }
      dml.returning.push_back({column, std::move(target.expr)});
      output.push_back(std::move(result));
   }
   return output;
}

} // namespace ouzel::sql
