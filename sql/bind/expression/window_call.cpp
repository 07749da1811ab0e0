#include "sql/bind/expression/window_call.hpp"

#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/user_aggregate.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collated_call.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/overload_resolution.hpp"

// Calls with OVER. The scope keeps a call until the select list is complete; then query/window.cpp binds its window.

namespace ouzel::sql {

using catalog::FunctionKind;

ExprPtr bindWindowCall(BindState& state, Scope& scope, const ::FuncCall& call, const FunctionCandidate& candidate,
                       std::vector<ExprPtr> args, const SqlType& resultType, FoldPtr fold) {
   const uint32_t position = state.at(call.location);
   const auto& function = *candidate.function;
   const std::string name(function.name);
   const auto refuse = [&](SqlState code, std::string message) { throw SqlError(code, message).at(position); };
   if (call.agg_within_group) {
      if (function.kind == FunctionKind::Window)
         refuse(sqlstate::wrongObjectType, "window function " + name + " cannot have WITHIN GROUP");
      refuse(sqlstate::featureNotSupported, "OVER is not supported for ordered-set aggregate " + name);
   }
   if (call.agg_distinct) refuse(sqlstate::featureNotSupported, "DISTINCT is not implemented for window functions");
   if (call.agg_star && !args.empty())
      refuse(sqlstate::wrongObjectType, name + "(*) must be used to call a parameterless aggregate function");
   if (function.kind == FunctionKind::Aggregate && args.empty() && !call.agg_star)
      refuse(sqlstate::wrongObjectType, name + "(*) must be used to call a parameterless aggregate function");
   if (call.agg_order)
      refuse(sqlstate::featureNotSupported, "aggregate ORDER BY is not implemented for window functions");
   if (call.agg_filter && function.kind == FunctionKind::Window)
      refuse(sqlstate::featureNotSupported, "FILTER is not implemented for non-aggregate window functions");
   if (scope.clause != Clause::Select && scope.clause != Clause::OrderBy && scope.clause != Clause::DistinctOn)
      refuse(sqlstate::windowingError, "window functions are not allowed in " + std::string(clauseName(scope.clause)));
   for (const ExprPtr& arg : args) {
      const auto positionOf = [&](ColumnKind kind) {
         return positionOfColumn(*arg, [&](ColumnId column) {
            return state.depthOf(column) == scope.depth && state.kindOf(column) == kind;
         });
      };
      if (state.readsKind(*arg, scope, ColumnKind::Window))
         throw SqlError(sqlstate::windowingError, "window function calls cannot be nested")
             .at(positionOf(ColumnKind::Window));
      if (state.readsKind(*arg, scope, ColumnKind::Srf))
         throw SqlError(sqlstate::featureNotSupported,
                        "window function calls cannot contain set-returning function calls")
             .at(positionOf(ColumnKind::Srf))
             .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
   }
   PendingWindowCall pending;
   pending.over = call.over;
   pending.position = position;
   pending.call.function = fold ? foldFunction() : &function;
   const SqlType type = settleCall(state, function, args, resultType);
   const IcuCollation* collation = state.columns.collations.find(type.collation);
   const bool hasKeys = collation && collateChoice(*pending.call.function, args, 0, *collation);
   const SqlType result = hasKeys ? args[0]->type : type;
   if (fold && args.empty()) args.push_back(makeBoolean(true)); // to count the rows
   pending.call.args = std::move(args);
   pending.call.star = call.agg_star && !fold;
   pending.call.fold = std::move(fold);
   pending.call.type = result;
   if (call.agg_filter)
      pending.call.filter = coerceToBoolean(state, bindExpr(state, scope, call.agg_filter, Clause::Filter), "FILTER");
   pending.call.column = state.addColumn(scope, name, result);
   state.setKind(pending.call.column, ColumnKind::Window);
   auto reference = makeColumn(pending.call.column, result);
   reference->position = position;
   if (call.over->name) findWindow(scope, call.over->name, state.at(call.over->location), scope.namedWindows.size());
   scope.windowCalls.push_back(std::move(pending));
   return hasKeys ? makeKeyedText(std::move(reference), type) : std::move(reference);
}

} // namespace ouzel::sql
