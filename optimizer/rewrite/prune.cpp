#include <algorithm>

#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/rewrite/rules.hpp"

// Drops columns without readers: computed columns, aggregates, columns of CTEs. Also drops a left join if no operator
// reads columns of its right side and each left row has at most one match, and the join of a scalar subquery.

namespace ouzel::optimizer {

using namespace sql;

namespace {

class Pruner {
public:
   explicit Pruner(Query& query) : query_(query) {}

   void prune(RelPtr& rel, ColumnSet need) {
      checkStack();
      checkInterrupted();
      switch (rel->kind) {
      case RelKind::Join: pruneJoin(rel, std::move(need)); return;
      case RelKind::Map: {
         std::vector<ComputedColumn>& list = rel->as<op::Map>().computed;
         std::erase_if(list, [&](const ComputedColumn& computed) { // a volatile call such as nextval() stays
            return !need.contains(computed.column) && !isVolatile(*computed.expr);
         });
         if (list.empty()) {
            RelPtr input = std::move(rel->inputs[0]);
            rel = std::move(input);
            prune(rel, std::move(need));
            return;
         }
         break;
      }
      case RelKind::GroupBy: {
         auto& group = rel->as<op::GroupBy>();
         const bool isStatic = group.keys.empty() && group.groupingSets.size() <= 1;
         std::erase_if(group.aggregates, [&](const AggregateCall& call) { return !need.contains(call.column); });
         if (isStatic && group.aggregates.empty() && group.groupingCalls.empty()) {
            rel = oneRow();
            return;
         }
         need = ColumnSet();
         break;
      }
      case RelKind::Window: {
         auto& window = rel->as<op::Window>();
         std::erase_if(window.calls, [&](const WindowCall& call) { return !need.contains(call.column); });
         if (window.calls.empty()) {
            RelPtr input = std::move(rel->inputs[0]);
            rel = std::move(input);
            prune(rel, std::move(need));
            return;
         }
         break;
      }
      case RelKind::Distinct:
         if (rel->as<op::Distinct>().sortKeys.empty()) need = ColumnSet();
         break;
      case RelKind::SetOp: pruneSetOp(*rel, need); return;
      case RelKind::With: pruneWith(*rel, need); return;
      case RelKind::CteScan: {
         auto& scan = rel->as<op::CteScan>();
         for (size_t i = scan.columns.size(); i-- > 0;)
            if (!need.contains(scan.columns[i])) {
               scan.columns.erase(scan.columns.begin() + static_cast<std::ptrdiff_t>(i));
               scan.cteColumns.erase(scan.cteColumns.begin() + static_cast<std::ptrdiff_t>(i));
            }
         cteNeeds_[scan.cte].add(scan.cteColumns);
         return;
      }
      case RelKind::Insert:
      case RelKind::Update:
      case RelKind::Delete:
      case RelKind::Merge: need = ColumnSet(); break;
      default: break;
      }
      addOwnReads(*rel, need);
      if (auto* get = rel->getIf<op::Get>())
         std::erase_if(get->paths, [&](const GetPath& path) { return !need.contains(path.column); });
      for (RelPtr& input : rel->inputs)
         prune(input, need);
   }

private:
   void pruneJoin(RelPtr& rel, ColumnSet need) {
      auto& join = rel->as<op::Join>();
      // PostgreSQL does not run a scalar subquery that nobody reads, either, which may have more than one row.
      const bool isOptional = join.kind == JoinKind::Single || (join.kind == JoinKind::Left && cannotMultiply(*rel));
      const bool isQuiet = !hasVolatile(*rel->inputs[1]) && !(join.predicate && isVolatile(*join.predicate));
      if (isOptional && isQuiet && !need.containsAny(outputColumns(*rel->inputs[1]))) {
         RelPtr left = std::move(rel->inputs[0]);
         rel = std::move(left);
         prune(rel, std::move(need));
         return;
      }
      if (join.kind == JoinKind::Mark && !need.contains(join.markColumn) && !hasVolatile(*rel->inputs[1])) {
         RelPtr left = std::move(rel->inputs[0]);
         rel = std::move(left);
         prune(rel, std::move(need));
         return;
      }
      if (join.predicate) addColumns(*join.predicate, need);
      prune(rel->inputs[0], need);
      prune(rel->inputs[1], std::move(need));
   }

   static bool hasVolatile(Rel& rel) {
      bool found = false;
      forEachRel(rel, [&found](const Rel& at) { found = found || callsVolatile(at); });
      return found;
   }

   /// True if each left row has at most one match: ON compares columns of the right side with values that do not depend
   /// on the right side, and the right side is unique on these columns.
   bool cannotMultiply(const Rel& join) const {
      const ColumnSet right(outputColumns(*join.inputs[1]));
      ColumnSet pinned;
      const auto pin = [&](const Expr& conjunct) {
         if (compareOf(conjunct) != CompareOp::Eq) return;
         for (int side = 0; side < 2; ++side) {
            std::vector<ColumnId> others;
            collectColumns(*conjunct.args[1 - side], others);
            const ColumnId column = columnOf(*conjunct.args[side]);
            if (column != noColumn && right.contains(column) && !right.containsAny(others)) pinned.add(column);
         }
      };
      for (const Expr* conjunct : conjunctList(join.as<op::Join>().predicate.get()))
         pin(*conjunct);
      return isUniqueOn(*join.inputs[1], pinned, query_);
   }

   void pruneSetOp(Rel& rel, const ColumnSet& need) {
      auto& setOp = rel.as<op::SetOp>();
      if (setOp.all)
         for (size_t i = setOp.columns.size(); i-- > 0;) {
            if (need.contains(setOp.columns[i])) continue;
            const auto at = static_cast<std::ptrdiff_t>(i);
            setOp.columns.erase(setOp.columns.begin() + at);
            setOp.inputColumns[0].erase(setOp.inputColumns[0].begin() + at);
            setOp.inputColumns[1].erase(setOp.inputColumns[1].begin() + at);
         }
      for (int side = 0; side < 2; ++side)
         prune(rel.inputs[side], ColumnSet(setOp.inputColumns[side]));
   }

   void pruneWith(Rel& rel, const ColumnSet& need) {
      std::vector<Cte>& ctes = rel.as<op::With>().ctes;
      prune(rel.inputs[0], need);
      // From the last CTE to the first: all readers of a CTE come after it, so its needed columns are complete.
      for (size_t i = ctes.size(); i-- > 0;) {
         Cte& cte = ctes[i];
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
