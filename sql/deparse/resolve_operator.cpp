#include <algorithm>

#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "sql/deparse/resolver.hpp"

// Operators, and what is written with them: IN, BETWEEN, LIKE, IS DISTINCT FROM, comparisons of rows.

namespace ouzel::sql::deparse {

namespace {

/// The operator as the text shows it: one of a user needs its schema unless it is visible.
std::string shownName(const BindContext& context, const catalog::OperatorInfo& info, const std::string& name) {
   const catalog::OperatorPtr own = info.oid >= firstUserOid ? context.catalog.op(info.oid) : nullptr;
   if (!own) return name;
   const catalog::SchemaPtr schema = context.catalog.schema(own->schema);
   if (!schema || catalog::isVisible(context.catalog, context.searchPath, *own)) return own->name;
   return "OPERATOR(" + catalog::quoteIdentifier(schema->name) + "." + own->name + ")";
}

} // namespace

std::string Resolver::operatorNamed(const ::List* list) {
   const ListOf<> parts(list);
   const std::string symbol(stringOf(parts.back()));
   const bool isStored = parts.size() > 1 && catalog::functionOfStoredName(stringOf(parts.front()));
   return isStored ? std::string(stringOf(parts.front())) + "." + symbol : symbol;
}

TermPtr Resolver::op(const std::string& name, TermPtr left, TermPtr right) {
   const auto* info = requireOperator(name, left ? left->type.oid : invalidOid, right->type.oid, 0);
   std::vector<TermPtr> args;
   std::vector<Oid> actual, declared;
   if (left) {
      actual.push_back(left->type.oid);
      declared.push_back(info->left);
      args.push_back(std::move(left));
   }
   actual.push_back(right->type.oid);
   declared.push_back(info->right);
   args.push_back(std::move(right));
   const Oid result = enforceGenericConsistency(actual, declared, info->result);
   for (size_t i = 0; i < args.size(); ++i)
      args[i] = castTo(std::move(args[i]), declared[i]);
   auto term = makeTerm(TermKind::Operator, plainType(result), std::move(args));
   term->name = shownName(context_, *info, name);
   return term;
}

TermPtr Resolver::rowComparison(const std::string& name, const Term& left, const Term& right) {
   std::vector<TermPtr> comparisons;
   for (size_t i = 0; i < left.args.size() && i < right.args.size(); ++i)
      comparisons.push_back(op(name, left.args[i], right.args[i]));
   if (comparisons.size() == 1) return comparisons[0];
   if (name == "=") return makeTerm(TermKind::And, booleanType, std::move(comparisons));
   if (name == "<>") return makeTerm(TermKind::Or, booleanType, std::move(comparisons));
   auto lefts = makeTerm(TermKind::Row, plainType(oid::record)), rights = makeTerm(TermKind::Row, lefts->type);
   for (const TermPtr& comparison : comparisons) {
      lefts->args.push_back(comparison->args[0]);
      rights->args.push_back(comparison->args[1]);
   }
   auto result = makeTerm(TermKind::RowCompare, booleanType, {lefts, rights});
   result->name = name;
   return result;
}

TermPtr Resolver::anyArray(const std::string& name, TermPtr left, TermPtr right, bool isAll) {
   Oid rightElement = oid::unknown;
   if (right->type.oid != oid::unknown) {
      rightElement = elementType(right->type.oid);
      if (!rightElement) giveUp();
   }
   const auto* info = requireOperator(name, left->type.oid, rightElement, 0);
   std::vector<Oid> actual{left->type.oid, rightElement}, declared{info->left, info->right};
   enforceGenericConsistency(actual, declared, info->result);
   left = castTo(std::move(left), declared[0]);
   if (!isPolymorphic(declared[1])) right = castTo(std::move(right), arrayType(declared[1]));
   auto result = makeTerm(TermKind::AnyArray, booleanType, {std::move(left), std::move(right)});
   result->name = shownName(context_, *info, name);
   result->isNegated = isAll;
   return result;
}

namespace {

/// Whether an expression reads a column of the query around it: such elements of an IN list are compared one by one.
bool readsColumn(const Term& term) {
   if (term.kind == TermKind::Column) return true;
   return std::any_of(term.args.begin(), term.args.end(), [](const TermPtr& arg) { return arg && readsColumn(*arg); });
}

} // namespace

TermPtr Resolver::inList(const ::A_Expr& node, Level& level) {
   const bool negated = stringOf(ListOf<>(node.name).front()) == "<>";
   const std::string name = negated ? "<>" : "=";
   const auto left = term(node.lexpr, level);
   std::vector<TermPtr> all, constants, others;
   for (const ::Node* item : ListOf<>(as<List>(node.rexpr))) {
      all.push_back(term(item, level));
      (readsColumn(*all.back()) ? others : constants).push_back(all.back());
   }
   TermPtr result;
   if (constants.size() > 1 && !isRowConstructor(*left)) {
      std::vector<Oid> types{left->type.oid};
      std::vector<TermPtr> typed{left};
      typed.insert(typed.end(), constants.begin(), constants.end());
      for (const TermPtr& item : constants)
         types.push_back(item->type.oid);
      const bool allSame = std::all_of(typed.begin(), typed.end(),
                                       [&](const TermPtr& item) { return item->type.oid == left->type.oid; });
      const Oid common = allSame && left->type.oid != oid::unknown ? left->type.oid : commonTypeOf(types);
      const Oid array = common && common != oid::record ? arrayType(common) : invalidOid;
      if (array) {
         for (TermPtr& item : constants)
            item = castTo(std::move(item), common);
         result = anyArray(name, left, makeTerm(TermKind::Array, plainType(array), std::move(constants)), negated);
         all = others;
      }
   }
   for (TermPtr& item : all) {
      auto comparison = isRowConstructor(*left) && isRowConstructor(*item) ? rowComparison(name, *left, *item)
                                                                           : op(name, left, std::move(item));
      result = result ? makeTerm(negated ? TermKind::And : TermKind::Or, booleanType, {result, comparison})
                      : std::move(comparison);
   }
   return result;
}

TermPtr Resolver::between(const ::A_Expr& node, Level& level) {
   const ListOf<> bounds(as<List>(node.rexpr));
   const bool negated = node.kind == AEXPR_NOT_BETWEEN || node.kind == AEXPR_NOT_BETWEEN_SYM;
   const bool symmetric = node.kind == AEXPR_BETWEEN_SYM || node.kind == AEXPR_NOT_BETWEEN_SYM;
   const auto one = [&](const ::Node* low, const ::Node* high) {
      // Each comparison is typed by itself.
      auto first = op(negated ? "<" : ">=", term(node.lexpr, level), term(low, level));
      auto second = op(negated ? ">" : "<=", term(node.lexpr, level), term(high, level));
      return makeTerm(negated ? TermKind::Or : TermKind::And, booleanType, {first, second});
   };
   auto result = one(bounds[0], bounds[1]);
   if (symmetric)
      result = makeTerm(negated ? TermKind::And : TermKind::Or, booleanType, {result, one(bounds[1], bounds[0])});
   return result;
}

TermPtr Resolver::aExpr(const ::A_Expr& node, Level& level) {
   const auto name = [&] { return operatorNamed(node.name); };
   switch (node.kind) {
   case AEXPR_IN: return inList(node, level);
   case AEXPR_BETWEEN:
   case AEXPR_NOT_BETWEEN:
   case AEXPR_BETWEEN_SYM:
   case AEXPR_NOT_BETWEEN_SYM: return between(node, level);
   case AEXPR_OP_ANY:
   case AEXPR_OP_ALL:
      return anyArray(name(), term(node.lexpr, level), term(node.rexpr, level), node.kind == AEXPR_OP_ALL);
   case AEXPR_NULLIF: {
      auto comparison = op("=", term(node.lexpr, level), term(node.rexpr, level));
      return makeTerm(TermKind::NullIf, comparison->args[0]->type, comparison->args);
   }
   case AEXPR_DISTINCT:
   case AEXPR_NOT_DISTINCT: {
      auto left = term(node.lexpr, level), right = term(node.rexpr, level);
      const bool negated = node.kind == AEXPR_NOT_DISTINCT;
      const auto isNull = [](const Term& side) {
         return side.kind == TermKind::Constant && side.isNull && side.type.oid == oid::unknown;
      };
      if (isNull(*left) || isNull(*right)) {
         auto test = makeTerm(TermKind::NullTest, booleanType, {isNull(*right) ? std::move(left) : std::move(right)});
         test->isNegated = !negated;
         return test;
      }
      const auto distinct = [&](TermPtr a, TermPtr b) {
         auto comparison = op("=", std::move(a), std::move(b));
         return makeTerm(TermKind::Distinct, booleanType, comparison->args);
      };
      TermPtr result;
      if (isRowConstructor(*left) && isRowConstructor(*right)) {
         for (size_t i = 0; i < left->args.size() && i < right->args.size(); ++i) {
            auto part = distinct(left->args[i], right->args[i]);
            result = result ? makeTerm(TermKind::Or, booleanType, {result, part}) : part;
         }
      } else {
         result = distinct(std::move(left), std::move(right));
      }
      return negated ? makeTerm(TermKind::Not, booleanType, {result}) : result;
   }
   default: break;
   }
   auto left = node.lexpr ? term(node.lexpr, level) : nullptr;
   if (left && isRowConstructor(*left) && isNode(node.rexpr, T_SubLink) &&
       as<SubLink>(node.rexpr)->subLinkType == EXPR_SUBLINK) {
      auto right = subLink(*as<SubLink>(node.rexpr), level);
      std::vector<TermPtr> tests;
      for (size_t i = 0; i < left->args.size() && i < right->query->targets.size(); ++i) {
         const SqlType type = right->query->targets[i].term->type;
         tests.push_back(op(name(), left->args[i], makeTerm(TermKind::Tested, type))->args[0]);
      }
      right->args = std::move(tests);
      right->link = Link::RowCompare;
      right->name = name();
      right->type = booleanType;
      return right;
   }
   auto right = term(node.rexpr, level);
   if (left && isRowConstructor(*left) && isRowConstructor(*right)) return rowComparison(name(), *left, *right);
   return op(name(), std::move(left), std::move(right));
}

} // namespace ouzel::sql::deparse
