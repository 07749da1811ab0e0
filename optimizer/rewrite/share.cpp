#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/rewrite/rules.hpp"

// A subexpression that one operator evaluates several times is computed once, in a Map below the operator: for example
// l_extendedprice * (1 - l_discount) of TPC-H Q1. A subexpression that can raise an error is shared only if the
// operator evaluates it for every row.

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool isWorthSharing(const Expr& expr) {
   switch (expr.kind) {
   case ExprKind::Call: return functionOf(expr) && !functionOf(expr)->returnsSet;
   case ExprKind::Case:
   case ExprKind::Coalesce:
   case ExprKind::TextCast:
   case ExprKind::TypmodCast:
   case ExprKind::InList:
   case ExprKind::AnyArray: return true;
   default: return false;
   }
}

struct Occurrences {
   const Expr* expr;
   uint32_t count = 0;
   bool unconditional = false; ///< at least one occurrence is evaluated for every row
   uint32_t size = 0;          ///< number of nodes
};

class Sharer {
public:
   explicit Sharer(Query& query) : query_(query) {}

   void visit(RelPtr& rel) {
      switch (rel->kind) {
      case RelKind::GroupBy:
      case RelKind::Map:
      case RelKind::Window: share(*rel); break;
      default: break;
      }
      forEachChild(*rel, [&](RelPtr& child) { visit(child); });
   }

private:
   void share(Rel& rel) {
      for (int round = 0; round < 16; ++round) { // each round shares the largest repeated expression
         found_.clear();
         collectRel(rel);
         const Occurrences* best = nullptr;
         for (const auto& [hash, list] : found_)
            for (const Occurrences& one : list) {
               const bool safe = one.unconditional || !mayFail(*one.expr);
               if (one.count < 2 || !safe || isVolatile(*one.expr)) continue;
               if (!best || one.size > best->size) best = &one;
            }
         if (!best) return;
         replace(rel, *best->expr);
      }
   }

   void collectRel(Rel& rel) {
      if (const auto* group = rel.getIf<op::GroupBy>()) {
         for (const ComputedColumn& key : group->keys)
            collect(*key.expr, true);
         for (const AggregateCall& call : group->aggregates) {
            if (call.filter) collect(*call.filter, true);
            for (const ExprPtr& arg : call.args)
               collect(*arg, !call.filter);
            for (const SortKey& key : call.orderBy)
               collect(*key.expr, !call.filter);
         }
         return;
      }
      forEachOwnExpr(static_cast<const Rel&>(rel), [this](const Expr& expr) { collect(expr, true); });
   }

   uint32_t collect(const Expr& expr, bool unconditional) {
      checkStack();
      uint32_t size = 1;
      for (size_t i = 0; i < expr.args.size(); ++i) {
         const bool lazy = expr.kind == ExprKind::Case || expr.kind == ExprKind::Coalesce ||
                           expr.kind == ExprKind::And || expr.kind == ExprKind::Or;
         size += collect(*expr.args[i], unconditional && (!lazy || i == 0));
      }
      std::vector<ColumnId> used;
      if (isWorthSharing(expr)) collectColumns(expr, used);
      if (used.empty()) return size;
      std::vector<Occurrences>& list = found_[structuralHash(expr)];
      for (Occurrences& one : list)
         if (equal(*one.expr, expr)) {
            ++one.count;
            one.unconditional = one.unconditional || unconditional;
            return size;
         }
      list.push_back({&expr, 1, unconditional, size});
      return size;
   }

   void replace(Rel& rel, const Expr& shared) {
      ExprPtr expr = clone(shared);
      const ColumnId column = query_.newColumn("", expr->type);
      const std::function<void(ExprPtr&)> substitute = [&](ExprPtr& at) {
         if (equal(*at, *expr)) {
            at = makeColumn(column, expr->type);
            return;
         }
         for (ExprPtr& arg : at->args)
            substitute(arg);
      };
      forEachOwnExpr(rel, substitute);
      std::vector<ComputedColumn> computed;
      computed.push_back({column, std::move(expr)});
      auto* below =
          rel.inputs[0]
              ->getIf<op::Map>(); // the Map of earlier rounds is used again, unless the expression reads its columns
      std::vector<ColumnId> used;
      collectColumns(*computed[0].expr, used);
      const auto isRead = [&used](const ComputedColumn& c) {
         return std::find(used.begin(), used.end(), c.column) != used.end();
      };
      if (rel.inputs[0]->kind == RelKind::Map && std::none_of(below->computed.begin(), below->computed.end(), isRead))
         below->computed.push_back(std::move(computed[0]));
      else
         rel.inputs[0] = makeMap(std::move(rel.inputs[0]), std::move(computed));
   }

   Query& query_;
   std::unordered_map<uint64_t, std::vector<Occurrences>> found_;
};

} // namespace

void shareSubexpressions(RelPtr& root, Query& query) {
   Sharer(query).visit(root);
}

} // namespace ouzel::optimizer
