#include "sql/bind/expression/operator.hpp"

#include <algorithm>
#include <array>

#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "common/base_type/type_form.hpp"
#include "common/calendar/calendar.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/caseless.hpp"
#include "sql/algebra/last_of.hpp"
#include "sql/bind/expression/any_elements.hpp"
#include "sql/bind/expression/conditional.hpp"
#include "sql/bind/expression/eager_items.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/shared_value.hpp"
#include "sql/bind/expression/subquery.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/operator_name.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Operators: arithmetic, comparison, IN, BETWEEN, LIKE, IS DISTINCT FROM, op ANY (array).

namespace ouzel::sql {

using catalog::BtreeStrategy;
using catalog::builtins;
using catalog::OperatorInfo;

namespace {

ExprPtr bindOperatorChain(BindState& state, Scope& scope, const ::A_Expr& node);
ExprPtr bindDistinct(BindState& state, Scope& scope, const ::A_Expr& node);
ExprPtr bindIn(BindState& state, Scope& scope, const ::A_Expr& node);
ExprPtr bindBetween(BindState& state, Scope& scope, const ::A_Expr& node);
ExprPtr bindAnyArray(BindState& state, Scope& scope, const ::A_Expr& node, bool isAll);

const SqlType booleanType{oid::boolean, -1, invalidOid};

/// Types whose values ExprKind::Compare orders as PostgreSQL's operators do.
bool comparesByItself(Oid type) {
   const TypeForm* form = findTypeForm(type);
   if (form ? form->isOrdered : isEnumType(type)) return true;
   static constexpr std::array types{oid::boolean,   oid::bytea,       oid::character, oid::name,    oid::int8,
                                     oid::int2,      oid::int4,        oid::text,      oid::oid,     oid::float4,
                                     oid::float8,    oid::bpchar,      oid::varchar,   oid::date,    oid::time,
                                     oid::timestamp, oid::timestamptz, oid::interval,  oid::numeric, oid::uuid,
                                     oid::timetz,    oid::anyenum};
   return std::find(types.begin(), types.end(), type) != types.end();
}

/// The type to which both operands can be cast so that the comparison has the same outcome; invalidOid if there is no
/// such type.
Oid comparisonType(Oid left, Oid right) {
   if (left == right) return comparesByItself(left) ? left : invalidOid;
   const auto oneOf = [](Oid type, std::initializer_list<Oid> types) {
      return std::find(types.begin(), types.end(), type) != types.end();
   };
   const auto both = [&](std::initializer_list<Oid> types) { return oneOf(left, types) && oneOf(right, types); };
   if (both({oid::int2, oid::int4, oid::int8})) return left == oid::int8 || right == oid::int8 ? oid::int8 : oid::int4;
   if (both({oid::float4, oid::float8})) return oid::float8;
   if (both({oid::name, oid::text})) return oid::text;
   if (both({oid::date, oid::timestamp})) return oid::timestamp;
   if (both({oid::date, oid::timestamp, oid::timestamptz})) return oid::timestamptz;
   return invalidOid;
}

CompareOp compareOpOf(BtreeStrategy strategy) {
   switch (strategy) {
   case BtreeStrategy::Less: return CompareOp::Lt;
   case BtreeStrategy::LessEqual: return CompareOp::Le;
   case BtreeStrategy::Equal: return CompareOp::Eq;
   case BtreeStrategy::GreaterEqual: return CompareOp::Ge;
   case BtreeStrategy::Greater: return CompareOp::Gt;
   }
   return CompareOp::Eq;
}

ExprPtr nullTest(ExprKind kind, ExprPtr arg) {
   auto test = makeTyped(kind, booleanType, arg->position);
   test->args.push_back(std::move(arg));
   return test;
}

/// Casts to the type in which values are compared. A date that no timestamp can have can be compared with one.
ExprPtr coerceToCompare(BindState& state, ExprPtr expr, Oid type) {
   const bool isInstant = type == oid::timestamptz;
   if (expr->type.oid != oid::date || !(isInstant || type == oid::timestamp))
      return coerce(state, std::move(expr), type, -1, CoercionContext::Explicit);
   constexpr Oid argument[] = {oid::date};
   std::vector<ExprPtr> args;
   args.push_back(std::move(expr));
   return makeCall(builtins().findFunction(isInstant ? "ouzel_date_timestamptz" : "ouzel_date_timestamp", argument),
                   plainType(type), std::move(args));
}

/// True if the expression reads no columns and no parameters. PostgreSQL types such elements of an IN list together.
bool isPlainConstant(const Expr& root) {
   bool constant = true;
   forEachExpr(root, [&](const Expr& expr) {
      constant &= expr.kind != ExprKind::Column && expr.kind != ExprKind::Subquery;
      return constant;
   });
   return constant;
}

} // namespace

namespace {

/// How an operator compares in the order that its operands have by default; nothing: it does not.
std::optional<CompareOp> orderedComparison(const OperatorInfo& op) {
   if (op.oid >= firstUserOid) return {};
   auto member = builtins().btreeStrategy(op.oid);
   CompareOp compare = CompareOp::Ne;
   if (member) {
      compare = compareOpOf(member->strategy);
   } else {
      if (!op.negator) return {};
      member = builtins().btreeStrategy(op.negator);
      if (!member || member->strategy != BtreeStrategy::Equal) return {};
   }
   if (member->family != builtins().defaultBtreeFamily(op.left)) return {}; // text_pattern_ops and other families
   return compare;
}

/// The comparison of citext that an operator is.
std::optional<CompareOp> caselessComparison(const OperatorInfo& written) {
   const OperatorInfo& op = familyOperator(written);
   if (op.left != oid::citext) return {};
   return orderedComparison(op);
}

} // namespace

std::optional<CompareOp> comparisonOf(const OperatorInfo& written, Oid& commonType) {
   const OperatorInfo& op = familyOperator(written);
   const auto compare = orderedComparison(op);
   if (!compare) return {};
   commonType = comparisonType(op.left, op.right);
   if (!commonType) return {};
   return compare;
}

namespace {

/// An operator of users over a domain itself; null: there is none for these operands.
const OperatorInfo* operatorOfDomain(std::string_view name, const Expr* left, const Expr& right) {
   const TypeNaming* users = withUserOperators();
   if (!users || !((left && left->type.domain) || right.type.domain)) return nullptr;
   Oid leftType = left ? left->type.named() : invalidOid, rightType = right.type.named();
   if (left && leftType == oid::unknown) leftType = rightType;
   if (left && rightType == oid::unknown) rightType = leftType;
   return catalog::findExactOperator(users->context().catalog, users->path().schemas, name, leftType, rightType);
}

} // namespace

bool isUserOperator(std::string_view name, const Expr& left, const Expr& right) {
   if (!withUserOperators()) return false;
   if (operatorOfDomain(name, &left, right)) return true;
   const OperatorResolution found = resolveOperator(name, left.type.oid, right.type.oid);
   Oid common = invalidOid;
   return found.outcome == Resolution::Found && found.op->oid >= firstUserOid && !comparisonOf(*found.op, common);
}

ExprPtr makeOperator(BindState& state, std::string_view name, ExprPtr left, ExprPtr right, uint32_t position) {
   const OperatorInfo* op = operatorOfDomain(name, left.get(), *right);
   if (!op) op = requireOperator(name, left ? left->type.oid : invalidOid, right->type.oid, position);
   if (left) left = rowValue(state, std::move(left));
   right = rowValue(state, std::move(right));
   std::vector<ExprPtr> args;
   std::vector<Oid> declared;
   if (left) {
      args.push_back(std::move(left));
      declared.push_back(op->left);
   }
   args.push_back(std::move(right));
   declared.push_back(op->right);
   std::vector<Oid> actual;
   for (const ExprPtr& arg : args)
      actual.push_back(arg->type.oid);
   Oid result = 0;
   try {
      result = enforceGenericConsistency(actual, declared, op->result);
   } catch (SqlError& error) {
      error.setPosition(position);
      throw;
   }
   coerceArguments(state, args, declared);
   if (const auto compare = caselessComparison(*op)) {
      auto expr = makeCompare(*compare, lowered(std::move(args[0])), lowered(std::move(args[1])));
      expr->position = position;
      return expr;
   }
   Oid common = invalidOid;
   if (args.size() == 2)
      if (const auto compare = comparisonOf(*op, common)) {
         for (ExprPtr& arg : args)
            arg = coerceToCompare(state, std::move(arg), common);
         auto expr = makeCompare(*compare, std::move(args[0]), std::move(args[1]));
         expr->position = position;
         return expr;
      }
   const auto* function = catalog::functionInfo(state.context.catalog, op->function);
   if (!function)
      throw SqlError(sqlstate::undefinedFunction,
                     "operator is only a shell: " + operatorSignature(name, op->left, op->right))
          .at(position);
   if (op->oid >= firstUserOid) {
      Scope scope(nullptr); // what cannot be an expression is run
      scope.clause = Clause::Transition;
      auto value = callFunction(state, scope, *function, std::move(args), position);
      value->position = position;
      return value;
   }
   auto expr = makeCall(function, plainType(result), std::move(args));
   expr->position = position;
   return expr;
}

namespace {

ExprPtr combine(BindState& state, const Scope& scope, std::string_view name, ExprPtr left, ExprPtr right,
                uint32_t position) {
   if (left && isRowConstructor(*left) && isRowConstructor(*right))
      return compareRows(state, scope, name, std::move(left->args), std::move(right->args), position);
   return makeOperator(state, name, std::move(left), std::move(right), position);
}

} // namespace

ExprPtr bindOperator(BindState& state, Scope& scope, const ::A_Expr& node) {
   const uint32_t position = state.at(node.location);
   switch (node.kind) {
   case AEXPR_OP: return bindOperatorChain(state, scope, node);
   case AEXPR_OP_ANY: return bindAnyArray(state, scope, node, false);
   case AEXPR_OP_ALL: return bindAnyArray(state, scope, node, true);
   case AEXPR_DISTINCT:
   case AEXPR_NOT_DISTINCT: return bindDistinct(state, scope, node);
   case AEXPR_NULLIF: return bindNullIf(state, scope, node);
   case AEXPR_IN: return bindIn(state, scope, node);
   case AEXPR_LIKE:
   case AEXPR_ILIKE:
   case AEXPR_SIMILAR: {
      auto left = bindExpr(state, scope, node.lexpr);
      auto right = bindExpr(state, scope, node.rexpr);
      return makeOperator(state, stringOf(ListOf<>(node.name).back()), std::move(left), std::move(right), position);
   }
   case AEXPR_BETWEEN:
   case AEXPR_NOT_BETWEEN:
   case AEXPR_BETWEEN_SYM:
   case AEXPR_NOT_BETWEEN_SYM: return bindBetween(state, scope, node);
   }
   throwInternal("unknown operator node");
}

namespace {

/// `a + b + c + ...` leans left and may be as deep as the text is long, so a loop walks the left operands.
ExprPtr bindOperatorChain(BindState& state, Scope& scope, const ::A_Expr& node) {
   std::vector<const A_Expr*> spine{&node};
   while (isNode(spine.back()->lexpr, T_A_Expr) && as<A_Expr>(spine.back()->lexpr)->kind == AEXPR_OP)
      spine.push_back(as<A_Expr>(spine.back()->lexpr));
   state.checkNesting(spine.size());
   ExprPtr left;
   if (spine.back()->lexpr) left = bindExpr(state, scope, spine.back()->lexpr);
   while (!spine.empty()) {
      const A_Expr& current = *spine.back();
      spine.pop_back();
      const uint32_t position = state.at(current.location);
      // (a, b) = (SELECT x, y ...)
      if (left && isRowConstructor(*left) && isNode(current.rexpr, T_SubLink) &&
          as<SubLink>(current.rexpr)->subLinkType == EXPR_SUBLINK) {
         const std::string name = operatorName(state, current.name, position);
         left = bindRowSubquery(state, scope, name, std::move(left), *as<SubLink>(current.rexpr), position);
         continue;
      }
      auto right = bindExpr(state, scope, current.rexpr);
      const std::string name = operatorName(state, current.name, position);
      recordOperator(state, current.name, current.location, left ? left->type.oid : invalidOid, right->type.oid);
      left = combine(state, scope, name, std::move(left), std::move(right), position);
   }
   return left;
}

ExprPtr distinctOf(const Expr& left, const Expr& right, ExprPtr equals, bool negated) {
   std::vector<ExprPtr> bothNull, bothKnown, same;
   for (const Expr* operand : {&left, &right}) {
      bothNull.push_back(nullTest(ExprKind::IsNull, clone(*operand)));
      bothKnown.push_back(nullTest(ExprKind::IsNotNull, clone(*operand)));
   }
   bothKnown.push_back(std::move(equals));
   same.push_back(makeAnd(std::move(bothNull)));
   same.push_back(makeAnd(std::move(bothKnown)));
   auto result = makeOr(std::move(same));
   return negated ? std::move(result) : makeNot(std::move(result));
}

ExprPtr makeDistinct(BindState& state, const Scope& scope, ExprPtr left, ExprPtr right, bool negated,
                     uint32_t position) {
   if (isNullConstant(*left) || isNullConstant(*right)) {
      auto other = unknownToText(state, isNullConstant(*right) ? std::move(left) : std::move(right));
      return nullTest(negated ? ExprKind::IsNull : ExprKind::IsNotNull, std::move(other));
   }
   const auto equality = [&](ExprPtr a, ExprPtr b) {
      auto equals = makeOperator(state, "=", std::move(a), std::move(b), position);
      if (equals->type.oid != oid::boolean)
         throw SqlError(sqlstate::datatypeMismatch, "IS DISTINCT FROM requires = operator to yield boolean")
             .at(position);
      return equals;
   };
   if (isUserOperator("=", *left, *right)) {
      ExprPtr* const both[] = {&left, &right};
      return shareValues(
          state, scope.depth, both,
          [&] { return distinctOf(*left, *right, equality(clone(*left), clone(*right)), negated); },
          Sharing::Subqueries);
   }
   auto equals = equality(std::move(left), std::move(right));
   if (auto* compare = equals->getIf<scalar::Compare>()) {
      compare->op = negated ? CompareOp::IsNotDistinctFrom : CompareOp::IsDistinctFrom;
      return equals;
   }
   // The = of this type is a function, not a Compare: expand IS DISTINCT FROM.
   return shareValues(
       state, scope.depth, pointers(equals->args),
       [&] {
          const Expr &a = *equals->args[0], &b = *equals->args[1];
          return distinctOf(a, b, std::move(equals), negated);
       },
       Sharing::Subqueries);
}

ExprPtr bindDistinct(BindState& state, Scope& scope, const ::A_Expr& node) {
   const uint32_t position = state.at(node.location);
   const bool negated = node.kind == AEXPR_NOT_DISTINCT;
   auto left = bindExpr(state, scope, node.lexpr);
   auto right = bindExpr(state, scope, node.rexpr);
   if (!isRowConstructor(*left) || !isRowConstructor(*right))
      return makeDistinct(state, scope, std::move(left), std::move(right), negated, position);
   if (left->args.size() != right->args.size())
      throw SqlError(sqlstate::syntaxError, "unequal number of entries in row expressions").at(position);
   std::vector<ExprPtr> parts;
   for (size_t i = 0; i < left->args.size(); ++i)
      parts.push_back(
          makeDistinct(state, scope, std::move(left->args[i]), std::move(right->args[i]), negated, position));
   return negated ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
}

/// left IN (items) as one list of the constants and a comparison for each other item. Names `left` several times.
ExprPtr expandIn(BindState& state, const Scope& scope, const ::A_Expr& node, ExprPtr left, std::vector<ExprPtr> items) {
   const uint32_t position = state.at(node.location);
   const bool negated = stringOf(ListOf<>(node.name).front()) == "<>";
   const std::string_view name = negated ? "<>" : "=";
   std::vector<ExprPtr> constants, others, parts;
   for (ExprPtr& item : items)
      (isPlainConstant(*item) ? constants : others).push_back(std::move(item));
   const bool isRow = left->kind == ExprKind::Row;
   if (isRow && left->type.oid >= firstUserOid && constants.size() > 1) // a literal is a row of the same type
      for (ExprPtr& item : constants)
         if (item->type.oid == oid::unknown) item = coerceToCommon(state, std::move(item), left->type.oid, "IN");
   const bool isOfUser = !constants.empty() && isUserOperator(name, *left, *constants[0]);
   if (constants.size() > 1 && !isRow && !isOfUser) {
      std::vector<ExprPtr*> all{&left};
      for (ExprPtr& item : constants)
         all.push_back(&item);
      const Oid common = selectCommonType(all, {});
      const Oid array = common ? arrayType(common) : invalidOid;
      if (array && common != oid::record) {
         for (ExprPtr& item : constants)
            item = coerceToCommon(state, std::move(item), common, "IN");
         // Resolve the operator for one element; the list then has the operand types of that comparison.
         auto probe = makeOperator(state, name, clone(*left), clone(*constants[0]), position);
         if (probe->kind == ExprKind::Compare) {
            const Oid compared = probe->args[0]->type.oid;
            auto list = makeTyped(ExprKind::InList, booleanType, position);
            list->as<scalar::InList>().negated = negated;
            list->args.push_back(std::move(probe->args[0]));
            for (ExprPtr& item : constants)
               list->args.push_back(
                   withoutBlanks(coerce(state, std::move(item), compared, -1, CoercionContext::Explicit)));
            if (!others.empty()) left = clone(*list->args[0]);
            parts.push_back(std::move(list));
            constants.clear();
         }
      }
   }
   for (std::vector<ExprPtr>* kind : {&constants, &others})
      for (ExprPtr& item : *kind)
         parts.push_back(combine(state, scope, name, clone(*left), std::move(item), position));
   for (ExprPtr& part : parts)
      part = coerceToBoolean(state, std::move(part), "IN");
   return negated ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
}

ExprPtr bindIn(BindState& state, Scope& scope, const ::A_Expr& node) {
   auto left = bindExpr(state, scope, node.lexpr);
   std::vector<ExprPtr> items;
   for (const ::Node* item : ListOf<>(as<List>(node.rexpr)))
      items.push_back(bindExpr(state, scope, item));
   std::vector<ExprPtr> eager; // without rows, IN is = ANY (ARRAY[...]) in PostgreSQL
   if (scope.items.empty() && items.size() > 1) eager = eagerItems(*left, items);
   ExprPtr* const whole[] = {&left};
   const auto fields = pointers(left->args);
   const bool isRow = left->kind == ExprKind::Row;
   const auto expand = [&] { return expandIn(state, scope, node, std::move(left), std::move(items)); };
   const auto isConstant = [](const ExprPtr& item) { return isPlainConstant(*item); };
   const bool isList =
       !isRow && comparesByItself(left->type.oid) && std::all_of(items.begin(), items.end(), isConstant);
   if (items.size() == 1 || isList) return lastOf(std::move(eager), expand());
   return lastOf(std::move(eager), shareValues(state, scope.depth, isRow ? std::span<ExprPtr* const>(fields) : whole,
                                               expand, Sharing::Subqueries));
}

ExprPtr bindBetween(BindState& state, Scope& scope, const ::A_Expr& node) {
   const uint32_t position = state.at(node.location);
   const ListOf<> bounds(as<List>(node.rexpr));
   // As in PostgreSQL, each operand is bound and evaluated once per comparison of the expansion.
   const auto compare = [&](std::string_view name, const ::Node* bound) {
      auto left = bindExpr(state, scope, node.lexpr);
      auto right = bindExpr(state, scope, bound);
      return combine(state, scope, name, std::move(left), std::move(right), position);
   };
   const auto inside = [&](const ::Node* low, const ::Node* high) {
      std::vector<ExprPtr> parts;
      parts.push_back(compare(">=", low));
      parts.push_back(compare("<=", high));
      return makeAnd(std::move(parts));
   };
   const auto outside = [&](const ::Node* low, const ::Node* high) {
      std::vector<ExprPtr> parts;
      parts.push_back(compare("<", low));
      parts.push_back(compare(">", high));
      return makeOr(std::move(parts));
   };
   std::vector<ExprPtr> parts;
   switch (node.kind) {
   case AEXPR_BETWEEN: return inside(bounds[0], bounds[1]);
   case AEXPR_NOT_BETWEEN: return outside(bounds[0], bounds[1]);
   case AEXPR_BETWEEN_SYM:
      parts.push_back(inside(bounds[0], bounds[1]));
      parts.push_back(inside(bounds[1], bounds[0]));
      return makeOr(std::move(parts));
   default:
      parts.push_back(outside(bounds[0], bounds[1]));
      parts.push_back(outside(bounds[1], bounds[0]));
      return makeAnd(std::move(parts));
   }
}

} // namespace

ExprPtr makeAnyArray(BindState& state, std::string_view name, ExprPtr left, ExprPtr right, bool isAll,
                     uint32_t position) {
   const Oid rightType = right->type.oid;
   const Oid element = rightType == oid::unknown ? Oid{oid::unknown} : elementType(rightType);
   if (!element)
      throw SqlError(sqlstate::wrongObjectType, "op ANY/ALL (array) requires array on right side").at(position);
   const OperatorInfo* op = requireOperator(name, left->type.oid, element, position);
   std::vector<Oid> declared{op->left, op->right};
   const std::vector<Oid> actual{left->type.oid, element};
   const Oid result = enforceGenericConsistency(actual, declared, op->result);
   if (result != oid::boolean)
      throw SqlError(sqlstate::wrongObjectType, "op ANY/ALL (array) requires operator to yield boolean").at(position);
   if (caselessComparison(*op)) {
      left = lowered(coerce(state, std::move(left), oid::citext, -1, CoercionContext::Implicit));
      right = loweredElements(coerce(state, std::move(right), oid::citextArray, -1, CoercionContext::Implicit));
      return makeAnyArray(state, familyOperator(*op).name, std::move(left), std::move(right), isAll, position);
   }
   if (familyOperator(*op).oid >= firstUserOid && op->function >= firstUserOid) {
      if (right->kind != ExprKind::Array || elementType(element) || isVolatile(*left))
         throwNotSupported("op ANY/ALL (array) with operator " + std::string(name) + " of a user", position);
      std::vector<ExprPtr> parts;
      for (ExprPtr& item : right->args)
         parts.push_back(
             coerceToBoolean(state, makeOperator(state, name, clone(*left), std::move(item), position), "ANY"));
      if (parts.empty()) return makeBoolean(isAll);
      return isAll ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
   }
   Oid common = invalidOid;
   const auto compare = comparisonOf(*op, common);
   const bool isCommon = compare && !isPolymorphic(common);
   const Oid leftTarget = isCommon ? common : declared[0], elementTarget = isCommon ? common : declared[1];
   left = coerce(state, std::move(left), declared[0], -1, CoercionContext::Implicit);
   left = coerceToCompare(state, std::move(left), leftTarget);
   if (compare) left = withoutBlanks(std::move(left));
   const Oid arrayTarget = isPolymorphic(elementTarget) ? rightType : arrayType(elementTarget);
   if (!arrayTarget)
      throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(elementTarget))
          .at(position);
   // ARRAY[a, b] in the text becomes an IN list.
   if (right->kind == ExprKind::Array && compare && elementType(right->type.oid) &&
       (isAll ? *compare == CompareOp::Ne : *compare == CompareOp::Eq) && !right->args.empty() &&
       !elementType(right->args[0]->type.oid)) {
      auto list = makeTyped(ExprKind::InList, booleanType, position);
      list->as<scalar::InList>().negated = isAll;
      list->args.push_back(std::move(left));
      for (ExprPtr& item : right->args)
         list->args.push_back(withoutBlanks(coerceToCompare(state, std::move(item), common)));
      return list;
   }
   right = coerce(state, std::move(right), arrayTarget, -1, CoercionContext::Explicit);
   auto expr = makeTyped(ExprKind::AnyArray, booleanType, position);
   auto& any = expr->as<scalar::AnyArray>();
   any.isAll = isAll;
   if (compare) {
      any.op = *compare;
   } else {
      any.function = builtins().function(op->function);
   }
   expr->args.push_back(std::move(left));
   expr->args.push_back(std::move(right));
   return expr;
}

namespace {

ExprPtr bindAnyArray(BindState& state, Scope& scope, const ::A_Expr& node, bool isAll) {
   const uint32_t position = state.at(node.location);
   auto left = bindExpr(state, scope, node.lexpr);
   auto right = bindExpr(state, scope, node.rexpr);
   const std::string name = operatorName(state, node.name, position);
   recordOperator(state, node.name, node.location, left->type.oid, elementType(right->type.oid));
   if (auto any = anyOfElements(state, scope, name, left, right, isAll, position)) return any;
   std::vector<ExprPtr> eager;
   if (right->kind == ExprKind::Array) eager = eagerItems(*left, right->args);
   return lastOf(std::move(eager), makeAnyArray(state, name, std::move(left), std::move(right), isAll, position));
}

} // namespace

} // namespace ouzel::sql
