#include "engine/constraint/unique_keys.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/verify.hpp"
#include "common/error/check.hpp"
#include "common/thread/stack.hpp"
#include "engine/constraint/constraint_text.hpp"
#include "engine/core/session_services.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

namespace {

/// With more new rows than this, a lock on the table replaces locks on keys.
constexpr size_t keyLocksMax = 10'000;

using catalog::RelationPtr;

/// Checks one unique index of one table.
class UniqueKey {
public:
   UniqueKey(SessionCore& core, RelationPtr table, RelationPtr index)
      : core_(core), table_(std::move(table)), index_(std::move(index)) {
      DCHECK(table_ != nullptr);
      DCHECK(index_ != nullptr && index_->index);
      for (const int16_t attribute : index_->index->columns)
         names_.push_back(catalog::quoteIdentifier(table_->column(attribute)->name));
   }

   void checkNew(uint32_t sinceCommand);
   void checkAll(bool isNew);

private:
   [[noreturn]] void fail(const std::vector<std::string>& values, bool isNew) const;
   [[noreturn]] void fail(const std::vector<Value>& key) const;

   SessionCore& core_;
   const RelationPtr table_, index_;
   std::vector<std::string> names_;
};

void UniqueKey::checkNew(uint32_t sinceCommand) {
   const auto stored = core_.database.storage->find(table_->storage);
   storage::Transaction& transaction = core_.transaction.storage();
   DCHECK(stored != nullptr); // the lock on the relation keeps the table
   std::vector<uint32_t> columns;
   for (const int16_t attribute : index_->index->columns)
      columns.push_back(static_cast<uint32_t>(attribute - 1));
   // Up to this many keys, looking them up one by one is faster than reading the table.
   const size_t lookupsMax = std::max(keyLocksMax, stored->estimatedRows(core_.transaction.snapshot()) / 4);
   const auto keys = stored->newKeys(transaction, sinceCommand, columns, index_->index->nullsNotDistinct, lookupsMax);
   LockManager& locks = core_.transaction.locks();
   LockOwner& owner = core_.transaction.lockOwner();
   if (!keys || keys->rows.size() > keyLocksMax) {
      core_.transaction.lock(table_->oid, LockMode::ShareRowExclusive);
   } else {
      // In the order of hashes, so that two statements cannot wait for each other.
      std::vector<uint64_t> hashes = keys->hashes;
      std::sort(hashes.begin(), hashes.end());
      hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
      for (const uint64_t hash : hashes)
         locks.acquire(owner, LockTag::key(index_->oid, hash), LockMode::Exclusive, core_.transaction.lockWait());
   }
   if (!keys) {
      transaction.nextCommand();
      return checkAll(false);
   }
   while (const auto conflict = stored->findKeyConflict(transaction, *keys)) {
      if (conflict->holder == 0) fail(conflict->key);
      locks.waitForTransaction(owner, conflict->holder, core_.transaction.lockWait());
   }
}

void UniqueKey::checkAll(bool isNew) {
   std::vector<std::string> texts, conditions;
   for (const std::string& name : names_) {
      texts.push_back("CAST(" + name + " AS text)");
      if (!index_->index->nullsNotDistinct) conditions.push_back(name + " IS NOT NULL");
   }
   const NewestSnapshot newest(core_.transaction);
   const auto rows = core_.services.query("SELECT " + joinTexts(texts, ", ") + " FROM " + tableName(core_, *table_) +
                                          (conditions.empty() ? "" : " WHERE " + joinTexts(conditions, " AND ")) +
                                          " GROUP BY " + joinTexts(names_, ", ") + " HAVING count(*) > 1 LIMIT 1");
   if (rows.empty()) return;
   std::vector<std::string> values;
   for (const Value& value : rows[0])
      values.push_back(value.isNull ? "null" : value.bytes);
   fail(values, isNew);
}

void UniqueKey::fail(const std::vector<Value>& key) const {
   DCHECK(key.size() == names_.size());
   fail(keyTexts(core_, *table_, index_->index->columns, key), false);
}

void UniqueKey::fail(const std::vector<std::string>& values, bool isNew) const {
   std::string detail = "Key (" + joinTexts(names_, ", ") + ")=(" + joinTexts(values, ", ") +
                        (isNew ? ") is duplicated." : ") already exists.");
   if (!catalog::mayRead(core_.transaction.catalog(), core_.role(), *table_, index_->index->columns)) detail.clear();
   throw SqlError(sqlstate::uniqueViolation,
                  (isNew ? "could not create unique index \"" : "duplicate key value violates unique constraint \"") +
                      index_->name + "\"")
       .detail(std::move(detail))
       .table(core_.transaction.catalog().schema(table_->schema)->name, table_->name)
       .constraint(index_->name);
}

/// Calls `body(index)` for each unique index.
template <typename Body>
void forEachUniqueIndex(const catalog::Snapshot& snapshot, Oid relation, Body body) {
   for (const auto& index : snapshot.indexesOf(relation))
      if (index->index->isUnique || index->index->isPrimary) body(index);
}

bool isOver(const catalog::Relation& index, std::span<const int16_t> attributes) {
   const auto& columns = index.index->columns;
   return std::any_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
      return std::find(columns.begin(), columns.end(), attribute) != columns.end();
   });
}

/// Whether rows come from tables or functions and not only from the statement's text.
bool readsRows(const sql::Rel& rel) {
   checkStack();
   if (rel.kind == sql::RelKind::Get || rel.kind == sql::RelKind::VirtualGet ||
       rel.kind == sql::RelKind::TableFunction || rel.kind == sql::RelKind::ProjectSet ||
       rel.kind == sql::RelKind::CteScan)
      return true;
   return std::any_of(rel.inputs.begin(), rel.inputs.end(), [](const auto& input) { return readsRows(*input); });
}

/// The rows that a MERGE or ON CONFLICT joins to its target.
const sql::Rel& sourceOf(const sql::Rel& dml) {
   const sql::Rel* rel = dml.inputs[0].get();
   if (dml.as<sql::op::Write>().dml->clause == sql::noColumn) return *rel;
   while (rel->kind == sql::RelKind::Map || rel->kind == sql::RelKind::Select || rel->kind == sql::RelKind::Sort ||
          (rel->kind == sql::RelKind::Join && rel->as<sql::op::Join>().kind == sql::JoinKind::Left))
      rel = rel->inputs[0].get();
   return *rel;
}

bool mayInsertMany(const sql::Rel& rel, Oid relation) {
   const bool inserts = rel.kind == sql::RelKind::Insert || rel.kind == sql::RelKind::Merge;
   const sql::TableRef* table = inserts ? &rel.as<sql::op::Write>().dml->table : nullptr;
   const bool isTarget = table && (table->relation == relation || (table->parts && table->parts->find(relation) >= 0));
   bool found = isTarget && readsRows(sourceOf(rel));
   sql::forEachChild(rel, [&](const sql::RelPtr& child) { found = found || mayInsertMany(*child, relation); });
   return found;
}

} // namespace

bool hasUniqueKeys(const catalog::Snapshot& snapshot, Oid relation) {
   bool has = false;
   forEachUniqueIndex(snapshot, relation, [&](const auto&) { has = true; });
   return has;
}

LockMode lockForWriting(const catalog::Snapshot& snapshot, Oid relation, const sql::Rel& statement) {
   return mayInsertMany(statement, relation) && hasUniqueKeys(snapshot, relation) ? LockMode::ShareRowExclusive
                                                                                  : LockMode::RowExclusive;
}

void checkUniqueKeys(SessionCore& core, Oid relation, uint32_t sinceCommand, std::span<const int16_t> assigned) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const RelationPtr table = snapshot.relation(relation);
   catalog::requireOwnIndexes(snapshot, *table);
   forEachUniqueIndex(snapshot, relation, [&](const RelationPtr& index) {
      if (!assigned.empty() && !isOver(*index, assigned)) return;
      const catalog::Constraint* constraint = table->constraintOf(index->oid);
      if (constraint && core.transaction.defers(*constraint))
         core.transaction.defer({relation, constraint->oid, sinceCommand});
      else
         UniqueKey(core, table, index).checkNew(sinceCommand);
   });
}

void checkDeferredUniqueKey(SessionCore& core, const RelationPtr& table, const catalog::Constraint& constraint,
                            uint32_t sinceCommand) {
   const RelationPtr index = core.transaction.catalog().relation(constraint.index);
   if (index) UniqueKey(core, table, index).checkNew(sinceCommand);
}

void checkUniqueKeysOfTable(SessionCore& core, Oid relation, bool isNew) {
   core.transaction.storage().nextCommand();
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const RelationPtr table = snapshot.relation(relation);
   if (table->partitionKey) return; // its partitions have the rows, and keys of their own
   forEachUniqueIndex(snapshot, relation,
                      [&](const RelationPtr& index) { UniqueKey(core, table, index).checkAll(isNew); });
}

} // namespace ouzel::engine
