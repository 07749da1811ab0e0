#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/grouping/exact_types.hpp"
#include "optimizer/rewrite/rules.hpp"

// SELECT a, count(*) ... GROUP BY a LIMIT 10 without ORDER BY: any ten groups will do. Ten keys are found first, and
// only their rows are aggregated:
//
//    Limit 10                     Limit 10
//      GroupBy a: count(*)          GroupBy a: count(*)
//        table                ->      Join Semi table.a = k
//                                       table
//                                       Limit 10
//                                         Distinct k := a
//                                           table
//
// The Distinct below a Limit stops when it has ten groups, and the join's runtime filter leaves most rows out.

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr int64_t limitMax = 1000;
/// Reading the rows twice pays where there are this many, and so many groups for each that is wanted.
constexpr double rowsMin = 100'000, groupsPerWanted = 100;

std::optional<int64_t> countOf(const ExprPtr& expr) {
   if (!expr) return 0;
   const Value* value = knownValue(*expr);
   return value && !value->isNull && value->type == PhysicalType::I64 ? std::optional(value->i64) : std::nullopt;
}

/// Whether the tree reads one table, without side effects.
bool readsOneTable(const Rel& rel) {
   checkStack();
   if (rel.kind == RelKind::Get) return !hasEffects(rel);
   const bool isPlain = rel.kind == RelKind::Select || rel.kind == RelKind::Map;
   return isPlain && !hasEffects(rel) && readsOneTable(*rel.inputs[0]);
}

/// Whether = finds the values that GROUP BY takes as equal.
bool isGroupedByEquality(const SqlType& type) {
   return isExact(type) || type.oid == oid::numeric || type.oid == oid::text || type.oid == oid::varchar;
}

class LimitedGroups {
public:
   LimitedGroups(RelPtr& rel, int64_t wanted, Query& query)
      : rel_(rel), group_(rel->as<op::GroupBy>()), wanted_(wanted), query_(query) {}

   void run() {
      if (!isCandidate() || (query_.context.settings.seed == 0 && !pays())) return;
      ColumnMap renamed;
      RelPtr copy = cloneRenamed(*rel_->inputs[0], query_, renamed);
      std::vector<ComputedColumn> here, there; // the keys, over both
      std::vector<ExprPtr> equal;
      op::Distinct distinct;
      for (ComputedColumn& key : group_.keys) {
         ExprPtr other = clone(*key.expr);
         rewriteExpr(other, [&](ExprPtr& expr) {
            if (expr->kind != ExprKind::Column) return;
            if (const auto it = renamed.find(columnOf(*expr)); it != renamed.end()) expr = query_.ref(it->second);
         });
         const ColumnId one = query_.copyColumn(key.column), two = query_.copyColumn(key.column);
         here.push_back({one, std::move(key.expr)});
         there.push_back({two, std::move(other)});
         key.expr = query_.ref(one);
         distinct.columns.push_back(two);
         equal.push_back(sameValue(query_, one, two));
      }
      RelPtr keys = makeRel(RelKind::Distinct, std::move(distinct), makeMap(std::move(copy), std::move(there)));
      op::Limit limit;
      limit.limit = makeInt8(wanted_);
      keys = makeRel(RelKind::Limit, std::move(limit), std::move(keys));
      rel_->inputs[0] = makeJoin(JoinKind::Semi, makeMap(std::move(rel_->inputs[0]), std::move(here)), std::move(keys),
                                 makeAnd(std::move(equal)));
   }

private:
   bool isCandidate() const {
      if (!group_.groupingSets.empty() || group_.keys.empty() || group_.aggregates.empty()) return false;
      for (const ComputedColumn& key : group_.keys)
         if (!isGroupedByEquality(key.expr->type) || isVolatile(*key.expr) || mayFail(*key.expr)) return false;
      return readsOneTable(*rel_->inputs[0]);
   }

   bool pays() const {
      Estimator estimator(query_);
      const RelEstimate& input = estimator.estimate(*rel_->inputs[0]);
      if (input.rows < rowsMin) return false;
      std::vector<const Expr*> keys;
      for (const ComputedColumn& key : group_.keys)
         keys.push_back(key.expr.get());
      return estimator.groups(input, keys) > groupsPerWanted * static_cast<double>(wanted_);
   }

   RelPtr& rel_;
   op::GroupBy& group_;
   const int64_t wanted_;
   Query& query_;
};

} // namespace

void limitGroups(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { limitGroups(child, query); });
   auto* limit = root->getIf<op::Limit>();
   if (!limit || !limit->limit || limit->withTies || root->inputs.size() != 1) return;
   const std::optional<int64_t> count = countOf(limit->limit), offset = countOf(limit->offset);
   if (!count || !offset || *count < 1 || *count > limitMax || *offset < 0 || *offset > limitMax) return;
   RelPtr* below = &root->inputs[0];
   while ((*below)->kind == RelKind::Map)
      below = &(*below)->inputs[0];
   if ((*below)->kind == RelKind::GroupBy) LimitedGroups(*below, *count + *offset, query).run();
}

} // namespace ouzel::optimizer
