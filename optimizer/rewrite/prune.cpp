#include <algorithm>

#include "optimizer/rewrite/rules.hpp"

// Drops columns without readers: computed columns, aggregates, columns of CTEs. Also drops a left join if no operator
// reads columns of its right side and each left row has at most one match.

namespace ouzel::optimizer {

using namespace sql;

namespace {

class Pruner {
public:
   explicit Pruner(Query& query) : query_(query) {}

   void prune(RelPtr& rel, ColumnSet need) {
      switch (rel->kind) {
      case RelKind::Join: pruneJoin(rel, std::move(need)); return;
      case RelKind::Map:
         if (rel->kind == RelKind::Map)
            std::erase_if(
                rel->computed,
                [&](const ComputedColumn& computed) { // a volatile call such as nextval() stays even without readers
                   return !need.contains(computed.column) && !isVolatile(*computed.expr);
                });
         if (rel->computed.empty()) {
            RelPtr input = std::move(rel->inputs[0]);
            rel = std::move(input);
            prune(rel, std::move(need));
            return;
         }
         break;
      case RelKind::GroupBy: {
         const bool isStatic = rel->keys.empty() && rel->groupingSets.size() <= 1;
         std::erase_if(rel->aggregates, [&](const AggregateCall& call) { return !need.contains(call.column); });
         if (isStatic && rel->aggregates.empty() && rel->groupingCalls.empty()) {
            rel = oneRow();
            return;
         }
         need = ColumnSet();
         break;
      }
      case RelKind::Window:
         std::erase_if(rel->windowCalls, [&](const WindowCall& call) { return !need.contains(call.column); });
         if (rel->windowCalls.empty()) {
            RelPtr input = std::move(rel->inputs[0]);
            rel = std::move(input);
            prune(rel, std::move(need));
            return;
         }
         break;
      case RelKind::Distinct:
         if (rel->sortKeys.empty()) need = ColumnSet();
         need.add(rel->columns);
         break;
      case RelKind::SetOp: pruneSetOp(*rel, need); return;
      case RelKind::With: pruneWith(*rel, need); return;
      case RelKind::CteScan: {
         for (size_t i = rel->columns.size(); i-- > 0;)
            if (!need.contains(rel->columns[i])) {
               rel->columns.erase(rel->columns.begin() + static_cast<std::ptrdiff_t>(i));
               rel->cteColumns.erase(rel->cteColumns.begin() + static_cast<std::ptrdiff_t>(i));
            }
         cteNeeds_[rel->cte].add(rel->cteColumns);
         return;
      }
      case RelKind::Insert:
      case RelKind::Update:
      case RelKind::Delete:
      case RelKind::Merge:
         need = ColumnSet();
         for (const GetColumn& column : rel->dml->target)
            need.add(column.column);
         for (const GetColumn& column : rel->dml->proposed)
            need.add(column.column);
         if (rel->dml->clause != noColumn) need.add(rel->dml->clause);
         if (rel->dml->rowId != noColumn) need.add(rel->dml->rowId);
         if (rel->dml->inputLine != noColumn) need.add(rel->dml->inputLine);
         break;
      case RelKind::LockRows:
         for (const RowLock& lock : rel->rowLocks)
            need.add(lock.rowId);
         break;
      default: break;
      }
      forEachOwnExpr(*rel, [&need](ExprPtr& expr) { addColumns(*expr, need); });
      for (RelPtr& input : rel->inputs)
         prune(input, need);
   }

private:
   void pruneJoin(RelPtr& rel, ColumnSet need) {
      if (rel->joinKind == JoinKind::Left && !need.containsAny(outputColumns(*rel->inputs[1])) &&
          cannotMultiply(*rel)) {
         RelPtr left = std::move(rel->inputs[0]);
         rel = std::move(left);
         prune(rel, std::move(need));
         return;
      }
      if (rel->joinKind == JoinKind::Mark && !need.contains(rel->markColumn)) {
         RelPtr left = std::move(rel->inputs[0]);
         rel = std::move(left);
         prune(rel, std::move(need));
         return;
      }
      if (rel->predicate) addColumns(*rel->predicate, need);
      prune(rel->inputs[0], need);
      prune(rel->inputs[1], std::move(need));
   }

   /// True if each left row has at most one match: ON compares columns of the right side with values that do not depend
   /// on the right side, and the right side is unique on these columns.
   bool cannotMultiply(const Rel& join) const {
      const ColumnSet right(outputColumns(*join.inputs[1]));
      ColumnSet pinned;
      const auto pin = [&](const Expr& conjunct) {
         if (conjunct.kind != ExprKind::Compare || conjunct.compare != CompareOp::Eq) return;
         for (int side = 0; side < 2; ++side) {
            std::vector<ColumnId> others;
            collectColumns(*conjunct.args[1 - side], others);
            const Expr& column = *conjunct.args[side];
            if (column.kind == ExprKind::Column && right.contains(column.column) && !right.containsAny(others))
               pinned.add(column.column);
         }
      };
      if (join.predicate) {
         if (join.predicate->kind != ExprKind::And)
            pin(*join.predicate);
         else
            for (const ExprPtr& conjunct : join.predicate->args)
               pin(*conjunct);
      }
      return isUniqueOn(*join.inputs[1], pinned, query_);
   }

   void pruneSetOp(Rel& rel, const ColumnSet& need) {
      if (rel.all)
         for (size_t i = rel.columns.size(); i-- > 0;) {
            if (need.contains(rel.columns[i])) continue;
            const auto at = static_cast<std::ptrdiff_t>(i);
            rel.columns.erase(rel.columns.begin() + at);
            rel.setOpInputs[0].erase(rel.setOpInputs[0].begin() + at);
            rel.setOpInputs[1].erase(rel.setOpInputs[1].begin() + at);
         }
      for (int side = 0; side < 2; ++side)
         prune(rel.inputs[side], ColumnSet(rel.setOpInputs[side]));
   }

   void pruneWith(Rel& rel, const ColumnSet& need) {
      prune(rel.inputs[0], need);
      // From the last CTE to the first: all readers of a CTE come after it, so its needed columns are complete.
      for (size_t i = rel.ctes.size(); i-- > 0;) {
         Cte& cte = rel.ctes[i];
         if (cte.recursive) {
            prune(cte.recursive, ColumnSet(cte.recursiveColumns));
            prune(cte.query, ColumnSet(cte.columns));
            continue;
         }
         const ColumnSet& needed = cteNeeds_[cte.id];
         std::erase_if(cte.columns, [&needed](ColumnId column) { return !needed.contains(column); });
         prune(cte.query, ColumnSet(cte.columns));
      }
   }

   Query& query_;
   std::unordered_map<uint32_t, ColumnSet> cteNeeds_;
};

} // namespace

void pruneColumns(RelPtr& root, const std::vector<OutputColumn>& output, Query& query) {
   ColumnSet need;
   for (const OutputColumn& column : output)
      need.add(column.column);
   Pruner(query).prune(root, std::move(need));
}

} // namespace ouzel::optimizer
