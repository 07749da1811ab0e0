#include "sql/bind/expression/aggregate.hpp"

#include <algorithm>

#include "catalog/object/function.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/user_aggregate.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collated_call.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Aggregate calls: finds the query level of a call and checks its arguments. query/grouping.cpp makes the GroupBy.

namespace ouzel::sql {

using catalog::AggregateKind;
using catalog::builtins;

namespace {

bool sameOrder(const std::vector<SortKey>& a, const std::vector<SortKey>& b) {
   return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SortKey& x, const SortKey& y) {
      return x.descending == y.descending && x.nullsFirst == y.nullsFirst && equal(*x.expr, *y.expr);
   });
}

bool sameExprs(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
   return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                     [](const ExprPtr& x, const ExprPtr& y) { return equal(*x, *y); });
}

/// True if both calls give the same value in every group.
bool sameCall(const AggregateCall& a, const AggregateCall& b) {
   if (a.function != b.function || a.distinct != b.distinct || a.star != b.star || a.type != b.type) return false;
   if (a.fold && (a.fold->aggregate != b.fold->aggregate || a.fold->isMoving != b.fold->isMoving)) return false;
   if (!a.filter != !b.filter || (a.filter && !equal(*a.filter, *b.filter))) return false;
   for (const ExprPtr& arg : a.args)
      if (isVolatile(*arg)) return false;
   return sameExprs(a.args, b.args) && sameExprs(a.directArgs, b.directArgs) && sameOrder(a.orderBy, b.orderBy);
}

/// The query level of an aggregate over these expressions. Throws 42803 for nested aggregates.
Scope& aggregateScope(BindState& state, Scope& scope, const std::vector<const Expr*>& args) {
   // The innermost level whose columns the arguments read; without columns, the level that contains the call.
   std::optional<uint32_t> depth;
   for (const Expr* arg : args) {
      std::vector<ColumnId> columns;
      collectColumns(*arg, columns);
      for (const ColumnId column : columns)
         depth = std::max(depth.value_or(0), std::min(state.depthOf(column), scope.depth));
   }
   Scope* level = &scope;
   if (depth)
      while (level->depth > *depth && level->parent)
         level = level->parent;
   for (const Expr* arg : args) {
      const auto positionOf = [&](ColumnKind kind) {
         return positionOfColumn(*arg, [&](ColumnId column) {
            return state.depthOf(column) == level->depth && state.kindOf(column) == kind;
         });
      };
      for (const ColumnKind kind : {ColumnKind::Aggregate, ColumnKind::Grouped}) // GROUPING() counts as an aggregate
         if (state.readsKind(*arg, *level, kind))
            throw SqlError(sqlstate::groupingError, "aggregate function calls cannot be nested").at(positionOf(kind));
      if (state.readsKind(*arg, *level, ColumnKind::Window))
         throw SqlError(sqlstate::groupingError, "aggregate function calls cannot contain window function calls")
             .at(positionOf(ColumnKind::Window));
      if (state.readsKind(*arg, *level, ColumnKind::Srf))
         throw SqlError(sqlstate::featureNotSupported,
                        "aggregate function calls cannot contain set-returning function calls")
             .at(positionOf(ColumnKind::Srf))
             .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
   }
   return *level;
}

/// Direct arguments do not decide the level. They must not contain nested aggregates or windows either, and what they
/// read must be there where the aggregate is computed.
void checkDirectArgument(BindState& state, Scope& level, const Expr& arg) {
   const auto isBelow = [&](ColumnId column) {
      return state.depthOf(column) > level.depth && state.depthOf(column) != noLevel;
   };
   std::vector<ColumnId> columns;
   collectColumns(arg, columns);
   if (std::any_of(columns.begin(), columns.end(), isBelow))
      throw SqlError(sqlstate::groupingError,
                     "outer-level aggregate cannot contain a lower-level variable in its direct arguments")
          .at(positionOfColumn(arg, isBelow));
   for (const ColumnKind kind : {ColumnKind::Aggregate, ColumnKind::Grouped, ColumnKind::Window, ColumnKind::Srf})
      if (state.readsKind(arg, level, kind)) aggregateScope(state, level, {&arg}); // throws
}

void checkAggregateClause(const Scope& scope, uint32_t position, bool isGroupingCall) {
   switch (scope.clause) {
   case Clause::Select:
   case Clause::Having:
   case Clause::WindowPartition:
   case Clause::WindowOrder:
   case Clause::OrderBy:
   case Clause::DistinctOn:
      if (scope.isRecursiveTerm && !isGroupingCall)
         throw SqlError(sqlstate::invalidRecursion,
                        "aggregate functions are not allowed in a recursive query's recursive term")
             .at(position);
      return;
   default: break;
   }
   throw SqlError(sqlstate::groupingError, std::string(isGroupingCall ? "grouping operations" : "aggregate functions") +
                                               " are not allowed in " + std::string(clauseName(scope.clause)))
       .at(position);
}

} // namespace

ExprPtr bindAggregate(BindState& state, Scope& scope, const ::FuncCall& call, const FunctionCandidate& candidate,
                      std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount, FoldPtr fold) {
   const uint32_t position = state.at(call.location);
   const std::string name(candidate.function->name);
   const auto& function = fold ? *foldFunction() : *candidate.function;
   const auto kind = catalog::aggregateKind(state.context.catalog, candidate.function->oid);
   const bool isOrderedSet = kind && kind->first != AggregateKind::Normal;
   if (isOrderedSet && !call.agg_within_group)
      throw SqlError(sqlstate::wrongObjectType, "WITHIN GROUP is required for ordered-set aggregate " + name)
          .at(position);
   if (args.empty() && !call.agg_star && !call.agg_within_group)
      throw SqlError(sqlstate::wrongObjectType, name + "(*) must be used to call a parameterless aggregate function")
          .at(position);
   if (call.agg_star && !args.empty())
      throw SqlError(sqlstate::undefinedFunction, "function " + name + "(*) does not exist").at(position);

   AggregateCall aggregate;
   aggregate.function = &function;
   aggregate.distinct = call.agg_distinct;
   aggregate.star = call.agg_star && !fold;
   if (fold && args.empty()) args.push_back(makeBoolean(true)); // to count the rows
   const SqlType settledType = settleCall(state, function, args, resultType);
   const IcuCollation* collation = state.columns.collations.find(settledType.collation);
   const uint32_t firstValue = call.agg_within_group ? directCount : 0;
   const bool hasKeys = collation && collateChoice(function, args, firstValue, *collation);
   if (!fold && kind && kind->first == AggregateKind::Hypothetical)
      collateHypothetical(state.columns.collations, args, directCount);
   aggregate.type = hasKeys ? args[firstValue]->type : settledType;
   uint32_t sortIndex = 0;
   for (const auto* sort : ListOf<SortBy>(call.agg_order)) {
      SortKey key;
      if (call.agg_within_group) { // already bound and cast as one of the arguments
         const size_t index = directCount + sortIndex++;
         if (index >= args.size()) throwNotSupported("variadic ordered-set aggregates", position);
         key.expr = clone(*args[index]);
      } else {
         key.expr = unknownToText(state, bindExpr(state, scope, sort->node, Clause::OrderBy));
      }
      requireSortKey(state, *key.expr, key.expr->position);
      direction(state, *sort, key.expr->type, key.descending, key.nullsFirst);
      if (fold && call.agg_within_group) continue; // as in PostgreSQL, which leaves it to the functions to sort
      aggregate.orderBy.push_back(std::move(key));
   }
   for (size_t i = 0; i < args.size(); ++i)
      (call.agg_within_group && i < directCount ? aggregate.directArgs : aggregate.args).push_back(std::move(args[i]));
   if (call.agg_filter)
      aggregate.filter = coerceToBoolean(state, bindExpr(state, scope, call.agg_filter, Clause::Filter), "FILTER");
   if (aggregate.distinct) {
      for (const ExprPtr& arg : aggregate.args) {
         requireEqualKey(state, *arg, arg->position);
         const IcuCollation* compared = state.columns.collations.find(arg->type.collation);
         if (compared && !compared->isDeterministic && function.name != "count")
            throwNotSupported("DISTINCT by a nondeterministic collation in " + name + "()", arg->position);
      }
      for (SortKey& key : aggregate.orderBy) {
         // The argument may have a cast that the sort key lacks: string_agg(DISTINCT v, ',' ORDER BY v).
         const auto isArgument = [&](const ExprPtr& arg) {
            if (equal(*arg, *key.expr)) return true;
            ExprPtr copy = clone(*key.expr);
            const auto cast = tryCoerce(state, copy, arg->type, CoercionContext::Implicit);
            return cast && equal(*arg, *cast);
         };
         const auto found = std::find_if(aggregate.args.begin(), aggregate.args.end(), isArgument);
         if (found == aggregate.args.end())
            throw SqlError(sqlstate::invalidColumnReference,
                           "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
                .at(key.expr->position);
         key.expr = clone(**found);
      }
   }

   aggregate.fold = std::move(fold);
   std::vector<const Expr*> reads;
   for (const ExprPtr& arg : aggregate.args)
      reads.push_back(arg.get());
   for (const SortKey& key : aggregate.orderBy)
      reads.push_back(key.expr.get());
   if (aggregate.filter) reads.push_back(aggregate.filter.get());
   Scope& level = aggregateScope(state, scope, reads);
   for (const ExprPtr& arg : aggregate.directArgs)
      checkDirectArgument(state, level, *arg);
   checkAggregateClause(level, position, false);

   ColumnId column = noColumn;
   for (const AggregateCall& other : level.aggregates)
      if (sameCall(other, aggregate)) column = other.column;
   if (column == noColumn) {
      column = state.addColumn(level, name, aggregate.type);
      state.setKind(column, ColumnKind::Aggregate);
      aggregate.column = column;
      level.aggregates.push_back(std::move(aggregate));
   }
   auto reference = makeColumn(column, state.columns[column].type);
   reference->position = position;
   return hasKeys ? makeKeyedText(std::move(reference), settledType) : std::move(reference);
}

ExprPtr bindGroupingCall(BindState& state, Scope& scope, const ::GroupingFunc& node) {
   const uint32_t position = state.at(node.location);
   PendingGrouping pending;
   pending.position = position;
   std::vector<const Expr*> reads;
   for (const ::Node* arg : ListOf<>(node.args)) {
      pending.args.push_back(bindExpr(state, scope, arg));
      settleCollations(state, *pending.args.back());
      reads.push_back(pending.args.back().get());
   }
   if (pending.args.size() > 31)
      throw SqlError(sqlstate::tooManyArguments, "GROUPING must have fewer than 32 arguments").at(position);
   Scope& level = aggregateScope(state, scope, reads);
   checkAggregateClause(level, position, true);
   const SqlType type{oid::int4, -1, invalidOid};
   pending.column = state.addColumn(level, "grouping", type);
   state.setKind(pending.column, ColumnKind::Grouped);
   auto reference = makeColumn(pending.column, type);
   reference->position = position;
   level.groupings.push_back(std::move(pending));
   return reference;
}

} // namespace ouzel::sql
