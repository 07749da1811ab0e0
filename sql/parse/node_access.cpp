#include "sql/parse/node_access.hpp"

#include "common/thread/stack.hpp"

namespace ouzel::sql {

namespace {

int32_t leftmost(int32_t a, int32_t b) {
   if (a < 0) return b;
   if (b < 0) return a;
   return std::min(a, b);
}

int32_t firstOf(const ::List* list) {
   checkStack();
   const ListOf<> nodes(list);
   return nodes.empty() ? -1 : startLocation(nodes.front());
}

} // namespace

std::string joinNames(ListOf<> names) {
   std::string text;
   for (const ::Node* name : names) {
      if (!text.empty()) text += '.';
      text += isNode(name, T_String) ? stringOf(name) : std::string_view("*");
   }
   return text;
}

int32_t startLocation(const ::Node* node) {
   checkStack();
   // Operators lean left and may be nested as deep as the text is long, so the left operands are followed in a loop.
   int32_t found = -1;
   while (node && (node->type == T_A_Expr || node->type == T_TypeCast || node->type == T_A_Indirection ||
                   node->type == T_CollateClause)) {
      switch (node->type) {
      case T_A_Expr:
         found = leftmost(found, as<A_Expr>(node)->location);
         node = as<A_Expr>(node)->lexpr;
         break;
      case T_TypeCast:
         found = leftmost(found, leftmost(as<TypeCast>(node)->location, as<TypeCast>(node)->typeName->location));
         node = as<TypeCast>(node)->arg;
         break;
      case T_A_Indirection: node = as<A_Indirection>(node)->arg; break;
      default: node = as<CollateClause>(node)->arg; break;
      }
   }
   if (!node) return found;
   switch (node->type) {
   case T_ColumnRef: return leftmost(found, as<ColumnRef>(node)->location);
   case T_ParamRef: return leftmost(found, as<ParamRef>(node)->location);
   case T_A_Const: return leftmost(found, as<A_Const>(node)->location);
   case T_FuncCall: return leftmost(found, leftmost(as<FuncCall>(node)->location, firstOf(as<FuncCall>(node)->args)));
   case T_BoolExpr: return leftmost(found, leftmost(as<BoolExpr>(node)->location, firstOf(as<BoolExpr>(node)->args)));
   case T_SubLink:
      return leftmost(found, leftmost(as<SubLink>(node)->location, startLocation(as<SubLink>(node)->testexpr)));
   case T_NullTest:
      return leftmost(found, leftmost(as<NullTest>(node)->location,
                                      startLocation(reinterpret_cast<const ::Node*>(as<NullTest>(node)->arg))));
   case T_BooleanTest:
      return leftmost(found, leftmost(as<BooleanTest>(node)->location,
                                      startLocation(reinterpret_cast<const ::Node*>(as<BooleanTest>(node)->arg))));
   case T_CaseExpr: return leftmost(found, as<CaseExpr>(node)->location);
   case T_RowExpr: return leftmost(found, as<RowExpr>(node)->location);
   case T_A_ArrayExpr: return leftmost(found, as<A_ArrayExpr>(node)->location);
   case T_CoalesceExpr: return leftmost(found, as<CoalesceExpr>(node)->location);
   case T_MinMaxExpr: return leftmost(found, as<MinMaxExpr>(node)->location);
   case T_XmlExpr: return leftmost(found, leftmost(as<XmlExpr>(node)->location, firstOf(as<XmlExpr>(node)->args)));
   case T_XmlSerialize: return leftmost(found, as<XmlSerialize>(node)->location);
   case T_SQLValueFunction: return leftmost(found, as<SQLValueFunction>(node)->location);
   case T_GroupingFunc: return leftmost(found, as<GroupingFunc>(node)->location);
   case T_SetToDefault: return leftmost(found, as<SetToDefault>(node)->location);
   default: return found;
   }
}

} // namespace ouzel::sql
