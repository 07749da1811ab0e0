#include "engine/constraint/referenced_rows.hpp"

#include <algorithm>
#include <iterator>

#include "sql/algebra/table_parts.hpp"
#include "storage/version/write_conflict.hpp"

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

std::vector<Oid> withPartitions(const catalog::Snapshot& snapshot, Oid table) {
   std::vector<Oid> all = {table};
   const RelationPtr relation = snapshot.relation(table);
   if (!relation || !relation->partitionKey) return all;
   const std::vector<Oid> partitions = snapshot.allHeirOids(table);
   all.insert(all.end(), partitions.begin(), partitions.end());
   return all;
}

/// The rows of a transaction's snapshot are those of the objects that it knows.
void requireSameStorage(const catalog::Snapshot& known, const catalog::Snapshot& newest, Oid table) {
   const auto storageOf = [](const catalog::Snapshot& snapshot, Oid oid) {
      const RelationPtr relation = snapshot.relation(oid);
      return relation ? relation->storage : catalog::noStorage;
   };
   const std::vector<Oid> all = withPartitions(known, table);
   if (all == withPartitions(newest, table) &&
       std::all_of(all.begin(), all.end(), [&](Oid oid) { return storageOf(known, oid) == storageOf(newest, oid); }))
      return;
   throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
}

} // namespace

void lockReferenced(SessionCore& core, Oid table, LockMode mode) {
   TransactionContext& transaction = core.transaction;
   std::vector<Oid> locked, all = withPartitions(transaction.catalog(), table);
   while (locked != all) {
      for (const Oid relation : all)
         transaction.lock(relation, mode);
      locked = std::move(all);
      const catalog::Snapshot newest = core.database.catalog->newest().inDatabase(transaction.catalog().database());
      if (newest.version() == transaction.editor().base().version()) return;
      if (transaction.isolation() != Isolation::ReadCommitted)
         return requireSameStorage(transaction.editor().base(), newest, table);
      transaction.seeNewestObjects();
      all = withPartitions(transaction.catalog(), table);
   }
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

bool ReferencedRows::shareKey(uint64_t hash, const std::vector<Value>& key) const {
   while (true) {
      try {
         return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
            return rowsOf(core_, *part.relation)
                ->shareKey(core_.transaction.storage(), storageColumns(part.columns), hash, key);
         });
      } catch (const storage::WriteConflict& conflict) {
         core_.transaction.awaitRow(conflict);
      }
   }
}

std::optional<ReferencedRows::Keys> ReferencedRows::deletedKeys(uint32_t sinceCommand, size_t rowsMax) const {
   Keys all;
   for (const Part& part : parts_) {
      const auto table = core_.database.storage->find(part.relation->storage);
      if (!table) continue; // the transaction has not written there
      auto keys = table->deletedKeys(core_.transaction.storage(), sinceCommand, storageColumns(part.columns), rowsMax);
      if (!keys) return std::nullopt;
      all.insert(all.end(), std::make_move_iterator(keys->begin()), std::make_move_iterator(keys->end()));
   }
   return all;
}

} // namespace ouzel::engine
