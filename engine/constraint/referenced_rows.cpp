#include "engine/constraint/referenced_rows.hpp"

#include <iterator>

#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

using catalog::RelationPtr;

const std::vector<std::pair<Oid, Oid>>& referencesTo(SessionCore& core, Oid relation) {
   ReferenceCache& cache = core.references;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (cache.version != snapshot.version() || !cache.isFilled) {
      cache.byParent.clear();
      for (const RelationPtr& child : snapshot.relations())
         for (const catalog::Constraint& constraint : child->constraints)
            if (constraint.kind == catalog::ConstraintKind::ForeignKey && constraint.parentConstraint == invalidOid)
               cache.byParent[constraint.foreignRelation].emplace_back(child->oid, constraint.oid);
      cache.version = snapshot.version();
      cache.isFilled = true;
   }
   return cache.byParent[relation];
}

std::vector<std::pair<Oid, Oid>> referencesToRows(SessionCore& core, Oid relation) {
   std::vector<std::pair<Oid, Oid>> all = referencesTo(core, relation);
   for (RelationPtr at = core.transaction.catalog().relation(relation); at && at->isPartition();) {
      at = core.transaction.catalog().relation(at->parents[0]);
      if (!at) break;
      const std::vector<std::pair<Oid, Oid>>& above = referencesTo(core, at->oid);
      all.insert(all.end(), above.begin(), above.end());
   }
   return all;
}

namespace {

std::vector<uint32_t> storageColumns(const std::vector<int16_t>& attributes) {
   std::vector<uint32_t> columns;
   for (const int16_t attribute : attributes)
      columns.push_back(static_cast<uint32_t>(attribute - 1));
   return columns;
}

} // namespace

ReferencedRows::ReferencedRows(SessionCore& core, const RelationPtr& parent, const std::vector<int16_t>& columns,
                               const RelationPtr& part)
   : core_(core), parent_(parent) {
   const auto parts = parent->partitionKey ? sql::partsOf(core.transaction.catalog(), parent, false) : nullptr;
   if (!parts) {
      parts_.push_back({parent, columns});
      return;
   }
   for (const sql::TablePart& one : parts->parts) {
      if (part && one.relation->oid != part->oid) continue;
      Part& added = parts_.emplace_back();
      added.relation = one.relation;
      for (const int16_t attribute : columns)
         added.columns.push_back(one.attributeOf(attribute));
   }
}

std::shared_ptr<storage::Table> rowsOf(SessionCore& core, const catalog::Relation& relation) {
   if (std::shared_ptr<storage::Table> found = core.database.storage->find(relation.storage)) return found;
   throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update")
       .detail("Table \"" + relation.name + "\" was rewritten or dropped while a foreign key was checked.");
}

storage::Table::KeyPresence ReferencedRows::findKey(uint64_t hash, const std::vector<Value>& key) const {
   storage::Table::KeyPresence found;
   for (const Part& part : parts_) {
      found =
          rowsOf(core_, *part.relation)->findKey(core_.transaction.storage(), storageColumns(part.columns), hash, key);
      if (found.isPresent || found.deleter != 0) break;
   }
   return found;
}

std::optional<ReferencedRows::Keys> ReferencedRows::deletedKeys(uint32_t sinceCommand, size_t rowsMax) const {
   Keys all;
   for (const Part& part : parts_) {
      auto keys = rowsOf(core_, *part.relation)
                      ->deletedKeys(core_.transaction.storage(), sinceCommand, storageColumns(part.columns), rowsMax);
      if (!keys) return std::nullopt;
      all.insert(all.end(), std::make_move_iterator(keys->begin()), std::make_move_iterator(keys->end()));
   }
   return all;
}

} // namespace ouzel::engine
