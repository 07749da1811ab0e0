#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/grouping/partial_aggregates.hpp"
#include "optimizer/rewrite/rules.hpp"

// Computes sub-totals from finer totals. The rows of ROLLUP (a, b) fall into groups of (a, b); the groups of (a), and
// the grand total, are made of these and not of the rows again:
//
//    With  ab := GroupBy a, b: sum(x) as s over the input
//          a  := GroupBy a: sum(s) as s over ab
//    ab  UNION ALL  a  UNION ALL  GroupBy (): sum(s) over a
//
// A set takes the smallest set that has all its keys (Agarwal et al. 1996, "On the computation of multidimensional
// aggregates", section 3). One set must have the keys of all. Estimates decide.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Fewer rows are not worth more operators.
constexpr double rowsMin = 10'000;
constexpr double gainMin = 1.25;

class RollUp {
public:
   RollUp(RelPtr& rel, Query& query) : rel_(rel), group_(rel->as<op::GroupBy>()), query_(query) {}

   void run() {
      if (!isCandidate()) return;
      estimate();
      chooseSources();
      if (query_.context.settings.seed == 0 && !pays()) return;
      rewrite();
   }

private:
   static constexpr size_t none = SIZE_MAX;

   /// A grouping set, and where its groups come from.
   struct Set {
      std::vector<uint32_t> keys;
      double rows = 0;
      size_t source = none; ///< another set; none: the input
      uint32_t readers = 0; ///< sets that take this one
      // When it is built: its CTE, if others read it, and the columns of keys (by number) and of parts.
      uint32_t cte = 0;
      std::vector<ColumnId> keyColumns;
      std::vector<std::vector<ColumnId>> parts; ///< of each aggregate
      RelPtr query;
   };

   bool isCandidate() {
      if (group_.groupingSets.size() < 2) return false;
      if (!std::ranges::all_of(group_.aggregates, isDecomposable)) return false;
      for (const ComputedColumn& key : group_.keys)
         if (isVolatile(*key.expr)) return false;
      for (const std::vector<uint32_t>& keys : group_.groupingSets) {
         Set set;
         set.keys = keys;
         std::ranges::sort(set.keys);
         sets_.push_back(std::move(set));
      }
      const auto finest = std::ranges::max_element(sets_, {}, [](const Set& set) { return set.keys.size(); });
      finest_ = static_cast<size_t>(finest - sets_.begin());
      return std::ranges::all_of(sets_, [&](const Set& set) { return std::ranges::includes(finest->keys, set.keys); });
   }

   void estimate() {
      Estimator estimator(query_);
      const RelEstimate& input = estimator.estimate(*rel_->inputs[0]);
      inputRows_ = input.rows;
      for (Set& set : sets_) {
         std::vector<const Expr*> keys;
         for (const uint32_t key : set.keys)
            keys.push_back(group_.keys[key].expr.get());
         set.rows = keys.empty() ? 1 : estimator.groups(input, keys);
      }
   }

   /// The smallest set that has the keys of each. Of sets with the same keys the later one takes the earlier one.
   void chooseSources() {
      for (size_t i = 0; i < sets_.size(); ++i) {
         if (i == finest_) continue;
         for (size_t k = 0; k < sets_.size(); ++k) {
            if (k == i || !std::ranges::includes(sets_[k].keys, sets_[i].keys)) continue;
            if (sets_[k].keys.size() == sets_[i].keys.size() && k != finest_ && k > i) continue;
            size_t& source = sets_[i].source;
            const bool isSmaller =
                source == none || sets_[k].keys.size() < sets_[source].keys.size() ||
                (sets_[k].keys.size() == sets_[source].keys.size() && sets_[k].rows < sets_[source].rows);
            if (isSmaller) source = k;
         }
         ++sets_[sets_[i].source].readers;
      }
   }

   bool pays() const {
      if (inputRows_ < rowsMin) return false;
      const auto count = static_cast<double>(sets_.size());
      double after = inputRows_;
      for (const Set& set : sets_)
         if (set.source != none) after += 1.5 * sets_[set.source].rows; // read, and written before
      return count * inputRows_ > gainMin * after;
   }

   void rewrite() {
      // Sources come before their readers: those with more keys, and of sets with the same keys the finest, then the
      // earlier one.
      std::vector<size_t> order(sets_.size());
      for (size_t i = 0; i < order.size(); ++i)
         order[i] = i;
      std::ranges::stable_sort(order, [&](size_t a, size_t b) {
         if (a == finest_ || b == finest_) return a == finest_ && b != finest_;
         return sets_[a].keys.size() > sets_[b].keys.size();
      });
      op::With with;
      for (const size_t i : order) {
         build(sets_[i]);
         if (sets_[i].readers == 0) continue;
         Cte cte;
         cte.id = sets_[i].cte = query_.nextCte++;
         cte.name = "rollup";
         cte.query = std::move(sets_[i].query);
         cte.columns = columnsOf(sets_[i]);
         cte.references = sets_[i].readers + 1;
         with.ctes.push_back(std::move(cte));
      }
      Branch all = resultOf(sets_[0]);
      for (size_t i = 1; i < sets_.size(); ++i)
         all = unionOf(std::move(all), resultOf(sets_[i]), i + 1 == sets_.size());
      rel_ = makeRel(RelKind::With, std::move(with), std::move(all.rel));
   }

   std::vector<ColumnId> columnsOf(const Set& set) const {
      std::vector<ColumnId> columns;
      for (const uint32_t key : set.keys)
         columns.push_back(set.keyColumns[key]);
      for (const std::vector<ColumnId>& parts : set.parts)
         columns.insert(columns.end(), parts.begin(), parts.end());
      return columns;
   }

   /// A scan of the set's CTE; keys and parts get the columns of the scan.
   RelPtr scan(const Set& set, std::vector<ColumnId>& keys, std::vector<std::vector<ColumnId>>& parts) {
      op::CteScan scan;
      scan.cte = set.cte;
      scan.cteColumns = columnsOf(set);
      const auto copy = [&](ColumnId column) {
         scan.columns.push_back(query_.copyColumn(column));
         return scan.columns.back();
      };
      keys.assign(group_.keys.size(), noColumn);
      for (const uint32_t key : set.keys)
         keys[key] = copy(set.keyColumns[key]);
      for (const std::vector<ColumnId>& of : set.parts) {
         parts.emplace_back();
         for (const ColumnId part : of)
            parts.back().push_back(copy(part));
      }
      return makeRel(RelKind::CteScan, std::move(scan));
   }

   /// Makes the set's query.
   void build(Set& set) {
      op::GroupBy group;
      set.keyColumns.assign(group_.keys.size(), noColumn);
      const auto addKey = [&](uint32_t key, ExprPtr expr) {
         set.keyColumns[key] = query_.copyColumn(group_.keys[key].column);
         group.keys.push_back({set.keyColumns[key], std::move(expr)});
      };
      const auto addPart = [&](AggregateCall call) {
         set.parts.back().push_back(call.column);
         group.aggregates.push_back(std::move(call));
      };
      if (set.source == none) {
         for (const uint32_t key : set.keys)
            addKey(key, clone(*group_.keys[key].expr));
         for (const AggregateCall& call : group_.aggregates) {
            set.parts.emplace_back();
            for (AggregateCall& part : partsOf(call, query_))
               addPart(std::move(part));
         }
         set.query = makeRel(RelKind::GroupBy, std::move(group), std::move(rel_->inputs[0]));
         return;
      }
      std::vector<ColumnId> keys;
      std::vector<std::vector<ColumnId>> parts;
      RelPtr input = scan(sets_[set.source], keys, parts);
      for (const uint32_t key : set.keys)
         addKey(key, query_.ref(keys[key]));
      for (size_t i = 0; i < parts.size(); ++i) {
         set.parts.emplace_back();
         for (const ColumnId part : parts[i])
            addPart(totalOf(group_.aggregates[i], part, query_));
      }
      set.query = makeRel(RelKind::GroupBy, std::move(group), std::move(input));
   }

   /// Output columns of the whole GroupBy: keys, aggregates, GROUPING().
   std::vector<ColumnId> outputs() const {
      std::vector<ColumnId> columns;
      for (const ComputedColumn& key : group_.keys)
         columns.push_back(key.column);
      for (const AggregateCall& call : group_.aggregates)
         columns.push_back(call.column);
      for (const GroupingCall& call : group_.groupingCalls)
         columns.push_back(call.column);
      return columns;
   }

   /// Rows with a column for each of outputs().
   struct Branch {
      RelPtr rel;
      std::vector<ColumnId> columns;
   };

   Branch resultOf(Set& set) {
      std::vector<ColumnId> keys = set.keyColumns;
      std::vector<std::vector<ColumnId>> parts = set.parts;
      RelPtr rows = std::move(set.query);
      if (set.readers > 0) {
         parts.clear();
         rows = scan(set, keys, parts);
      }
      Branch branch;
      std::vector<ComputedColumn> computed;
      const auto add = [&](ColumnId output, ExprPtr value) {
         branch.columns.push_back(query_.copyColumn(output));
         computed.push_back({branch.columns.back(), std::move(value)});
      };
      for (uint32_t key = 0; key < keys.size(); ++key) {
         const ColumnId output = group_.keys[key].column;
         add(output, keys[key] == noColumn ? makeNull(query_.columns[output].type) : query_.ref(keys[key]));
      }
      for (size_t i = 0; i < parts.size(); ++i)
         add(group_.aggregates[i].column, valueOf(group_.aggregates[i], parts[i], set.keys.empty(), query_));
      for (const GroupingCall& call : group_.groupingCalls) {
         int64_t absent = 0; // a bit for each key, the last one's the lowest
         for (const uint32_t key : call.keys)
            absent = absent << 1 | (std::ranges::count(set.keys, key) == 0 ? 1 : 0);
         add(call.column, makeConstant(query_.columns[call.column].type, Value::integer(PhysicalType::I32, absent)));
      }
      branch.rel = makeMap(std::move(rows), std::move(computed));
      return branch;
   }

   Branch unionOf(Branch left, Branch right, bool isLast) {
      op::SetOp both;
      both.all = true;
      both.inputColumns = {std::move(left.columns), std::move(right.columns)};
      for (const ColumnId output : outputs())
         both.columns.push_back(isLast ? output : query_.copyColumn(output));
      Branch result;
      result.columns = both.columns;
      result.rel = makeRel(RelKind::SetOp, std::move(both), std::move(left.rel), std::move(right.rel));
      return result;
   }

   RelPtr& rel_;
   op::GroupBy& group_;
   Query& query_;
   std::vector<Set> sets_;
   size_t finest_ = 0;
   double inputRows_ = 0;
};

} // namespace

void rollUp(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { rollUp(child, query); });
   if (root->kind == RelKind::GroupBy) RollUp(root, query).run();
}

} // namespace ouzel::optimizer
