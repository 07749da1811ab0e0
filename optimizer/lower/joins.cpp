#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/ordered_types.hpp"
#include "common/error/sql_error.hpp"
#include "optimizer/lower/lowering.hpp"
#include "optimizer/query/not_null.hpp"
#include "optimizer/query/order_key.hpp"

// Lowers joins: decides which conjuncts become hash keys or residual predicates, and which side is the build side.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// The conjuncts of a join predicate, sorted into hash keys and residual predicates.
struct SortedConjuncts {
   std::vector<plan::JoinKey> keys; ///< probe: left, build: right
   std::vector<ExprPtr> residual;
   bool nullAware = false;
};

class ConjunctSorter {
public:
   ConjunctSorter(const Rel& join, const Query& query)
      : kind_(join.as<op::Join>().kind), left_(outputColumns(*join.inputs[0])), right_(outputColumns(*join.inputs[1])),
        notNull_(notNullColumns(*join.inputs[0], query)) {
      notNull_.add(notNullColumns(*join.inputs[1], query));
   }

   SortedConjuncts sort(ExprPtr predicate) {
      std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(predicate));
      SortedConjuncts sorted;
      const bool alone = conjuncts.size() == 1;
      for (ExprPtr& conjunct : conjuncts)
         place(std::move(conjunct), alone, sorted);
      return sorted;
   }

private:
   void place(ExprPtr conjunct, bool alone, SortedConjuncts& sorted) {
      // IS TRUE of an equality means that NULL is no match, as with hash keys. Only Mark joins distinguish NULL from
      // false.
      const bool isMark = kind_ == JoinKind::Mark;
      if (conjunct->kind == ExprKind::IsTrue && (!isMark || isEquality(*conjunct->args[0]))) {
         ExprPtr inner = std::move(conjunct->args[0]);
         if (addKey(inner, sorted)) return;
         sorted.residual.push_back(isMark ? makeTest(ExprKind::IsTrue, std::move(inner)) : std::move(inner));
         return;
      }
      // NOT IN: a comparison with NULL counts as a match.
      if (kind_ == JoinKind::Anti && conjunct->kind == ExprKind::IsNotFalse && isEquality(*conjunct->args[0])) {
         const bool never = isNeverNull(*conjunct->args[0], notNull_);
         if ((never || alone) && addKey(conjunct->args[0], sorted)) {
            sorted.nullAware = !never;
            return;
         }
      } else if (isMark && isEquality(*conjunct)) {
         const bool never = isNeverNull(*conjunct, notNull_) || compareOf(*conjunct) == CompareOp::IsNotDistinctFrom;
         if ((never || alone) && addKey(conjunct, sorted)) {
            sorted.nullAware = !never;
            return;
         }
      } else if (!isMark && isEquality(*conjunct) && addKey(conjunct, sorted)) {
         return;
      }
      sorted.residual.push_back(std::move(conjunct));
   }

   bool addKey(ExprPtr& equality, SortedConjuncts& sorted) const {
      if (!isEquality(*equality)) return false;
      const int first = sideOf(*equality->args[0]), second = sideOf(*equality->args[1]);
      if (first == 0 || second == 0 || first == second || isVolatile(*equality)) return false;
      plan::JoinKey key;
      key.probe = std::move(equality->args[first == 1 ? 0 : 1]);
      key.build = std::move(equality->args[first == 1 ? 1 : 0]);
      key.nullsEqual = compareOf(*equality) == CompareOp::IsNotDistinctFrom;
      if (catalog::hasOrderKey(key.probe->type.oid)) { // the bytes of equal values may differ
         key.probe = makeOrderKey(std::move(key.probe), {});
         key.build = makeOrderKey(std::move(key.build), {});
      }
      sorted.keys.push_back(std::move(key));
      return true;
   }

   /// 1: reads only left columns, 2: only right columns, 0: columns of both sides or no columns.
   int sideOf(const Expr& expr) const {
      std::vector<ColumnId> used;
      collectColumns(expr, used);
      if (used.empty()) return 0;
      if (left_.containsAll(used)) return 1;
      return right_.containsAll(used) ? 2 : 0;
   }

   JoinKind kind_;
   ColumnSet left_, right_, notNull_;
};

/// The join kind with the same result after the probe and build sides are exchanged.
std::optional<JoinKind> mirrored(JoinKind kind) {
   switch (kind) {
   case JoinKind::Inner:
   case JoinKind::Full: return kind;
   case JoinKind::Left: return JoinKind::Right;
   case JoinKind::Right: return JoinKind::Left;
   case JoinKind::Semi: return JoinKind::RightSemi;
   case JoinKind::Anti: return JoinKind::RightAnti;
   default: return std::nullopt;
   }
}

} // namespace

Lowered Lowering::lowerJoin(Rel& rel, const ColumnSet& need) {
   auto& join = rel.as<op::Join>();
   if (join.dependent) throwInternal("dependent join in lowering");
   const double rows = estimator_.rows(rel);
   ColumnSet below = need;
   if (join.predicate) addColumns(*join.predicate, below);
   double leftRows = estimator_.rows(*rel.inputs[0]), rightRows = estimator_.rows(*rel.inputs[1]);
   SortedConjuncts sorted = ConjunctSorter(rel, query_).sort(std::move(join.predicate));
   const bool isHashed = !sorted.keys.empty();
   // A scalar subquery is built: its errors wait for a row of the other side.
   const bool isLoop = !isHashed && join.kind == JoinKind::Inner;
   const bool isLeftOne = isLoop && isAtMostOneRow(*rel.inputs[0]),
              isRightOne = isLoop && isAtMostOneRow(*rel.inputs[1]);
   Lowered left = lower(*rel.inputs[0], below), right = lower(*rel.inputs[1], below);

   for (plan::JoinKey& key : sorted.keys)
      exprs_.lowerComparable(key.probe, key.build);
   for (ExprPtr& predicate : sorted.residual)
      exprs_.lower(predicate);
   JoinKind kind = join.kind;

   // The smaller side is built. The binder makes Right joins; a Full join works with either side built.
   const std::optional<JoinKind> other = mirrored(join.kind);
   const bool canSwap = other && !sorted.nullAware && query_.context.settings.enabled;
   // Nested loops do not exchange the sides of semi and anti joins: their inner loop stops at the first match.
   const bool swapKindAllowed = isHashed || join.kind == JoinKind::Inner || join.kind == JoinKind::Right;
   // A join that preserves the build side needs a bit per build row and a pass over the build side at the end.
   const double bias = join.kind == JoinKind::Inner ? 1.0 : 0.5;
   bool swap = canSwap && swapKindAllowed && leftRows < rightRows * bias;
   if (join.kind == JoinKind::Right && !isHashed) swap = true;
   if (canSwap && isLeftOne != isRightOne) swap = isLeftOne;
   if (swap) {
      std::swap(left, right);
      kind = *other;
      for (plan::JoinKey& key : sorted.keys)
         std::swap(key.probe, key.build);
   }
   const bool probeOnly = kind == JoinKind::Semi || kind == JoinKind::Anti || kind == JoinKind::Mark;
   const bool buildOnly = kind == JoinKind::RightSemi || kind == JoinKind::RightAnti;
   plan::NodePtr node =
       std::make_unique<plan::Node>(isHashed ? plan::Operator(plan::HashJoin{}) : plan::NestedLoopJoin{});
   node->estimatedRows = rows;
   if (!buildOnly)
      for (const ColumnId column : left.node->output)
         if (need.contains(column)) node->output.push_back(column);
   if (!probeOnly)
      for (const ColumnId column : right.node->output)
         if (need.contains(column)) node->output.push_back(column);
   if (join.kind == JoinKind::Mark) {
      exprs_.setColumn(join.markColumn, {PhysicalType::Bool, 0}, std::nullopt);
      if (need.contains(join.markColumn)) node->output.push_back(join.markColumn);
   }
   double rowsMax = left.rowsMax * right.rowsMax;
   if (kind == JoinKind::Left || kind == JoinKind::Full) rowsMax += left.rowsMax;
   if (kind == JoinKind::Right || kind == JoinKind::Full) rowsMax += right.rowsMax;
   if (probeOnly || kind == JoinKind::Single) rowsMax = left.rowsMax;
   if (buildOnly) rowsMax = right.rowsMax;
   DCHECK(rowsMax >= 0);
   node->as<plan::Join>() = {kind, std::move(sorted.residual), join.markColumn};
   if (auto* hashed = node->getIf<plan::HashJoin>()) {
      hashed->keys = std::move(sorted.keys);
      hashed->nullAware = sorted.nullAware;
   }
   node->children.push_back(std::move(left.node));
   node->children.push_back(std::move(right.node));
   return {std::move(node), rowsMax};
}

} // namespace ouzel::optimizer
