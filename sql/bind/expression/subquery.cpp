#include "sql/bind/expression/subquery.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/type/operator_name.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Subqueries in expressions become Subquery nodes. Their operators may read columns of enclosing queries by id. The
// optimizer's unnesting turns the nodes into joins.

namespace ouzel::sql {

using catalog::builtins;

namespace {

ExprPtr bindAnySubquery(BindState& state, Scope& scope, const ::SubLink& node, BoundRel query);

const SqlType booleanType{oid::boolean, -1, invalidOid};

/// The clause's name for the error if subqueries are forbidden in it; null if they are allowed.
const char* forbiddenPlace(Clause clause) {
   switch (clause) {
   case Clause::Check: return "check constraint";
   case Clause::Default: return "DEFAULT expression";
   case Clause::Generated: return "column generation expression";
   case Clause::AlterUsing: return "transform expression";
   case Clause::Index: return "index expression";
   case Clause::Statistics: return "statistics expression";
   case Clause::IndexPredicate: return "index predicate";
   case Clause::PartitionKey: return "partition key expression";
   case Clause::PartitionBound: return "partition bound";
   case Clause::Execute: return "EXECUTE parameter";
   case Clause::CallArgument: return "CALL argument";
   case Clause::CopyWhere: return "COPY FROM WHERE condition";
   case Clause::TriggerWhen: return "trigger WHEN condition";
   default: return nullptr;
   }
}

/// The subquery's single column; throws 42601 `subquery must return only one column`.
const OutputColumn& onlyColumn(BindState& state, const Scope& scope, BoundRel& query, uint32_t position) {
   if (query.output.size() != 1)
      throw SqlError(sqlstate::syntaxError, "subquery must return only one column").at(position);
   makeRowsValues(state, scope.depth + 1, query);
   return query.output[0];
}

/// Drops from the query of an EXISTS what decides only about the values of its rows: the select list, ORDER BY,
/// DISTINCT and a LIMIT of rows. Calls of nextval() there are not made. What groups, numbers or skips rows stays as it
/// is.
void askOnlyForRows(BoundRel& query, const ::SelectStmt& select) {
   const auto isTop = [](const Rel& rel) {
      const auto* limit = rel.getIf<op::Limit>();
      const Value* rows = limit && limit->limit && !limit->offset ? knownValue(*limit->limit) : nullptr;
      return rel.kind == RelKind::Map || rel.kind == RelKind::Sort || rel.kind == RelKind::Distinct ||
             (rows && !rows->isNull && rows->i64 > 0);
   };
   const Rel* base = query.rel.get();
   while (isTop(*base))
      base = base->inputs[0].get();
   const auto* group = base->getIf<op::GroupBy>();
   const bool decides = base->kind == RelKind::Window || base->kind == RelKind::ProjectSet ||
                        base->kind == RelKind::SetOp || base->kind == RelKind::Limit ||
                        base->kind == RelKind::LockRows || (group && !group->aggregates.empty());
   if (decides || !select.targetList || select.havingClause) return;
   std::vector<ColumnId> computed; // by the select list itself; a plain name is computed in FROM
   const auto targets = ListOf<ResTarget>(select.targetList);
   for (uint32_t i = 0; i < query.output.size() && targets.size() == query.output.size(); ++i)
      if (targets[i]->val->type != T_ColumnRef) computed.push_back(query.output[i].column);
   bool computesKeys = select.sortClause != nullptr;
   for (const auto* key : ListOf<SortBy>(select.sortClause))
      computesKeys = computesKeys && key->node->type != T_ColumnRef;
   const auto isComputed = [&computed](const ComputedColumn& column) {
      return std::find(computed.begin(), computed.end(), column.column) != computed.end();
   };
   for (RelPtr* at = &query.rel; isTop(**at);) {
      if (auto* map = (*at)->kind == RelKind::Map ? &(*at)->as<op::Map>() : nullptr) {
         std::erase_if(map->computed, isComputed);
         if (!map->computed.empty()) {
            at = &(*at)->inputs[0];
            continue;
         }
      }
      if (const auto* sort = (*at)->getIf<op::Sort>(); sort && computesKeys)
         for (const SortKey& key : sort->keys)
            collectColumns(*key.expr, computed);
      RelPtr input = std::move((*at)->inputs[0]);
      *at = std::move(input);
   }
}

} // namespace

ExprPtr bindSubLink(BindState& state, Scope& scope, const ::SubLink& node) {
   const uint32_t position = state.at(node.location);
   if (const char* place = forbiddenPlace(scope.clause))
      throw SqlError(sqlstate::featureNotSupported, std::string("cannot use subquery in ") + place).at(position);
   const ObstacleGuard obstacle(state, "within a subquery");
   auto query = bindSelect(state, *as<SelectStmt>(node.subselect), &scope);
   switch (node.subLinkType) {
   case EXISTS_SUBLINK:
      askOnlyForRows(query, *as<SelectStmt>(node.subselect));
      return makeSubquery(SubqueryKind::Exists, booleanType, std::move(query.rel), {}, position);
   case EXPR_SUBLINK:
   case ARRAY_SUBLINK: {
      const OutputColumn column = onlyColumn(state, scope, query, position);
      const bool isArray = node.subLinkType == ARRAY_SUBLINK;
      SqlType type = column.type;
      if (isArray) {
         const Oid array = elementType(type.oid) ? type.oid : arrayType(type.oid);
         if (!array)
            throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(type.oid))
                .at(position);
         type = plainType(array, type.typmod);
      }
      return makeSubquery(isArray ? SubqueryKind::Array : SubqueryKind::Scalar, type, std::move(query.rel),
                          {column.column}, position);
   }
   case ANY_SUBLINK:
   case ALL_SUBLINK: return bindAnySubquery(state, scope, node, std::move(query));
   default: throwNotSupported("this kind of subquery", position);
   }
}

namespace {

ExprPtr bindAnySubquery(BindState& state, Scope& scope, const ::SubLink& node, BoundRel query) {
   const uint32_t position = state.at(node.location);
   const bool isAll = node.subLinkType == ALL_SUBLINK;
   auto test = bindExpr(state, scope, node.testexpr);
   // IN has no operator name and means =.
   const std::string name = node.operName ? operatorName(state, node.operName, position) : "=";
   std::vector<ExprPtr> lefts;
   if (isRowConstructor(*test)) {
      lefts = std::move(test->args);
   } else {
      lefts.push_back(rowValue(state, std::move(test)));
   }
   if (lefts.size() < query.output.size())
      throw SqlError(sqlstate::syntaxError, "subquery has too many columns").at(position);
   if (lefts.size() > query.output.size())
      throw SqlError(sqlstate::syntaxError, "subquery has too few columns").at(position);

   makeRowsValues(state, scope.depth + 1, query);
   // Resolve the operator column by column, over references to the subquery's columns.
   const uint32_t innerDepth = scope.depth + 1;
   std::vector<ExprPtr> rights;
   for (const OutputColumn& column : query.output)
      rights.push_back(makeColumn(column.column, column.type));
   auto expr = makeSubquery(isAll ? SubqueryKind::All : SubqueryKind::Any, booleanType, nullptr, {}, position);
   auto& subquery = expr->as<scalar::Subquery>();
   std::vector<ComputedColumn> computed;

   bool isDirect = lefts.size() == 1 || name == "=";
   for (size_t i = 0; i < lefts.size(); ++i)
      isDirect = isDirect && !isUserOperator(name, *lefts[i], *rights[i]);
   std::vector<ExprPtr> compared;
   if (isDirect) {
      for (size_t i = 0; i < lefts.size(); ++i) {
         auto pair = makeOperator(state, name, clone(*lefts[i]), clone(*rights[i]), position);
         isDirect &= pair->kind == ExprKind::Compare;
         compared.push_back(std::move(pair));
      }
   }
   if (isDirect) {
      subquery.op = *compareOf(*compared[0]);
      for (ExprPtr& pair : compared) {
         expr->args.push_back(std::move(pair->args[0]));
         ExprPtr& right = pair->args[1];
         if (right->kind == ExprKind::Column) {
            subquery.columns.push_back(columnOf(*right));
            continue;
         }
         const ColumnId column = state.addColumn(innerDepth, "value", right->type);
         computed.push_back({column, std::move(right)});
         subquery.columns.push_back(column);
      }
   } else {
      // A test that is no list of comparisons moves into the subquery: x ~ ANY (SELECT y) is true = ANY (SELECT x ~ y).
      ExprPtr condition;
      if (lefts.size() == 1) {
         condition = compared.empty() ? makeOperator(state, name, std::move(lefts[0]), std::move(rights[0]), position)
                                      : std::move(compared[0]);
      } else {
         condition = compareRows(state, scope, name, std::move(lefts), std::move(rights), position);
      }
      if (condition->type.oid != oid::boolean)
         throw SqlError(sqlstate::datatypeMismatch,
                        "operator " + name + " must return type boolean, not type " + typeName(condition->type.oid))
             .at(position);
      const ColumnId column = state.addColumn(innerDepth, "matches", booleanType);
      computed.push_back({column, std::move(condition)});
      subquery.op = CompareOp::Eq;
      expr->args.push_back(makeBoolean(true));
      subquery.columns.push_back(column);
   }
   subquery.query = makeMap(std::move(query.rel), std::move(computed));
   return expr;
}

} // namespace

ExprPtr bindRowSubquery(BindState& state, Scope& scope, std::string_view name, ExprPtr row, const ::SubLink& node,
                        uint32_t position) {
   const ObstacleGuard obstacle(state, "within a subquery");
   auto query = bindSelect(state, *as<SelectStmt>(node.subselect), &scope);
   if (row->args.size() < query.output.size())
      throw SqlError(sqlstate::syntaxError, "subquery has too many columns").at(position);
   if (row->args.size() > query.output.size())
      throw SqlError(sqlstate::syntaxError, "subquery has too few columns").at(position);
   makeRowsValues(state, scope.depth + 1, query);
   // The comparison moves into the subquery: (a, b) = (SELECT x, y) is (SELECT (a, b) = (x, y)).
   std::vector<ExprPtr> rights;
   for (const OutputColumn& column : query.output)
      rights.push_back(makeColumn(column.column, column.type));
   auto condition = compareRows(state, scope, name, std::move(row->args), std::move(rights), position);
   const ColumnId column = state.addColumn(scope.depth + 1, "matches", booleanType);
   std::vector<ComputedColumn> computed;
   computed.push_back({column, std::move(condition)});
   return makeSubquery(SubqueryKind::Scalar, booleanType, makeMap(std::move(query.rel), std::move(computed)), {column},
                       position);
}

} // namespace ouzel::sql
