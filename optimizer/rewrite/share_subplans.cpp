#include <algorithm>

#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/table_parts.hpp"

// A join or aggregation that a query contains twice runs once: it becomes a materialised CTE, and both places scan the
// CTE (TPC-H Q11 and Q15 write the same derived table twice). Two subtrees are the same if they differ only in column
// ids.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// A subtree becomes a CTE only if it gives at most this fraction of the rows that it reads.
constexpr double keptFractionMax = 0.3;

/// Compares two subtrees, and maps the columns of the second subtree to those of the first.
class Matcher {
public:
   bool match(const Rel& a, const Rel& b) {
      checkStack();
      if (a.kind != b.kind || a.inputs.size() != b.inputs.size()) return false;
      for (size_t i = 0; i < a.inputs.size(); ++i)
         if (!match(*a.inputs[i], *b.inputs[i])) return false;
      switch (a.kind) {
      case RelKind::Get: return matchGet(a.as<op::Get>(), b.as<op::Get>());
      case RelKind::Select: return matchOptional(a.as<op::Select>().predicate, b.as<op::Select>().predicate);
      case RelKind::Map: return matchComputed(a.as<op::Map>().computed, b.as<op::Map>().computed);
      case RelKind::Join: return matchJoin(a.as<op::Join>(), b.as<op::Join>());
      case RelKind::GroupBy: return matchGroup(a.as<op::GroupBy>(), b.as<op::GroupBy>());
      default: return false; // other operators are rare, cheap or ordered
      }
   }
   const ColumnMap& secondToFirst() const { return map_; }

private:
   bool matchGet(const op::Get& a, const op::Get& b) {
      if (!isSameTable(a.table, b.table)) return false;
      if (a.seesWith != b.seesWith) return false;
      for (const GetColumn& column : b.columns) {
         const auto it = std::find_if(a.columns.begin(), a.columns.end(), [&column](const GetColumn& other) {
            return other.attribute == column.attribute;
         });
         if (it == a.columns.end()) return false;
         map_[column.column] = it->column;
      }
      for (const GetPath& path : b.paths) {
         const auto it = std::find_if(a.paths.begin(), a.paths.end(), [&path](const GetPath& other) {
            return other.attribute == path.attribute && other.access == path.access;
         });
         if (it == a.paths.end()) return false;
         map_[path.column] = it->column;
      }
      return matchOptional(a.predicate, b.predicate);
   }
   bool matchJoin(const op::Join& a, const op::Join& b) {
      if (a.kind != b.kind) return false;
      if ((a.markColumn == noColumn) != (b.markColumn == noColumn)) return false;
      if (!matchOptional(a.predicate, b.predicate)) return false;
      if (b.markColumn != noColumn) map_[b.markColumn] = a.markColumn;
      return true;
   }
   bool matchComputed(const std::vector<ComputedColumn>& a, const std::vector<ComputedColumn>& b) {
      for (const ComputedColumn& column : b) {
         const auto it = std::find_if(a.begin(), a.end(),
                                      [&](const ComputedColumn& other) { return match(*other.expr, *column.expr); });
         if (it == a.end()) return false;
         map_[column.column] = it->column;
      }
      return true;
   }
   bool matchGroup(const op::GroupBy& a, const op::GroupBy& b) {
      if (!a.groupingSets.empty() || !b.groupingSets.empty() || a.keys.size() != b.keys.size()) return false;
      if (!matchComputed(a.keys, b.keys) || !matchComputedBack(a, b)) return false;
      for (const AggregateCall& call : b.aggregates) {
         const auto it = std::find_if(a.aggregates.begin(), a.aggregates.end(),
                                      [&](const AggregateCall& other) { return matchCall(other, call); });
         if (it == a.aggregates.end()) return false;
         map_[call.column] = it->column;
      }
      return true;
   }
   /// True if every key of `a` is a key of `b`.
   bool matchComputedBack(const op::GroupBy& a, const op::GroupBy& b) {
      return std::all_of(a.keys.begin(), a.keys.end(), [&](const ComputedColumn& key) {
         return std::any_of(b.keys.begin(), b.keys.end(),
                            [&](const ComputedColumn& other) { return match(*key.expr, *other.expr); });
      });
   }
   bool matchCall(const AggregateCall& a, const AggregateCall& b) {
      if (a.fold || b.fold || a.function != b.function || a.distinct != b.distinct || a.star != b.star ||
          a.args.size() != b.args.size())
         return false;
      if (!a.orderBy.empty() || !b.orderBy.empty() || !a.directArgs.empty() || !b.directArgs.empty()) return false;
      for (size_t i = 0; i < a.args.size(); ++i)
         if (!match(*a.args[i], *b.args[i])) return false;
      return matchOptional(a.filter, b.filter);
   }
   bool matchOptional(const ExprPtr& a, const ExprPtr& b) {
      if (!a || !b) return !a && !b;
      return match(*a, *b);
   }
   bool match(const Expr& a, const Expr& b) const {
      ExprPtr renamed = clone(b);
      rewriteExpr(renamed, [this](ExprPtr& expr) {
         auto* reference = expr->getIf<scalar::Column>();
         if (!reference) return;
         if (const auto it = map_.find(reference->column); it != map_.end()) reference->column = it->second;
      });
      return equal(a, *renamed) && !isVolatile(a);
   }

   ColumnMap map_;
};

class SubplanSharer {
public:
   explicit SubplanSharer(Query& query) : query_(query), estimator_(query) {}

   void run(RelPtr& root) {
      estimator_.estimate(*root);
      collect(root);
      std::vector<Cte> ctes;
      std::vector<bool> used(candidates_.size());
      // Parents come before their inputs, so the largest common subtrees win.
      for (size_t i = 0; i < candidates_.size(); ++i) {
         if (used[i] || isGone(candidates_[i])) continue;
         std::unique_ptr<Cte> cte;
         for (size_t k = i + 1; k < candidates_.size(); ++k) {
            if (used[k] || isGone(candidates_[k]) || isInside(*candidates_[k], *candidates_[i])) continue;
            Matcher matcher;
            if (!matcher.match(**candidates_[i], **candidates_[k])) continue;
            if (!cte) cte = makeCte(**candidates_[i]);
            replaceSecond(*candidates_[k], matcher.secondToFirst(), *cte);
            used[k] = true;
         }
         if (!cte) continue;
         used[i] = true;
         ColumnMap identity;
         for (const ColumnId column : outputColumns(**candidates_[i]))
            identity[column] = column;
         replaceSecond(*candidates_[i], identity, *cte);
         ctes.push_back(std::move(*cte));
      }
      if (ctes.empty()) return;
      RelPtr& body = isDml(root->kind) ? root->inputs[0] : root;
      body = makeRel(RelKind::With, op::With{std::move(ctes)}, std::move(body));
   }

private:
   void collect(RelPtr& rel) {
      checkStack();
      checkInterrupted();
      if ((rel->kind == RelKind::Join || rel->kind == RelKind::GroupBy) && isWorthKeeping(*rel))
         candidates_.push_back(&rel);
      for (RelPtr& input : rel->inputs)
         collect(input);
   }

   /// True if the subtree gives few of the rows that it reads, and contains no With and no scan of a CTE, so that it
   /// can move to the top of the query.
   bool isWorthKeeping(Rel& rel) {
      double read = 0;
      bool movable = true;
      forEachRel(rel, [&](Rel& below) {
         if (below.kind == RelKind::Get) read += tableRows(below);
         movable = movable && below.kind != RelKind::CteScan && below.kind != RelKind::RecursiveScan &&
                   below.kind != RelKind::With;
      });
      return movable && read > 1000 && estimator_.rows(rel) <= read * keptFractionMax;
   }
   double tableRows(const Rel& get) const {
      if (!query_.context.statistics) return 0;
      const auto statistics = query_.context.statistics->statistics(get.as<op::Get>().table);
      return statistics ? static_cast<double>(statistics->rowCount) : 0;
   }

   bool isGone(RelPtr* place) const { return std::find(dead_.begin(), dead_.end(), place) != dead_.end(); }
   static bool isInside(const RelPtr& inner, const RelPtr& outer) {
      bool found = false;
      forEachRel(*outer, [&](Rel& rel) { found = found || &rel == inner.get(); });
      return found;
   }

   std::unique_ptr<Cte> makeCte(const Rel& first) {
      auto cte = std::make_unique<Cte>();
      cte->id = query_.nextCte++;
      cte->name = "shared";
      cte->materialized = true;
      renamed_.clear();
      cte->query = cloneRenamed(first, query_, renamed_);
      for (const ColumnId column : outputColumns(first))
         cte->columns.push_back(renamed_.at(column));
      return cte;
   }

   void replaceSecond(RelPtr& place, const ColumnMap& toFirst, const Cte& cte) {
      op::CteScan scan;
      scan.cte = cte.id;
      for (const ColumnId column : outputColumns(*place)) {
         const auto first = toFirst.find(column);
         if (first == toFirst.end()) continue;
         scan.columns.push_back(column);
         scan.cteColumns.push_back(renamed_.at(first->second));
      }
      for (RelPtr* candidate : candidates_)
         if (candidate != &place && !isGone(candidate) && isInside(*candidate, place)) dead_.push_back(candidate);
      place = makeRel(RelKind::CteScan, std::move(scan));
   }

   Query& query_;
   Estimator estimator_;
   std::vector<RelPtr*> candidates_;
   std::vector<RelPtr*> dead_; ///< candidates inside of subtrees that were replaced
   ColumnMap renamed_;
};

} // namespace

void shareSubplans(RelPtr& root, Query& query) {
   SubplanSharer(query).run(root);
}

} // namespace ouzel::optimizer
