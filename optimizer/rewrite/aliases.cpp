#include "optimizer/rewrite/rules.hpp"

// A Map that only gives a column a second id is dropped, and all readers read the first id. Ids are unique in the plan,
// so one substitution over the whole tree is enough.

namespace ouzel::optimizer {

using namespace sql;

void removeAliases(RelPtr& root, Query& query, std::vector<OutputColumn>& output) {
   (void)query;
   // A recursive CTE pairs the columns of its two terms by position, so one column must not stand for two positions.
   ColumnSet fixed;
   forEachRel(*root, [&fixed](Rel& rel) {
      if (rel.kind != RelKind::With) return;
      for (const Cte& cte : rel.as<op::With>().ctes)
         if (cte.recursive) {
            fixed.add(cte.columns);
            fixed.add(cte.recursiveColumns);
         }
   });
   ColumnMap aliases;
   forEachRel(*root, [&](Rel& rel) {
      if (rel.kind != RelKind::Map) return;
      std::erase_if(rel.as<op::Map>().computed, [&](const ComputedColumn& computed) {
         if (computed.expr->kind != ExprKind::Column || fixed.contains(computed.column)) return false;
         aliases.emplace(computed.column, columnOf(*computed.expr));
         return true;
      });
   });
   if (aliases.empty()) return;
   const auto resolve = [&aliases](ColumnId column) {
      for (auto it = aliases.find(column); it != aliases.end(); it = aliases.find(column))
         column = it->second;
      return column;
   };
   replaceColumns(*root, resolve);
   forEachRel(*root, [](Rel& rel) {
      if (rel.kind != RelKind::Distinct) return;
      ColumnSet seen; // after the substitution a column may be listed twice
      std::erase_if(rel.as<op::Distinct>().columns, [&seen](ColumnId column) {
         const bool repeated = seen.contains(column);
         seen.add(column);
         return repeated;
      });
   });
   for (OutputColumn& column : output)
      column.column = resolve(column.column);
   const std::function<void(RelPtr&)> dropEmptyMaps = [&](RelPtr& rel) {
      while (rel->kind == RelKind::Map && rel->as<op::Map>().computed.empty()) {
         RelPtr input = std::move(rel->inputs[0]);
         rel = std::move(input);
      }
      forEachChild(*rel, [&](RelPtr& child) { dropEmptyMaps(child); });
   };
   dropEmptyMaps(root);
}

} // namespace ouzel::optimizer
