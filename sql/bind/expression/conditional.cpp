#include "sql/bind/expression/conditional.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/expression/shared_value.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// CASE, COALESCE, NULLIF, GREATEST and LEAST, tests for NULL and truth, CURRENT_DATE and other functions without
// parentheses.

namespace ouzel::sql {

namespace {

const SqlType booleanType{oid::boolean, -1, invalidOid};

/// A larger operand of NULLIF is computed by a subquery, not copied.
constexpr size_t copiedMax = 64;

/// Forbids set-returning functions below CASE or COALESCE while it lives.
class SrfBlock {
public:
   SrfBlock(Scope& scope, const char* name) : scope_(scope), previous_(scope.srfBlocker) { scope.srfBlocker = name; }
   ~SrfBlock() { scope_.srfBlocker = previous_; }
   SrfBlock(const SrfBlock&) = delete;

private:
   Scope& scope_;
   const char* previous_;
};

/// shareValues() for one value, of which `use` may make copies.
ExprPtr shareValue(BindState& state, const Scope& scope, ExprPtr value, const std::function<ExprPtr(const Expr&)>& use,
                   Sharing sharing = Sharing::SideEffects) {
   ExprPtr* const values[] = {&value};
   return shareValues(
       state, scope.depth, values, [&] { return use(*value); }, sharing);
}

/// As unite(); values of one domain stay in it.
SqlType uniteDomains(std::span<ExprPtr* const> exprs, Oid common) {
   SqlType type = unite(exprs, common);
   const Oid domain = (*exprs[0])->type.domain;
   const bool isOne = std::all_of(exprs.begin(), exprs.end(), [&](const ExprPtr* expr) {
      return (*expr)->type.oid == common && (*expr)->type.domain == domain;
   });
   if (isOne) type.domain = domain;
   return type;
}

} // namespace

ExprPtr bindCase(BindState& state, Scope& scope, const ::CaseExpr& node) {
   const SrfBlock block(scope, "CASE");
   ExprPtr test;
   if (node.arg) test = unknownToText(state, bindExpr(state, scope, reinterpret_cast<const ::Node*>(node.arg)));
   std::vector<ExprPtr> conditions, results; // conditions of a simple CASE: the values to compare with
   for (const auto* when : ListOf<CaseWhen>(node.args)) {
      auto condition = bindExpr(state, scope, reinterpret_cast<const ::Node*>(when->expr));
      conditions.push_back(test ? std::move(condition) : coerceToBoolean(state, std::move(condition), "CASE/WHEN"));
      results.push_back(bindExpr(state, scope, reinterpret_cast<const ::Node*>(when->result)));
   }
   // ELSE comes first when the common type is chosen. A missing ELSE is a NULL of type unknown.
   ExprPtr otherwise = node.defresult ? bindExpr(state, scope, reinterpret_cast<const ::Node*>(node.defresult))
                                      : makeNull({oid::unknown, -1, invalidOid});
   std::vector<ExprPtr*> all = pointers(results);
   all.insert(all.begin(), &otherwise);
   const Oid common = selectCommonType(all, "CASE");
   otherwise = coerceToCommon(state, std::move(otherwise), common, "CASE/ELSE");
   for (ExprPtr& result : results)
      result = coerceToCommon(state, std::move(result), common, "CASE/WHEN");
   const SqlType type = uniteDomains(all, common);

   const auto build = [&](const Expr* value) {
      auto expr = makeTyped(ExprKind::Case, type, state.at(node.location));
      for (size_t i = 0; i < results.size(); ++i) {
         if (value) {
            const uint32_t position = conditions[i]->position;
            auto equals = makeOperator(state, "=", clone(*value), std::move(conditions[i]), position);
            expr->args.push_back(coerceToBoolean(state, std::move(equals), "CASE/WHEN"));
         } else {
            expr->args.push_back(std::move(conditions[i]));
         }
         expr->args.push_back(std::move(results[i]));
      }
      if (node.defresult) expr->args.push_back(std::move(otherwise));
      return expr;
   };
   if (!test) return build(nullptr);
   return shareValue(state, scope, std::move(test), [&](const Expr& value) { return build(&value); });
}

ExprPtr bindCoalesce(BindState& state, Scope& scope, const ::CoalesceExpr& node) {
   const SrfBlock block(scope, "COALESCE");
   std::vector<ExprPtr> args;
   for (const ::Node* arg : ListOf<>(node.args))
      args.push_back(bindExpr(state, scope, arg));
   const Oid common = selectCommonType(pointers(args), "COALESCE");
   for (ExprPtr& arg : args)
      arg = coerceToCommon(state, std::move(arg), common, "COALESCE");
   const SqlType type = uniteDomains(pointers(args), common);
   auto expr = makeTyped(ExprKind::Coalesce, type, state.at(node.location));
   expr->args = std::move(args);
   return expr;
}

ExprPtr bindMinMax(BindState& state, Scope& scope, const ::MinMaxExpr& node) {
   const char* name = node.op == IS_GREATEST ? "GREATEST" : "LEAST";
   std::vector<ExprPtr> args;
   for (const ::Node* arg : ListOf<>(node.args))
      args.push_back(bindExpr(state, scope, arg));
   const Oid common = selectCommonType(pointers(args), name);
   for (ExprPtr& arg : args)
      arg = coerceToCommon(state, std::move(arg), common, name);
   const SqlType type = uniteDomains(pointers(args), common);
   if (!catalog::builtins().comparisonOperator(common, catalog::BtreeStrategy::Less))
      throw SqlError(sqlstate::undefinedFunction,
                     "could not identify a comparison function for type " + typeName(common))
          .at(state.at(node.location));
   for (ExprPtr& arg : args)
      arg = applyTypmod(std::move(arg), type.typmod, CoercionContext::Implicit);
   const char* function = node.op == IS_GREATEST ? "ouzel_greatest" : "ouzel_least";
   auto expr = makeCall(catalog::builtins().functions(function)[0], type, std::move(args));
   expr->position = state.at(node.location);
   return expr;
}

ExprPtr bindNullIf(BindState& state, Scope& scope, const ::A_Expr& node) {
   auto left = bindExpr(state, scope, node.lexpr);
   auto right = bindExpr(state, scope, node.rexpr);
   const uint32_t position = state.at(node.location);
   if (left->type.oid == oid::unknown && left->kind == ExprKind::Constant && right->type.oid == oid::unknown)
      left = unknownToText(state, std::move(left));
   // Nested calls would double the copies at each level.
   size_t size = 0;
   forEachExpr(*left, [&size](const Expr&) { return ++size <= copiedMax; });
   const Sharing sharing = size > copiedMax ? Sharing::All : Sharing::SideEffects;
   return shareValue(
       state, scope, std::move(left),
       [&](const Expr& value) {
          const auto* op = requireOperator("=", value.type.oid, right->type.oid, position);
          const Oid type = isPolymorphic(op->left) ? value.type.oid : op->left;
          auto equals = makeOperator(state, "=", clone(value), std::move(right), position);
          if (equals->type.oid != oid::boolean)
             throw SqlError(sqlstate::datatypeMismatch, "NULLIF requires = operator to yield boolean").at(position);
          // The result is the first argument, cast to the operator's type.
          auto result = coerce(state, clone(value), type, -1, CoercionContext::Implicit);
          auto expr = makeTyped(ExprKind::Case, result->type, position);
          auto null = makeNull(result->type);
          expr->args.push_back(std::move(equals));
          expr->args.push_back(std::move(null));
          expr->args.push_back(std::move(result));
          return expr;
       },
       sharing);
}

namespace {

/// A row value IS [NOT] NULL if it is NULL itself or all its fields are [not] NULL.
ExprPtr testRow(ExprPtr row, ExprKind kind, uint32_t position) {
   const bool wantsNulls = kind == ExprKind::IsNull;
   std::vector<ExprPtr> args;
   args.push_back(std::move(row));
   args.push_back(makeBoolean(wantsNulls));
   std::vector<ExprPtr> alternatives; // the function is NULL for a row that is NULL
   alternatives.push_back(makeCall(catalog::builtins().functions("ouzel_row_is")[0], booleanType, std::move(args)));
   alternatives.push_back(makeBoolean(wantsNulls));
   auto test = makeTyped(ExprKind::Coalesce, booleanType, position);
   test->args = std::move(alternatives);
   return test;
}

} // namespace

ExprPtr bindNullTest(BindState& state, Scope& scope, const ::NullTest& node) {
   auto arg = bindExpr(state, scope, reinterpret_cast<const ::Node*>(node.arg));
   const uint32_t position = state.at(node.location);
   const ExprKind kind = node.nulltesttype == IS_NULL ? ExprKind::IsNull : ExprKind::IsNotNull;
   std::vector<ExprPtr> fields;
   if (arg->kind == ExprKind::Row) {
      fields = std::move(arg->args); // a row IS [NOT] NULL if all its fields are [not] NULL
   } else if (isRowValue(arg->type.oid)) {
      return testRow(std::move(arg), kind, position);
   } else {
      fields.push_back(std::move(arg));
   }
   std::vector<ExprPtr> tests;
   for (ExprPtr& field : fields) {
      auto test = makeTyped(kind, booleanType, position);
      // The test does not give a parameter a type, and is not what one that it gets later is for.
      if (field->kind == ExprKind::Parameter && field->type.oid == oid::unknown)
         state.untypedTests.push_back({field->as<scalar::Parameter>().number, field->position});
      test->args.push_back(field->kind == ExprKind::Parameter ? std::move(field)
                                                              : unknownToText(state, std::move(field)));
      tests.push_back(std::move(test));
   }
   return makeAnd(std::move(tests));
}

ExprPtr bindBooleanTest(BindState& state, Scope& scope, const ::BooleanTest& node) {
   static constexpr struct {
      const char* name;
      ExprKind kind;
   } forms[] = {
       {"IS TRUE", ExprKind::IsTrue},    {"IS NOT TRUE", ExprKind::IsNotTrue},
       {"IS FALSE", ExprKind::IsFalse},  {"IS NOT FALSE", ExprKind::IsNotFalse},
       {"IS UNKNOWN", ExprKind::IsNull}, {"IS NOT UNKNOWN", ExprKind::IsNotNull},
   };
   const auto& form = forms[node.booltesttype];
   auto arg = coerceToBoolean(state, bindExpr(state, scope, reinterpret_cast<const ::Node*>(node.arg)), form.name);
   auto expr = makeTyped(form.kind, booleanType, state.at(node.location));
   expr->args.push_back(std::move(arg));
   return expr;
}

ExprPtr bindSqlValue(BindState& state, Scope& scope, const ::SQLValueFunction& node) {
   const uint32_t position = state.at(node.location);
   const auto clock = [&](Oid type) {
      auto now = callFunction(state, scope, "now", {}, position);
      auto value = coerce(state, std::move(now), type, -1, CoercionContext::Explicit);
      return applyTypmod(std::move(value), node.typmod, CoercionContext::Explicit);
   };
   switch (node.op) {
   case SVFOP_CURRENT_DATE: return clock(oid::date);
   case SVFOP_CURRENT_TIME:
   case SVFOP_CURRENT_TIME_N: return clock(oid::timetz);
   case SVFOP_CURRENT_TIMESTAMP:
   case SVFOP_CURRENT_TIMESTAMP_N: return clock(oid::timestamptz);
   case SVFOP_LOCALTIME:
   case SVFOP_LOCALTIME_N: return clock(oid::time);
   case SVFOP_LOCALTIMESTAMP:
   case SVFOP_LOCALTIMESTAMP_N: return clock(oid::timestamp);
   case SVFOP_CURRENT_ROLE:
   case SVFOP_CURRENT_USER:
   case SVFOP_USER: return callFunction(state, scope, "current_user", {}, position);
   case SVFOP_SESSION_USER: return callFunction(state, scope, "session_user", {}, position);
   case SVFOP_CURRENT_CATALOG: return callFunction(state, scope, "current_database", {}, position);
   case SVFOP_CURRENT_SCHEMA: return callFunction(state, scope, "current_schema", {}, position);
   }
   throwInternal("unknown SQL value function");
}

} // namespace ouzel::sql
