#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonpath.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "optimizer/rewrite/compare_results.hpp"
#include "optimizer/rewrite/constants.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "optimizer/rewrite/unwrap_cast.hpp"
#include "sql/algebra/blanks.hpp"

// Simplifies expressions without changing their values or errors. The executor's evaluator folds constants; an
// expression that raises an error stays and raises it at run time, if a row reaches it. NOT moves inwards. AND and OR
// are flattened and lose repeated operands; conjuncts that all disjuncts share are factored out.

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool isConstant(const ExprPtr& expr) {
   return expr->kind == ExprKind::Constant;
}

class Simplifier {
public:
   explicit Simplifier(Query& query) : query_(query) {}

   void simplify(ExprPtr& root) {
      rewriteExpr(root, [this](ExprPtr& expr) { step(expr); });
   }

   /// Simplifies a predicate for which NULL counts as false.
   void simplifyFilter(ExprPtr& predicate) {
      simplify(predicate);
      std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(predicate));
      for (ExprPtr& conjunct : conjuncts) {
         while (conjunct->kind == ExprKind::IsTrue) {
            ExprPtr inner = std::move(conjunct->args[0]);
            conjunct = std::move(inner);
         }
         if (isConstantFalseOrNull(*conjunct)) {
            predicate = makeBoolean(false);
            return;
         }
      }
      predicate = makeAnd(std::move(conjuncts));
   }

private:
   void step(ExprPtr& expr) {
      checkInterrupted(); // an expression may have a million parts
      switch (expr->kind) {
      case ExprKind::And:
      case ExprKind::Or: simplifyList(expr); return;
      case ExprKind::Not: simplifyNot(expr); return;
      case ExprKind::IsTrue:
      case ExprKind::IsNotTrue:
      case ExprKind::IsFalse:
      case ExprKind::IsNotFalse:
      case ExprKind::IsNull:
      case ExprKind::IsNotNull: fold(expr); return;
      case ExprKind::Case: simplifyCase(expr); return;
      case ExprKind::Coalesce: simplifyCoalesce(expr); return;
      case ExprKind::Compare: simplifyCompare(expr); return;
      case ExprKind::InList: simplifyIn(expr); return;
      case ExprKind::AnyArray: simplifyAnyArray(expr); return;
      case ExprKind::Call: simplifyCall(expr); return;
      case ExprKind::TextCast:
         if (isPureText(expr->type.oid) && isPureText(expr->args[0]->type.oid)) fold(expr);
         return;
      case ExprKind::TypmodCast: simplifyTypmod(expr); return;
      case ExprKind::Relabel: simplifyRelabel(expr); return;
      default: return;
      }
   }

   // ---- folding ----

   /// Replaces an expression over constants by its value, unless evaluation raises an error or the value is long.
   void fold(ExprPtr& expr) {
      if (!std::all_of(expr->args.begin(), expr->args.end(), isConstant)) return;
      try {
         ExprPtr constant = constantValue(*expr, query_);
         if (constant && mayReplace(*expr, *constant)) expr = std::move(constant);
      } catch (const SqlError&) { // raised again at run time, if a row reaches the expression
         checkInterrupted();      // but a cancelled statement ends here
      }
   }

   void simplifyCall(ExprPtr& expr) {
      const catalog::FunctionInfo* function = functionOf(*expr);
      if (!function || function->returnsSet || function->volatility == catalog::Volatility::Volatile) return;
      if (function->isStrict &&
          std::any_of(expr->args.begin(), expr->args.end(), [](const ExprPtr& arg) { return isNullConstant(*arg); })) {
         // The other arguments could raise an error; PostgreSQL folds as well.
         expr = makeNull(expr->type);
         return;
      }
      if (function->volatility == catalog::Volatility::Immutable) fold(expr);
      if (expr->kind == ExprKind::Call) simplifyLike(expr);
      if (expr->kind == ExprKind::Call && isWithoutBlanks(*expr) && keepsBlanks(expr->args[0]->type))
         expr = textOf(std::move(expr->args[0]));
   }

   /// A bpchar as text without its blanks. A value whose length is known need not get them first: in
   /// coalesce(c, d) = 'x', c and d stay as they are.
   static ExprPtr textOf(ExprPtr value) {
      checkStack();
      const SqlType text{oid::text, -1, value->type.collation};
      if (isWithBlanks(*value)) {
         auto relabelled = std::make_unique<Expr>(ExprKind::Relabel, text);
         relabelled->args.push_back(std::move(value->args[0]));
         return relabelled;
      }
      const bool isCase = value->kind == ExprKind::Case;
      if ((!isCase && value->kind != ExprKind::Coalesce) || !keepsBlanks(value->type))
         return withoutBlanks(std::move(value));
      for (size_t i = 0; i < value->args.size(); ++i)
         if (!isCase || i % 2 == 1 || i + 1 == value->args.size()) value->args[i] = textOf(std::move(value->args[i]));
      value->type = text;
      return value;
   }

   /// LIKE without wildcards becomes an equality.
   static void simplifyLike(ExprPtr& expr) {
      const std::string_view source = functionOf(*expr)->source;
      const bool isName = source == "namelike" || source == "namenlike";
      const bool negated = source == "textnlike" || source == "namenlike";
      if ((!negated && !isName && source != "textlike") || expr->args[0]->type.oid == oid::bpchar) return;
      const Value* pattern = knownValue(*expr->args[1]);
      if (!pattern || pattern->bytes.find_first_of("%_\\") != std::string::npos) return;
      if (isName) expr->args[1] = makeConstant(expr->args[0]->type, *pattern);
      expr = makeCompare(negated ? CompareOp::Ne : CompareOp::Eq, std::move(expr->args[0]), std::move(expr->args[1]));
   }

   void simplifyCompare(ExprPtr& expr) {
      const CompareOp op = expr->as<scalar::Compare>().op;
      const bool threeValued = !isNullSafe(op);
      if (threeValued && (isNullConstant(*expr->args[0]) || isNullConstant(*expr->args[1]))) {
         expr = makeNull(booleanType);
         return;
      }
      if (!threeValued && (isNullConstant(*expr->args[0]) || isNullConstant(*expr->args[1]))) {
         ExprPtr arg = std::move(expr->args[isNullConstant(*expr->args[0]) ? 1 : 0]);
         expr = makeTest(op == CompareOp::IsDistinctFrom ? ExprKind::IsNotNull : ExprKind::IsNull, std::move(arg));
         fold(expr);
         return;
      }
      fold(expr);
      if (expr->kind != ExprKind::Compare) return;
      if (isConstant(expr->args[0])) { // move the constant to the right side
         std::swap(expr->args[0], expr->args[1]);
         auto& compare = expr->as<scalar::Compare>();
         compare.op = commuted(compare.op);
      }
      unwrapCast(*expr);
      const std::vector<ExprPtr*> comparisons = compareResults(expr);
      if (comparisons.empty()) return;
      for (ExprPtr* comparison : comparisons)
         simplifyCompare(*comparison);
      simplifyCase(expr);
   }

   void simplifyIn(ExprPtr& expr) {
      if (isNullConstant(*expr->args[0]) && expr->args.size() > 1) {
         expr = makeNull(booleanType);
         return;
      }
      if (expr->args.size() == 2) {
         expr = makeCompare(expr->as<scalar::InList>().negated ? CompareOp::Ne : CompareOp::Eq,
                            std::move(expr->args[0]), std::move(expr->args[1]));
         simplifyCompare(expr);
         return;
      }
      fold(expr);
      if (expr->kind == ExprKind::InList) unwrapCast(*expr);
   }

   /// x = ANY ('{1,2}') and x <> ALL ('{1,2}') become IN lists.
   void simplifyAnyArray(ExprPtr& expr) {
      const Expr& array = *expr->args[1];
      const auto& any = expr->as<scalar::AnyArray>();
      if (any.function || any.op != (any.isAll ? CompareOp::Ne : CompareOp::Eq)) return;
      const bool isAll = any.isAll;
      std::vector<ExprPtr> elements;
      if (array.kind == ExprKind::Array) {
         for (const ExprPtr& element : array.args)
            elements.push_back(withoutBlanks(clone(*element)));
      } else if (const Value* known = knownValue(array)) {
         ArrayValue value = readArray(known->bytes);
         const SqlType elementType{value.elementType, -1, expr->args[0]->type.collation};
         for (Value& element : value.elements) {
            ExprPtr constant = makeConstant(elementType, std::move(element));
            constant->repr = ExprLowering::genericRepresentation(elementType);
            elements.push_back(withoutBlanks(std::move(constant)));
         }
      } else {
         return;
      }
      if (elements.empty()) { // ALL is true and ANY is false, even for NULL
         expr = makeBoolean(isAll);
         return;
      }
      if (elements[0]->type.oid != expr->args[0]->type.oid) return;
      auto list = std::make_unique<Expr>(ExprKind::InList, booleanType);
      list->as<scalar::InList>().negated = isAll;
      list->position = expr->position;
      list->args.push_back(std::move(expr->args[0]));
      for (ExprPtr& element : elements)
         list->args.push_back(std::move(element));
      expr = std::move(list);
      simplifyIn(expr);
   }

   void simplifyTypmod(ExprPtr& expr) {
      // A column of exactly this type needs no cast.
      if (expr->args[0]->type == expr->type && expr->type.typmod >= 0 && expr->args[0]->kind == ExprKind::Column) {
         ExprPtr arg = std::move(expr->args[0]);
         expr = std::move(arg);
         return;
      }
      fold(expr);
   }

   static void simplifyRelabel(ExprPtr& expr) {
      Expr& arg = *expr->args[0];
      if (arg.kind == ExprKind::Relabel) {
         ExprPtr inner = std::move(arg.args[0]);
         expr->args[0] = std::move(inner);
      }
      if (expr->args[0]->type == expr->type) {
         ExprPtr inner = std::move(expr->args[0]);
         expr = std::move(inner);
         return;
      }
      // A string constant gets the new type without a cast.
      const auto* text = expr->args[0]->getIf<scalar::Constant>();
      if (text && text->value.type == expr->repr.physical && expr->type.oid != oid::numeric) {
         ExprPtr constant = std::move(expr->args[0]);
         constant->type = expr->type;
         expr = std::move(constant);
      }
   }

   // ---- logic ----

   static void simplifyNot(ExprPtr& expr) {
      checkStack();
      Expr& arg = *expr->args[0];
      const auto become = [&expr](ExprKind kind) {
         ExprPtr inner = std::move(expr->args[0]);
         inner->become(kind);
         expr = std::move(inner);
      };
      switch (arg.kind) {
      case ExprKind::Constant:
         expr = isNullConstant(arg) ? makeNull(booleanType) : makeBoolean(isConstantFalseOrNull(arg));
         return;
      case ExprKind::Not: {
         ExprPtr inner = std::move(arg.args[0]);
         expr = std::move(inner);
         return;
      }
      case ExprKind::Compare: {
         auto& compare = arg.as<scalar::Compare>();
         compare.op = negated(compare.op);
         ExprPtr inner = std::move(expr->args[0]);
         expr = std::move(inner);
         return;
      }
      case ExprKind::InList: {
         auto& in = arg.as<scalar::InList>();
         in.negated = !in.negated;
         ExprPtr inner = std::move(expr->args[0]);
         expr = std::move(inner);
         return;
      }
      case ExprKind::IsNull: become(ExprKind::IsNotNull); return;
      case ExprKind::IsNotNull: become(ExprKind::IsNull); return;
      case ExprKind::IsTrue: become(ExprKind::IsNotTrue); return;
      case ExprKind::IsNotTrue: become(ExprKind::IsTrue); return;
      case ExprKind::IsFalse: become(ExprKind::IsNotFalse); return;
      case ExprKind::IsNotFalse: become(ExprKind::IsFalse); return;
      case ExprKind::And:
      case ExprKind::Or: {
         std::vector<ExprPtr> parts;
         for (ExprPtr& part : arg.args) {
            parts.push_back(makeNot(std::move(part)));
            simplifyNot(parts.back());
         }
         expr = arg.kind == ExprKind::And ? makeOr(std::move(parts)) : makeAnd(std::move(parts));
         return;
      }
      default: return;
      }
   }

   void simplifyList(ExprPtr& expr) {
      const bool isAnd = expr->kind == ExprKind::And;
      std::vector<ExprPtr> parts;
      bool hasNull = false;
      constexpr size_t repeatsSoughtMax = 200; // the search for repeated operands takes quadratic time
      const std::function<bool(ExprPtr)> add = [&](ExprPtr part) -> bool {
         if (part->kind == expr->kind) {
            for (ExprPtr& arg : part->args)
               if (!add(std::move(arg))) return false;
            return true;
         }
         if (isNullConstant(*part)) {
            hasNull = true;
            return true;
         }
         if (isConstant(part)) return isConstantTrue(*part) == isAnd; // true: neutral; false: decides the result
         const bool repeated =
             !isVolatile(*part) && parts.size() < repeatsSoughtMax &&
             std::any_of(parts.begin(), parts.end(), [&part](const ExprPtr& other) { return equal(*other, *part); });
         if (!repeated) parts.push_back(std::move(part));
         return true;
      };
      for (ExprPtr& arg : expr->args)
         if (!add(std::move(arg))) {
            // As in PostgreSQL, a deciding constant replaces the whole, even if other operands could raise errors.
            expr = makeBoolean(!isAnd);
            return;
         }
      if (hasNull) parts.push_back(makeNull(booleanType));
      if (!isAnd && parts.size() > 1) {
         factorOut(expr, parts);
         return;
      }
      expr = isAnd ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
   }

   /// (a AND x) OR (a AND y) becomes a AND (x OR y).
   void factorOut(ExprPtr& expr, std::vector<ExprPtr>& disjuncts) {
      std::vector<std::vector<ExprPtr>> all;
      for (ExprPtr& disjunct : disjuncts) {
         all.emplace_back();
         splitConjuncts(std::move(disjunct), all.back());
      }
      std::vector<ExprPtr> shared;
      for (size_t i = 0; i < all[0].size();) {
         const Expr& candidate = *all[0][i];
         const auto isIn = [&candidate](const std::vector<ExprPtr>& list) {
            return std::any_of(list.begin(), list.end(), [&](const ExprPtr& e) { return equal(*e, candidate); });
         };
         if (isVolatile(candidate) || !std::all_of(all.begin(), all.end(), isIn)) {
            ++i;
            continue;
         }
         ExprPtr common = std::move(all[0][i]);
         all[0].erase(all[0].begin() + static_cast<std::ptrdiff_t>(i));
         for (size_t k = 1; k < all.size(); ++k)
            std::erase_if(all[k], [&common](const ExprPtr& e) { return equal(*e, *common); });
         shared.push_back(std::move(common));
      }
      std::vector<ExprPtr> rest;
      bool always = false; // a disjunct consists of the shared conjuncts only
      for (std::vector<ExprPtr>& conjuncts : all) {
         always = always || conjuncts.empty();
         rest.push_back(makeAnd(std::move(conjuncts)));
      }
      if (!always) {
         mergeEqualities(rest);
         shared.push_back(makeOr(std::move(rest)));
      }
      expr = makeAnd(std::move(shared));
   }

   /// a = 1 OR a = 2 becomes a IN (1, 2).
   static void mergeEqualities(std::vector<ExprPtr>& disjuncts) {
      const auto comparesWithConstants = [](const Expr& e) {
         const auto* in = e.getIf<scalar::InList>();
         return (compareOf(e) == CompareOp::Eq || (in && !in->negated)) && e.args[0]->kind == ExprKind::Column &&
                std::all_of(e.args.begin() + 1, e.args.end(), isConstant);
      };
      for (size_t i = 0; i < disjuncts.size(); ++i) {
         if (!comparesWithConstants(*disjuncts[i])) continue;
         for (size_t k = i + 1; k < disjuncts.size();) {
            if (!comparesWithConstants(*disjuncts[k]) ||
                columnOf(*disjuncts[k]->args[0]) != columnOf(*disjuncts[i]->args[0])) {
               ++k;
               continue;
            }
            Expr& into = *disjuncts[i];
            into.become(ExprKind::InList);
            for (size_t a = 1; a < disjuncts[k]->args.size(); ++a)
               into.args.push_back(std::move(disjuncts[k]->args[a]));
            disjuncts.erase(disjuncts.begin() + static_cast<std::ptrdiff_t>(k));
         }
      }
   }

   // ---- conditionals ----

   static void simplifyCase(ExprPtr& expr) {
      std::vector<ExprPtr> kept;
      const bool hasElse = expr->args.size() % 2 == 1;
      const size_t whens = expr->args.size() / 2;
      bool decided = false;
      for (size_t i = 0; i < whens && !decided; ++i) {
         if (isConstantFalseOrNull(*expr->args[2 * i])) continue;
         if (isConstantTrue(*expr->args[2 * i])) {
            kept.push_back(std::move(expr->args[2 * i + 1])); // becomes the ELSE of the branches before
            decided = true;
            continue;
         }
         kept.push_back(std::move(expr->args[2 * i]));
         kept.push_back(std::move(expr->args[2 * i + 1]));
      }
      if (!decided && hasElse) kept.push_back(std::move(expr->args.back()));
      if (kept.empty()) {
         expr = makeNull(expr->type);
      } else if (kept.size() == 1) {
         ExprPtr only = std::move(kept[0]);
         expr = std::move(only);
      } else {
         expr->args = std::move(kept);
         asTest(expr);
      }
   }

   /// CASE WHEN a THEN true ELSE false END is a IS TRUE; with the results exchanged it is a IS NOT TRUE.
   static void asTest(ExprPtr& expr) {
      if (expr->args.size() != 3 || expr->type.oid != oid::boolean) return;
      const Expr &first = *expr->args[1], &second = *expr->args[2];
      const auto isFalse = [](const Expr& e) { return isConstantFalseOrNull(e) && !isNullConstant(e); };
      const bool isTest = isConstantTrue(first) && isFalse(second);
      if (!isTest && !(isFalse(first) && isConstantTrue(second))) return;
      ExprPtr condition = std::move(expr->args[0]);
      expr = makeTest(isTest ? ExprKind::IsTrue : ExprKind::IsNotTrue, std::move(condition));
   }

   static void simplifyCoalesce(ExprPtr& expr) {
      std::vector<ExprPtr> kept;
      for (ExprPtr& arg : expr->args) {
         if (isNullConstant(*arg)) continue;
         kept.push_back(std::move(arg));
         if (isConstant(kept.back())) break;
      }
      if (kept.empty())
         expr = makeNull(expr->type);
      else if (kept.size() == 1)
         expr = std::move(kept[0]);
      else
         expr->args = std::move(kept);
   }

   Query& query_;
};

void simplifyRel(RelPtr& rel, Query& query) {
   forEachChild(*rel, [&](RelPtr& child) { simplifyRel(child, query); });
   Simplifier simplifier(query);
   // For predicates of these operators NULL counts as false. A Mark join distinguishes NULL and false.
   const auto* join = rel->getIf<op::Join>();
   const bool isFilter = !join || join->kind != JoinKind::Mark;
   ExprPtr* predicate = predicateOf(*rel);
   forEachOwnExpr(*rel, [&](ExprPtr& expr) {
      if (isFilter && &expr == predicate)
         simplifier.simplifyFilter(expr);
      else
         simplifier.simplify(expr);
      rewriteExpr(expr, [&query](ExprPtr& e) {
         if (auto* subquery = e->getIf<scalar::Subquery>()) simplifyRel(subquery->query, query);
      });
   });
   if (auto* group = rel->getIf<op::GroupBy>())
      for (AggregateCall& call : group->aggregates)
         if (call.filter && isConstantTrue(*call.filter)) call.filter.reset();
   if (predicate && *predicate && isConstantTrue(**predicate)) {
      if (rel->kind == RelKind::Select) {
         RelPtr input = std::move(rel->inputs[0]);
         rel = std::move(input);
      } else {
         predicate->reset();
      }
   }
}

} // namespace

void simplifyExpr(ExprPtr& expr, Query& query) {
   Simplifier(query).simplify(expr);
}

void simplify(RelPtr& root, Query& query) {
   simplifyRel(root, query);
}

} // namespace ouzel::optimizer
