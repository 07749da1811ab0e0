#include "sql/bind/expression/expression.hpp"

#include <charconv>
#include <limits>

#include "catalog/object/collation.hpp"
#include "common/thread/interruption.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/aggregate.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/conditional.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/expression/subquery.hpp"
#include "sql/bind/expression/xml.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/literal.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Expressions: dispatch over the kinds of nodes; constants, parameters, boolean operators, casts, COLLATE.

namespace ouzel::sql {

namespace {

ExprPtr bindNode(BindState& state, Scope& scope, const ::Node* node);
ExprPtr bindConstant(BindState& state, const ::A_Const& node);
/// More than a Bind message can give: such a statement is described, as in PostgreSQL.
constexpr int32_t parameterNumberMax = 1 << 20;

ExprPtr bindParameter(BindState& state, const ::ParamRef& node);
ExprPtr bindBool(BindState& state, Scope& scope, const ::BoolExpr& node);
ExprPtr bindTypeCast(BindState& state, Scope& scope, const ::TypeCast& node);
ExprPtr bindCollate(BindState& state, Scope& scope, const ::CollateClause& node);

} // namespace

ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node, Clause clause) {
   const ClauseGuard guard(scope, clause);
   auto expr = bindExpr(state, scope, node);
   settleCollations(state, *expr);
   return expr;
}

ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node) {
   const DepthGuard guard(state);
   checkInterrupted(); // a statement of megabytes takes seconds
   return bindNode(state, scope, node);
}

namespace {

ExprPtr bindNode(BindState& state, Scope& scope, const ::Node* node) {
   switch (node->type) {
   case T_ColumnRef: return bindColumnRef(state, scope, *as<ColumnRef>(node));
   case T_ParamRef: return bindParameter(state, *as<ParamRef>(node));
   case T_A_Const: return bindConstant(state, *as<A_Const>(node));
   case T_A_Indirection: return bindIndirection(state, scope, *as<A_Indirection>(node));
   case T_A_ArrayExpr: return bindArray(state, scope, *as<A_ArrayExpr>(node), invalidOid, invalidOid, -1);
   case T_TypeCast: return bindTypeCast(state, scope, *as<TypeCast>(node));
   case T_CollateClause: return bindCollate(state, scope, *as<CollateClause>(node));
   case T_A_Expr: return bindOperator(state, scope, *as<A_Expr>(node));
   case T_BoolExpr: return bindBool(state, scope, *as<BoolExpr>(node));
   case T_FuncCall: return bindFunctionCall(state, scope, *as<FuncCall>(node));
   case T_GroupingFunc: return bindGroupingCall(state, scope, *as<GroupingFunc>(node));
   case T_SubLink: return bindSubLink(state, scope, *as<SubLink>(node));
   case T_CaseExpr: return bindCase(state, scope, *as<CaseExpr>(node));
   case T_RowExpr: return bindRow(state, scope, *as<RowExpr>(node));
   case T_CoalesceExpr: return bindCoalesce(state, scope, *as<CoalesceExpr>(node));
   case T_MinMaxExpr: return bindMinMax(state, scope, *as<MinMaxExpr>(node));
   case T_SQLValueFunction: return bindSqlValue(state, scope, *as<SQLValueFunction>(node));
   case T_NullTest: return bindNullTest(state, scope, *as<NullTest>(node));
   case T_BooleanTest: return bindBooleanTest(state, scope, *as<BooleanTest>(node));
   case T_SetToDefault:
      throw SqlError(sqlstate::syntaxError, "DEFAULT is not allowed in this context")
          .at(state.at(as<SetToDefault>(node)->location));
   case T_NamedArgExpr: return bindExpr(state, scope, reinterpret_cast<const ::Node*>(as<NamedArgExpr>(node)->arg));
   case T_CurrentOfExpr: throwNotSupported("WHERE CURRENT OF");
   case T_XmlExpr: return bindXml(state, scope, *as<XmlExpr>(node));
   case T_XmlSerialize: return bindXmlSerialize(state, scope, *as<XmlSerialize>(node));
   case T_MultiAssignRef: throwNotSupported("assigning to several columns at once here");
   default: throwInternal("unknown expression node " + std::to_string(static_cast<int>(node->type)));
   }
}

ExprPtr bindConstant(BindState& state, const ::A_Const& node) {
   const uint32_t position = state.at(node.location);
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
            // -2147483648 arrives here, since its digits without the sign exceed int4. It is an int4 all the same, as
            // in PostgreSQL's make_const().
            const bool isInt4 = value == std::numeric_limits<int32_t>::min();
            expr = makeConstant({isInt4 ? oid::int4 : oid::int8, -1, invalidOid},
                                Value::integer(isInt4 ? PhysicalType::I32 : PhysicalType::I64, value));
         } else {
            auto literal = makeConstant(unknown, Value::string(std::string(digits)));
            literal->position = position;
            expr = parseLiteral(state, *literal, {oid::numeric, -1, invalidOid});
         }
         break;
      }
      case T_Boolean: expr = makeBoolean(node.val.boolval.boolval); break;
      case T_String:
         expr = makeConstant(unknown, Value::string(node.val.sval.sval));
         if (state.recorder) state.recorder->enterLiteral(node.location, position);
         break;
      case T_BitString: {
         auto literal = makeConstant(unknown, Value::string(node.val.bsval.bsval));
         literal->position = position;
         expr = parseLiteral(state, *literal, {oid::bit, -1, invalidOid});
         break;
      }
      default: throwInternal("unknown constant node");
      }
   }
   expr->position = position;
   return expr;
}

ExprPtr bindParameter(BindState& state, const ::ParamRef& node) {
   const uint32_t position = state.at(node.location);
   const auto* args = state.inlineArgs;
   if (args && node.number > 0 && static_cast<size_t>(node.number) <= args->size())
      return clone(*(*args)[static_cast<size_t>(node.number - 1)]);
   if (const VariableNames* variables = args ? nullptr : state.variables())
      if (auto variable = variables->positional(static_cast<uint32_t>(node.number))) return variable;
   if (args || !state.context.allowParameters || node.number <= 0 || node.number > parameterNumberMax)
      throw SqlError(sqlstate::undefinedParameter, "there is no parameter $" + std::to_string(node.number))
          .at(position);
   const auto index = static_cast<uint32_t>(node.number - 1);
   if (state.parameters.size() <= index) state.parameters.resize(index + 1, invalidOid);
   if (state.parameters[index] == invalidOid) state.parameters[index] = oid::unknown;
   auto expr = makeTyped(ExprKind::Parameter, plainType(state.parameters[index]), position);
   expr->as<scalar::Parameter>().number = index;
   const auto& declared = state.context.parameterTypes;
   if (index >= declared.size() || declared[index] == state.parameters[index]) return expr;
   const SqlType domain = typeOfOid(state.context.catalog, declared[index]);
   return domain.domain ? tryCoerce(state, expr, domain, CoercionContext::Assignment) : std::move(expr);
}

ExprPtr bindBool(BindState& state, Scope& scope, const ::BoolExpr& node) {
   const char* name = node.boolop == AND_EXPR ? "AND" : node.boolop == OR_EXPR ? "OR" : "NOT";
   std::vector<ExprPtr> args;
   for (const ::Node* arg : ListOf<>(node.args))
      args.push_back(coerceToBoolean(state, bindExpr(state, scope, arg), name));
   const uint32_t position = state.at(node.location);
   auto expr = makeTyped(node.boolop == AND_EXPR  ? ExprKind::And
                         : node.boolop == OR_EXPR ? ExprKind::Or
                                                  : ExprKind::Not,
                         {oid::boolean, -1, invalidOid}, position);
   expr->args = std::move(args);
   return expr;
}

/// Gives a user's type the name of its schema in a stored text, which others read with other search paths.
void recordType(BindState& state, const ::TypeName& name, const SqlType& type) {
   if (!state.recorder || name.typeOid || name.location < 0 || ListOf<>(name.names).size() != 1) return;
   const catalog::RelationPtr relation = state.context.catalog.relationOfType(type.named());
   if (!relation || relation->isBuiltin()) return;
   if (const auto schema = state.context.catalog.schema(relation->schema))
      state.recorder->replace(static_cast<uint32_t>(name.location), 0, catalog::quoteIdentifier(schema->name) + ".");
}

ExprPtr bindTypeCast(BindState& state, Scope& scope, const ::TypeCast& node) {
   const SqlType target = resolveValueType(*node.typeName, state.context);
   recordType(state, *node.typeName, target);
   ExprPtr arg;
   const Oid element = elementType(target.oid);
   if (isNode(node.arg, T_A_ArrayExpr) && (target.oid == oid::int2vector || target.oid == oid::oidvector)) {
      // A vector lies as an array of its elements does.
      const Oid array = target.oid == oid::int2vector ? oid::int2Array : oid::oidArray;
      auto vector = makeTyped(ExprKind::Relabel, target, state.at(node.location));
      vector->args.push_back(bindArray(state, scope, *as<A_ArrayExpr>(node.arg), array, elementType(array), -1));
      arg = std::move(vector);
   } else if (element && isNode(node.arg, T_A_ArrayExpr)) {
      arg = bindArray(state, scope, *as<A_ArrayExpr>(node.arg), target.oid, element, target.typmod);
   } else {
      arg = bindExpr(state, scope, node.arg);
   }
   const Oid source = arg->type.oid;
   if (target.oid == oid::record && source != oid::record && isRowType(source) && !isRowConstructor(*arg))
      return arg; // is a record already, and keeps its fields
   const uint32_t position = state.at(node.location >= 0 ? node.location : node.typeName->location);
   const Expr* before = arg.get();
   ExprPtr cast;
   try {
      cast = tryCoerce(state, arg, target, CoercionContext::Explicit);
   } catch (SqlError& error) { // of a ROW whose fields do not fit
      if (error.state() == sqlstate::cannotCoerce) error.setPosition(position);
      throw;
   }
   if (cast && cast.get() != before && cast->kind != ExprKind::Constant) cast->position = position;
   if (!cast)
      throw SqlError(sqlstate::cannotCoerce, "cannot cast type " + typeName(source) + " to " + typeName(target.oid))
          .at(position);
   return cast;
}

/// The text of a view names a collation of users with its schema.
void recordCollation(BindState& state, const ::CollateClause& node, Oid collation) {
   if (!state.recorder || !state.source || collation < firstUserOid || node.location < 0) return;
   if (ListOf<>(node.collname).size() != 1) return;
   constexpr std::string_view keyword = "collate";
   const std::string_view text = state.source->text();
   const size_t name = text.find_first_not_of(" \t\r\n", static_cast<size_t>(node.location) + keyword.size());
   const auto found = state.context.catalog.collation(collation);
   const auto schema = state.context.catalog.schema(found->schema);
   if (name != std::string_view::npos && schema)
      state.recorder->replace(static_cast<uint32_t>(name), 0, catalog::quoteIdentifier(schema->name) + ".");
}

ExprPtr bindCollate(BindState& state, Scope& scope, const ::CollateClause& node) {
   auto arg = unknownToText(state, bindExpr(state, scope, node.arg));
   const uint32_t position = state.at(node.location);
   const SqlType type = collated(arg->type, node.collname, state.context.catalog, state.path(), position);
   recordCollation(state, node, type.collation);
   auto expr = makeTyped(ExprKind::Relabel, type, position);
   expr->args.push_back(std::move(arg));
   expr->as<scalar::Relabel>().isCollate = true;
   state.noteCollation(expr->type.collation);
   return expr;
}

} // namespace

} // namespace ouzel::sql
