#include "sql/algebra/row_keys.hpp"

#include <algorithm>

#include "sql/algebra/table_parts.hpp"

namespace ouzel::sql {

namespace {

/// The unique indexes of a table over columns of all rows, in the order of their OIDs.
std::vector<catalog::RelationPtr> keysOf(const catalog::Snapshot& snapshot, Oid table) {
   std::vector<catalog::RelationPtr> indexes = snapshot.indexesOf(table);
   std::erase_if(indexes, [](const catalog::RelationPtr& relation) {
      const catalog::IndexDefinition& index = *relation->index;
      return !(index.isUnique || index.isPrimary) || !index.expressions.empty() || !index.predicate.empty();
   });
   return indexes;
}

bool isIn(const std::vector<catalog::RelationPtr>& keys, int16_t attribute) {
   return std::any_of(keys.begin(), keys.end(), [&](const catalog::RelationPtr& key) {
      const std::vector<int16_t>& columns = key->index->columns;
      return std::find(columns.begin(), columns.end(), attribute) != columns.end();
   });
}

/// Adds the assigned attributes on which the partition of a row depends.
void addMoving(const TableParts& parts, const std::vector<int16_t>& assigned, std::vector<int16_t>& attributes) {
   const auto add = [&](const std::vector<int16_t>& some) {
      for (const int16_t attribute : some)
         if (std::find(assigned.begin(), assigned.end(), attribute) != assigned.end()) attributes.push_back(attribute);
   };
   for (const PartitionNode& node : parts.nodes)
      add(node.key);
   for (const KeyExpression& expression : parts.expressions)
      add(expression.reads);
}

/// The attributes of the primary key, else of the first key that has no NULL, else of the first one; empty: there is
/// none.
std::vector<int16_t> chosenKey(const catalog::Snapshot& snapshot, Oid table) {
   const catalog::RelationPtr relation = snapshot.relation(table);
   const auto rank = [&](const catalog::RelationPtr& key) {
      const std::vector<int16_t>& columns = key->index->columns;
      if (key->index->isPrimary) return 0;
      return std::all_of(columns.begin(), columns.end(), [&](int16_t a) { return relation->column(a)->notNull; }) ? 1
                                                                                                                  : 2;
   };
   const std::vector<catalog::RelationPtr> keys = keysOf(snapshot, table);
   const auto best =
       std::min_element(keys.begin(), keys.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
   return best == keys.end() ? std::vector<int16_t>() : (*best)->index->columns;
}

} // namespace

std::vector<std::vector<int16_t>> rowKeys(const catalog::Snapshot& snapshot, const TableRef& table) {
   std::vector<std::vector<int16_t>> all;
   const auto add = [&](Oid relation) { all.push_back(chosenKey(snapshot, relation)); };
   if (!table.parts) {
      add(table.relation);
   } else {
      for (const TablePart& part : table.parts->parts)
         add(part.relation->oid);
   }
   return all;
}

void setKeptKeys(const catalog::Snapshot& snapshot, const std::vector<GetColumn>& stored, Dml& dml) {
   if (dml.isInstead || dml.assigned.empty()) return;
   std::vector<int16_t> mayChange;
   const auto addPart = [&](Oid relation, const TablePart* part) {
      const std::vector<catalog::RelationPtr> keys = keysOf(snapshot, relation);
      for (const int16_t attribute : dml.assigned)
         if (isIn(keys, part ? part->attributeOf(attribute) : attribute)) mayChange.push_back(attribute);
      return !keys.empty();
   };
   bool haveKeys = true;
   if (!dml.table.parts) {
      haveKeys = addPart(dml.table.relation, nullptr);
   } else {
      for (const TablePart& part : dml.table.parts->parts)
         haveKeys = addPart(part.relation->oid, &part) && haveKeys;
      addMoving(*dml.table.parts, dml.assigned, mayChange); // a row that moves is lost to who references the part
   }
   if (!haveKeys) return; // a KeyShare would lose a row that has got another id
   std::vector<GetColumn> columns;
   for (const int16_t attribute : mayChange) {
      const auto has = [&](const GetColumn& column) { return column.attribute == attribute; };
      if (std::any_of(columns.begin(), columns.end(), has)) continue;
      const auto before = std::find_if(stored.begin(), stored.end(), has);
      if (before == stored.end() || std::none_of(dml.target.begin(), dml.target.end(), has)) return;
      columns.push_back(*before);
   }
   dml.storedKeys = std::move(columns);
   dml.mayKeepKeys = true;
}

} // namespace ouzel::sql
