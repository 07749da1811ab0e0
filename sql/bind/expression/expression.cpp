#include <charconv>
#include <limits>

#include "sql/bind/query_binder.hpp"

// Expressions: the dispatch over node kinds, constants, parameters, boolean operators and casts.

namespace ouzel::sql {

ExprPtr QueryBinder::bindExpr(Scope& scope, const ::Node* node, Clause clause) {
   const ClauseGuard guard(scope, clause);
   return bindExpr(scope, node);
}

ExprPtr QueryBinder::bindExpr(Scope& scope, const ::Node* node) {
   const DepthGuard guard(*this);
   return bindNode(scope, node);
}

ExprPtr QueryBinder::bindNode(Scope& scope, const ::Node* node) {
   switch (node->type) {
   case T_ColumnRef:
      return bindColumnRef(scope, *as<ColumnRef>(node));
   case T_ParamRef:
      return bindParameter(*as<ParamRef>(node));
   case T_A_Const:
      return bindConstant(*as<A_Const>(node));
   case T_A_Indirection:
      return bindIndirection(scope, *as<A_Indirection>(node));
   case T_A_ArrayExpr:
      return bindArray(scope, *as<A_ArrayExpr>(node), invalidOid, invalidOid, -1);
   case T_TypeCast:
      return bindTypeCast(scope, *as<TypeCast>(node));
   case T_CollateClause:
      return bindCollate(scope, *as<CollateClause>(node));
   case T_A_Expr:
      return bindOperator(scope, *as<A_Expr>(node));
   case T_BoolExpr:
      return bindBool(scope, *as<BoolExpr>(node));
   case T_FuncCall:
      return bindFunctionCall(scope, *as<FuncCall>(node));
   case T_GroupingFunc:
      return bindGroupingCall(scope, *as<GroupingFunc>(node));
   case T_SubLink:
      return bindSubLink(scope, *as<SubLink>(node));
   case T_CaseExpr:
      return bindCase(scope, *as<CaseExpr>(node));
   case T_RowExpr:
      return bindRow(scope, *as<RowExpr>(node));
   case T_CoalesceExpr:
      return bindCoalesce(scope, *as<CoalesceExpr>(node));
   case T_MinMaxExpr:
      return bindMinMax(scope, *as<MinMaxExpr>(node));
   case T_SQLValueFunction:
      return bindSqlValue(scope, *as<SQLValueFunction>(node));
   case T_NullTest:
      return bindNullTest(scope, *as<NullTest>(node));
   case T_BooleanTest:
      return bindBooleanTest(scope, *as<BooleanTest>(node));
   case T_SetToDefault:
      throw SqlError(sqlstate::syntaxError, "DEFAULT is not allowed in this context")
          .at(at(as<SetToDefault>(node)->location));
   case T_NamedArgExpr:
      return bindExpr(scope, reinterpret_cast<const ::Node*>(as<NamedArgExpr>(node)->arg));
   case T_CurrentOfExpr:
      throwNotSupported("WHERE CURRENT OF");
   case T_XmlExpr:
   case T_XmlSerialize:
      throwNotSupported("XML");
   case T_MultiAssignRef:
      throwNotSupported("assigning to several columns at once here");
   default:
      throwInternal("unknown expression node " + std::to_string(static_cast<int>(node->type)));
   }
}

ExprPtr QueryBinder::bindConstant(const ::A_Const& node) {
   const uint32_t position = at(node.location);
   const SqlType unknown{oid::unknown, -1, invalidOid};
   ExprPtr expr;
   if (node.isnull) {
      expr = makeConstant(unknown, Value::null(PhysicalType::String));
   } else {
      switch (node.val.node.type) {
      case T_Integer:
         expr = makeConstant({oid::int4, -1, invalidOid}, Value::integer(PhysicalType::I32, node.val.ival.ival));
         break;
      case T_Float: { // also integers that are too large for int4
         const std::string_view digits = node.val.fval.fval;
         int64_t value = 0;
         const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
         if (error == std::errc() && end == digits.data() + digits.size()) {
            // The least int4 comes as a number that is negated, as PostgreSQL's make_const() notes.
            const bool isInt4 = value == std::numeric_limits<int32_t>::min();
            expr = makeConstant({isInt4 ? oid::int4 : oid::int8, -1, invalidOid},
                                Value::integer(isInt4 ? PhysicalType::I32 : PhysicalType::I64, value));
         } else {
            auto literal = makeConstant(unknown, Value::string(std::string(digits)));
            literal->position = position;
            expr = parseLiteral(*literal, {oid::numeric, -1, invalidOid});
         }
         break;
      }
      case T_Boolean:
         expr = makeBoolean(node.val.boolval.boolval);
         break;
      case T_String:
         expr = makeConstant(unknown, Value::string(node.val.sval.sval));
         break;
      case T_BitString:
         throwNotSupported("type bit", position);
      default:
         throwInternal("unknown constant node");
      }
   }
   expr->position = position;
   return expr;
}

ExprPtr QueryBinder::bindParameter(const ::ParamRef& node) {
   const uint32_t position = at(node.location);
   if (inlineArgs_) return clone(*inlineArgs_->at(static_cast<size_t>(node.number - 1)));
   if (!context_.allowParameters || node.number <= 0 || node.number > 65535)
      throw SqlError(sqlstate::undefinedParameter, "there is no parameter $" + std::to_string(node.number))
          .at(position);
   const auto index = static_cast<uint32_t>(node.number - 1);
   if (parameters_.size() <= index) parameters_.resize(index + 1, invalidOid);
   if (parameters_[index] == invalidOid) parameters_[index] = oid::unknown;
   auto expr = makeTyped(ExprKind::Parameter, plainType(parameters_[index]), position);
   expr->parameter = index;
   return expr;
}

ExprPtr QueryBinder::bindBool(Scope& scope, const ::BoolExpr& node) {
   const char* name = node.boolop == AND_EXPR ? "AND" : node.boolop == OR_EXPR ? "OR" : "NOT";
   std::vector<ExprPtr> args;
   for (const ::Node* arg : ListOf<>(node.args))
      args.push_back(coerceToBoolean(bindExpr(scope, arg), name));
   const uint32_t position = at(node.location);
   auto expr = makeTyped(node.boolop == AND_EXPR  ? ExprKind::And
                         : node.boolop == OR_EXPR ? ExprKind::Or
                                                  : ExprKind::Not,
                         {oid::boolean, -1, invalidOid}, position);
   expr->args = std::move(args);
   return expr;
}

ExprPtr QueryBinder::bindTypeCast(Scope& scope, const ::TypeCast& node) {
   const SqlType target = resolveTypeName(*node.typeName, context_);
   ExprPtr arg;
   const Oid element = elementType(target.oid);
   if (element && isNode(node.arg, T_A_ArrayExpr)) {
      arg = bindArray(scope, *as<A_ArrayExpr>(node.arg), target.oid, element, target.typmod);
   } else {
      arg = bindExpr(scope, node.arg);
   }
   const Oid source = arg->type.oid;
   const uint32_t position = at(node.location >= 0 ? node.location : node.typeName->location);
   const Expr* before = arg.get();
   auto cast = tryCoerce(arg, target, CoercionContext::Explicit);
   if (cast && cast.get() != before && cast->kind != ExprKind::Constant) cast->position = position;
   if (!cast)
      throw SqlError(sqlstate::cannotCoerce, "cannot cast type " + typeName(source) + " to " + typeName(target.oid))
          .at(position);
   return cast;
}

ExprPtr QueryBinder::bindCollate(Scope& scope, const ::CollateClause& node) {
   auto arg = unknownToText(bindExpr(scope, node.arg));
   const uint32_t position = at(node.location);
   if (!arg->type.collation)
      throw SqlError(sqlstate::datatypeMismatch, "collations are not supported by type " + typeName(arg->type.oid))
          .at(position);
   const ListOf<> names(node.collname);
   const std::string name(stringOf(names.back()));
   const auto* collation = catalog::builtins().findCollation(name);
   if (!collation)
      throw SqlError(sqlstate::undefinedObject, "collation \"" + name + "\" for encoding \"UTF8\" does not exist")
          .at(position);
   // 950 "C", 951 "POSIX": the order of bytes, which is the only one there is.
   if (collation->oid != defaultCollation && collation->oid != 950 && collation->oid != 951 && name != "ucs_basic")
      throwNotSupported("collation \"" + name + "\"", position);
   SqlType type = arg->type;
   type.collation = collation->oid;
   auto expr = makeTyped(ExprKind::Relabel, type, position);
   expr->args.push_back(std::move(arg));
   return expr;
}

} // namespace ouzel::sql
