#include "sql/bind/query/target_list.hpp"

#include "catalog/object/function.hpp"
#include "catalog/object/function_text.hpp"
#include "common/thread/stack.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/type_rules.hpp"

// Select lists: expansion of stars, and the names of outputs.

namespace ouzel::sql {

namespace {

struct NameGuess {
   std::string name;
   int strength = 0; ///< 2: a real name, 1: a type's or CASE, 0: none
};

NameGuess guessName(const ::Node* node);

NameGuess guessSelectName(const ::SelectStmt* select) {
   checkStack();
   while (select->larg)
      select = select->larg;
   if (select->valuesLists) return {"column1", 2};
   const ListOf<ResTarget> targets(select->targetList);
   if (targets.empty()) return {};
   const auto* target = targets.front();
   if (target->name) return {target->name, 2};
   auto guess = guessName(target->val);
   if (guess.strength == 0) guess.name = "?column?";
   guess.strength = 2;
   return guess;
}

NameGuess guessFunctionName(const ::FuncCall& call) {
   return {std::string(stringOf(ListOf<>(call.funcname).back())), 2};
}

NameGuess guessSqlValueName(const ::SQLValueFunction& node) {
   switch (node.op) {
   case SVFOP_CURRENT_DATE: return {"current_date", 2};
   case SVFOP_CURRENT_TIME:
   case SVFOP_CURRENT_TIME_N: return {"current_time", 2};
   case SVFOP_CURRENT_TIMESTAMP:
   case SVFOP_CURRENT_TIMESTAMP_N: return {"current_timestamp", 2};
   case SVFOP_LOCALTIME:
   case SVFOP_LOCALTIME_N: return {"localtime", 2};
   case SVFOP_LOCALTIMESTAMP:
   case SVFOP_LOCALTIMESTAMP_N: return {"localtimestamp", 2};
   case SVFOP_CURRENT_ROLE: return {"current_role", 2};
   case SVFOP_CURRENT_USER: return {"current_user", 2};
   case SVFOP_USER: return {"user", 2};
   case SVFOP_SESSION_USER: return {"session_user", 2};
   case SVFOP_CURRENT_CATALOG: return {"current_catalog", 2};
   case SVFOP_CURRENT_SCHEMA: return {"current_schema", 2};
   }
   return {};
}

NameGuess guessXmlName(const ::XmlExpr& node) {
   switch (node.op) {
   case IS_XMLCONCAT: return {"xmlconcat", 2};
   case IS_XMLELEMENT: return {"xmlelement", 2};
   case IS_XMLFOREST: return {"xmlforest", 2};
   case IS_XMLPARSE: return {"xmlparse", 2};
   case IS_XMLPI: return {"xmlpi", 2};
   case IS_XMLROOT: return {"xmlroot", 2};
   default: return {};
   }
}

NameGuess lastField(const ::List* fields) {
   NameGuess guess;
   for (const ::Node* field : ListOf<>(fields))
      if (isNode(field, T_String)) guess = {std::string(stringOf(field)), 2};
   return guess;
}

NameGuess guessName(const ::Node* node) {
   checkStack();
   if (!node) return {};
   switch (node->type) {
   case T_ColumnRef: return lastField(as<ColumnRef>(node)->fields);
   case T_A_Indirection: {
      auto guess = lastField(as<A_Indirection>(node)->indirection);
      return guess.strength ? guess : guessName(as<A_Indirection>(node)->arg);
   }
   case T_FuncCall: return guessFunctionName(*as<FuncCall>(node));
   case T_A_Expr: return as<A_Expr>(node)->kind == AEXPR_NULLIF ? NameGuess{"nullif", 2} : NameGuess{};
   case T_TypeCast: {
      const auto* cast = as<TypeCast>(node);
      auto guess = guessName(cast->arg);
      if (guess.strength > 1 || !cast->typeName) return guess;
      return {std::string(stringOf(ListOf<>(cast->typeName->names).back())), 1};
   }
   case T_CollateClause: return guessName(as<CollateClause>(node)->arg);
   case T_GroupingFunc: return {"grouping", 2};
   case T_SubLink:
      switch (as<SubLink>(node)->subLinkType) {
      case EXISTS_SUBLINK: return {"exists", 2};
      case ARRAY_SUBLINK: return {"array", 2};
      case EXPR_SUBLINK: return guessSelectName(as<SelectStmt>(as<SubLink>(node)->subselect));
      default: return {};
      }
   case T_CaseExpr: {
      auto guess = guessName(reinterpret_cast<const ::Node*>(as<CaseExpr>(node)->defresult));
      return guess.strength > 1 ? guess : NameGuess{"case", 1};
   }
   case T_A_ArrayExpr: return {"array", 2};
   case T_RowExpr: return {"row", 2};
   case T_CoalesceExpr: return {"coalesce", 2};
   case T_MinMaxExpr: return {as<MinMaxExpr>(node)->op == IS_GREATEST ? "greatest" : "least", 2};
   case T_XmlExpr: return guessXmlName(*as<XmlExpr>(node));
   case T_XmlSerialize: return {"xmlserialize", 2};
   case T_SQLValueFunction: return guessSqlValueName(*as<SQLValueFunction>(node));
   default: return {};
   }
}

} // namespace

std::string outputName(const ::Node* expression, const catalog::Snapshot& catalog) {
   auto guess = guessName(expression);
   if (!guess.strength) return "?column?";
   const auto stored = catalog::functionOfStoredName(guess.name);
   const catalog::FunctionPtr function = stored ? catalog.function(*stored) : nullptr;
   return function ? function->name : guess.name;
}

std::vector<Target> bindTargetList(BindState& state, Scope& scope, const ::List* list, Clause clause) {
   const ClauseGuard guard(scope, clause);
   std::vector<Target> targets;
   for (const auto* item : ListOf<ResTarget>(list)) {
      if (isStarRef(item->val)) {
         expandStar(state, scope, *as<ColumnRef>(item->val), targets, nullptr);
         continue;
      }
      if (isRowStar(item->val)) {
         for (Target& target : expandRowStar(state, scope, *as<A_Indirection>(item->val)))
            targets.push_back(std::move(target));
         continue;
      }
      Target target;
      target.expr = bindExpr(state, scope, item->val);
      settleCollations(state, *target.expr);
      target.name = item->name ? item->name : outputName(item->val, state.context.catalog);
      // The column of a scalar subquery may come from a star, so its name is not in the text.
      const auto* subquery = target.expr->getIf<scalar::Subquery>();
      if (!item->name && isNode(item->val, T_SubLink) && as<SubLink>(item->val)->subLinkType == EXPR_SUBLINK &&
          target.name == "?column?" && subquery)
         target.name = state.columns[subquery->columns[0]].name;
      target.position = startOf(*target.expr);
      if (state.recorder && !item->name && isNode(item->val, T_ColumnRef) && state.recorder->isRenamed())
         state.recorder->keepOutputName(as<ColumnRef>(item->val)->location, target.name);
      targets.push_back(std::move(target));
   }
   if (targets.size() > 1664) throw SqlError(sqlstate::tooManyColumns, "target lists can have at most 1664 entries");
   return targets;
}

} // namespace ouzel::sql
