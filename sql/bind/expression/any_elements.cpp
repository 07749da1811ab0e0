#include "sql/bind/expression/any_elements.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

bool takesSubquery(Clause clause) {
   switch (clause) {
   case Clause::Select:
   case Clause::Where:
   case Clause::Having:
   case Clause::JoinOn:
   case Clause::OrderBy:
   case Clause::GroupBy:
   case Clause::Values:
   case Clause::InsertValues:
   case Clause::UpdateSource:
   case Clause::Policy: return true;
   default: return false;
   }
}

const catalog::FunctionInfo* unnestFunction() {
   for (const catalog::FunctionInfo* overload : catalog::builtins().functions("unnest"))
      if (overload->argTypes[0] == oid::anyarray) return overload;
   throwInternal("there is no unnest(anyarray)");
}

} // namespace

ExprPtr anyOfElements(BindState& state, const Scope& scope, std::string_view name, ExprPtr& left, ExprPtr& right,
                      bool isAll, uint32_t position) {
   if (!withUserOperators() || right->kind == ExprKind::Array) return nullptr;
   const Oid given = right->type.oid == oid::unknown ? Oid{oid::unknown} : elementType(right->type.oid);
   if (!given) return nullptr;
   const OperatorResolution found = resolveOperator(name, left->type.oid, given);
   if (found.outcome != Resolution::Found || found.op->oid < firstUserOid || found.op->function < firstUserOid)
      return nullptr;
   const SqlType element = plainType(isPolymorphic(found.op->right) ? given : found.op->right);
   const Oid array = arrayType(element.oid);
   if (!array || elementType(element.oid) || !takesSubquery(scope.clause) || isVolatile(*right))
      throwNotSupported("op ANY/ALL (array) with operator " + std::string(name) + " of a user, here,", position);
   right = coerce(state, std::move(right), array, -1, CoercionContext::Implicit);
   auto isNull = makeTest(ExprKind::IsNull, clone(*right));
   const uint32_t depth = scope.depth + 1;
   op::TableFunction elements;
   elements.function = unnestFunction();
   elements.args.push_back(std::move(right));
   elements.columns.push_back(state.addColumn(depth, "element", element));
   auto value = makeColumn(elements.columns[0], element);
   auto matches = coerceToBoolean(state, makeOperator(state, name, std::move(left), std::move(value), position), "ANY");
   const SqlType boolean = plainType(oid::boolean);
   std::vector<ComputedColumn> computed;
   computed.push_back({state.addColumn(depth, "matches", boolean), std::move(matches)});
   const ColumnId column = computed[0].column;
   auto query = makeMap(makeRel(RelKind::TableFunction, std::move(elements)), std::move(computed));
   auto any =
       makeSubquery(isAll ? SubqueryKind::All : SubqueryKind::Any, boolean, std::move(query), {column}, position);
   any->as<scalar::Subquery>().op = CompareOp::Eq;
   any->args.push_back(makeBoolean(true));
   auto guarded = makeTyped(ExprKind::Case, boolean, position);
   guarded->args.push_back(std::move(isNull));
   guarded->args.push_back(makeConstant(boolean, Value::null(PhysicalType::Bool)));
   guarded->args.push_back(std::move(any));
   return guarded;
}

} // namespace ouzel::sql
