#include "engine/query/statistics.hpp"

#include <algorithm>

namespace ouzel::engine {

std::vector<std::vector<int16_t>> TableStatisticsProvider::uniqueKeys(const sql::TableRef& table) {
   std::vector<std::vector<int16_t>> keys;
   const auto relation = catalog_.relation(table.relation);
   if (!relation) return keys;
   for (const catalog::Constraint& constraint : relation->constraints) {
      if (constraint.kind != catalog::ConstraintKind::PrimaryKey && constraint.kind != catalog::ConstraintKind::Unique)
         continue;
      if (constraint.isDeferrable) continue; // inside a transaction two rows may have one key
      // A unique constraint admits any number of rows with NULL keys.
      const bool allNotNull = std::all_of(constraint.columns.begin(), constraint.columns.end(), [&](int16_t attribute) {
         const catalog::Column* column = relation->column(attribute);
         return column && column->notNull;
      });
      if (allNotNull) keys.push_back(constraint.columns);
   }
   return keys;
}

std::vector<sql::plan::IndexUse> TableStatisticsProvider::indexes(const sql::TableRef& table) {
   std::vector<sql::plan::IndexUse> result;
   for (const auto& index : catalog_.indexesOf(table.relation))
      result.push_back({index->index->columns, index->index->isUnique || index->index->isPrimary});
   // The columns of foreign keys count as indexed, for referential actions; storage makes the index when it is first
   // used.
   if (const auto relation = catalog_.relation(table.relation))
      for (const catalog::Constraint& constraint : relation->constraints)
         if (constraint.kind == catalog::ConstraintKind::ForeignKey) result.push_back({constraint.columns, false});
   std::stable_partition(result.begin(), result.end(), [](const auto& index) { return index.isUnique; });
   return result;
}

} // namespace ouzel::engine
