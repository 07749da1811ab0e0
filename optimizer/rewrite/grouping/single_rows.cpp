#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/rewrite/rules.hpp"

// SELECT k, sum(x) FROM t, (SELECT max(y) AS most FROM u) m GROUP BY k HAVING sum(x) > max(most): every row of t
// carries `most` along, and every group finds the maximum of equal values. The one row is joined with the groups
// instead:
//
//    GroupBy k: sum(x), max(most) as m            Map most as m
//      Join                               ->        Join
//        t, one row                                   GroupBy k: sum(x)
//                                                       t
//                                                     one row

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool reads(const Expr& expr, const ColumnSet& columns) {
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   return std::ranges::any_of(used, [&](ColumnId column) { return columns.contains(column); });
}

/// Whether the aggregate is the greatest or least of equal values: the value of the column.
bool isValueOf(const AggregateCall& call, const ColumnSet& columns) {
   if (!call.function || (call.function->name != "max" && call.function->name != "min") || call.filter) return false;
   const ColumnId column = call.args.size() == 1 ? columnOf(*call.args[0]) : noColumn;
   return column != noColumn && columns.contains(column) && call.args[0]->type.oid == call.type.oid;
}

class SingleRow {
public:
   explicit SingleRow(RelPtr& rel) : rel_(rel), group_(rel->as<op::GroupBy>()) {}

   /// Lifts a relation of one row above the groups, if there is one.
   void lift() {
      if (group_.keys.empty() || !group_.groupingSets.empty() || !group_.groupingCalls.empty()) return;
      RelPtr row = take(rel_->inputs[0]);
      if (!row) return;
      const ColumnSet columns(outputColumns(*row));
      std::vector<ComputedColumn> values;
      std::erase_if(group_.aggregates, [&](AggregateCall& call) {
         if (!isValueOf(call, columns)) return false;
         values.push_back({call.column, std::move(call.args[0])});
         return true;
      });
      rel_ = makeMap(makeJoin(JoinKind::Inner, std::move(rel_), std::move(row), nullptr), std::move(values));
   }

private:
   /// Takes a relation of one row, at most, out of joins without a condition; null: there is none that may go.
   RelPtr take(RelPtr& rel) {
      auto* join = rel->getIf<op::Join>();
      if (!join || join->kind != JoinKind::Inner) return nullptr;
      for (size_t side = 0; side < 2 && !join->predicate; ++side)
         if (isAtMostOneRow(*rel->inputs[side]) && mayGo(*rel->inputs[side])) {
            RelPtr row = std::move(rel->inputs[side]), other = std::move(rel->inputs[1 - side]);
            rel = std::move(other);
            return row;
         }
      for (RelPtr& input : rel->inputs) {
         joins_.push_back(join);
         if (RelPtr row = take(input)) return row;
         joins_.pop_back();
      }
      return nullptr;
   }

   /// Whether nothing but the greatest and least values reads the relation's columns.
   bool mayGo(const Rel& row) const {
      const ColumnSet columns(outputColumns(row));
      for (const op::Join* join : joins_)
         if (join->predicate && reads(*join->predicate, columns)) return false;
      for (const ComputedColumn& key : group_.keys)
         if (reads(*key.expr, columns)) return false;
      return std::ranges::all_of(group_.aggregates, [&](const AggregateCall& call) {
         if (isValueOf(call, columns)) return true;
         const auto isFree = [&](const ExprPtr& expr) { return !expr || !reads(*expr, columns); };
         return std::ranges::all_of(call.args, isFree) && std::ranges::all_of(call.directArgs, isFree) &&
                std::ranges::all_of(call.orderBy, isFree, &SortKey::expr) && isFree(call.filter);
      });
   }

   RelPtr& rel_;
   op::GroupBy& group_;
   std::vector<const op::Join*> joins_; ///< above the one that is looked at
};

} // namespace

void liftSingleRows(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { liftSingleRows(child, query); });
   if (root->kind == RelKind::GroupBy) SingleRow(root).lift();
}

} // namespace ouzel::optimizer
