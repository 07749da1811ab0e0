#include "engine/constraint/unique_keys.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/verify.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/check.hpp"
#include "common/thread/stack.hpp"
#include "engine/constraint/constraint_text.hpp"
#include "engine/constraint/exclusion.hpp"
#include "engine/core/session_services.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

namespace {

/// With more new rows than this, a lock on the table replaces locks on keys.
constexpr size_t keyLocksMax = 10'000;

using catalog::RelationPtr;

/// Whether no two rows may have the same key. An exclusion constraint may say so, too.
bool isEnforced(const catalog::Relation& index) {
   return index.index->isUnique || excludesEqual(index);
}

/// Checks one unique index of one table.
class UniqueKey {
public:
   UniqueKey(SessionCore& core, RelationPtr table, RelationPtr index)
      : core_(core), table_(std::move(table)), index_(std::move(index)) {
      DCHECK(table_ != nullptr);
      DCHECK(index_ != nullptr && index_->index);
      for (size_t i = 0; i < index_->index->columns.size(); ++i)
         names_.push_back(catalog::indexKeyText(*table_, *index_->index, i));
   }

   void checkNew(uint32_t sinceCommand);
   void checkAll(bool isNew);

private:
   void computeAll();
   /// The name of key column `i` with the index's collation, if it is not that of the column.
   std::string collatedName(size_t i) const;
   /// The values of the new row with the key: a collation key is nothing to show.
   std::vector<std::string> newValues(const storage::Table::NewKeys& keys, const std::vector<Value>& key) const;
   SqlError violation(const std::vector<std::string>& values, bool isNew) const;
   SqlError violation(const storage::Table::NewKeys& keys, const std::vector<Value>& key) const;

   SessionCore& core_;
   const RelationPtr table_, index_;
   std::vector<std::string> names_; ///< of the key's columns; SQL
};

bool mayFail(const sql::plan::ComputedIndex& index) {
   const auto fails = [](const sql::ExprPtr& expr) { return sql::mayFail(*expr); };
   return std::any_of(index.key.begin(), index.key.end(), fails) ||
          std::any_of(index.predicate.begin(), index.predicate.end(), fails);
}

void UniqueKey::checkNew(uint32_t sinceCommand) {
   const auto stored = core_.database.storage->find(table_->storage);
   storage::Transaction& transaction = core_.transaction.storage();
   DCHECK(stored != nullptr); // the lock on the relation keeps the table
   const auto computed = core_.computedIndexes().of(core_.transaction.catalog(), index_);
   std::vector<uint32_t> columns;
   if (computed)
      columns = computed->computed->inputs();
   else
      for (const int16_t attribute : index_->index->columns)
         columns.push_back(static_cast<uint32_t>(attribute - 1));
   // Up to this many keys, looking them up one by one is faster than reading the table.
   const bool isUnique = isEnforced(*index_);
   if (!isUnique && !mayFail(*computed)) return;
   const size_t lookupsMax =
       !isUnique ? SIZE_MAX : std::max(keyLocksMax, stored->estimatedRows(core_.transaction.snapshot()) / 4);
   const auto keys = stored->newKeys(transaction, sinceCommand, columns, index_->index->nullsNotDistinct, lookupsMax,
                                     computed ? computed->computed : nullptr);
   if (!isUnique) return; // the keys can be computed
   LockManager& locks = core_.transaction.locks();
   LockOwner& owner = core_.transaction.lockOwner();
   const bool locksTable = !keys || keys->rows.size() > keyLocksMax;
   // In the order of hashes, so that two statements cannot wait for each other.
   std::vector<uint64_t> hashes = locksTable ? std::vector<uint64_t>() : keys->hashes;
   std::sort(hashes.begin(), hashes.end());
   hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
   const size_t before = owner.position();
   const auto lockKeys = [&] {
      if (locksTable) core_.transaction.lock(table_->oid, LockMode::ShareRowExclusive);
      for (const uint64_t hash : hashes)
         locks.acquire(owner, LockTag::key(index_->oid, hash), LockMode::Exclusive, core_.transaction.lockWait());
   };
   lockKeys();
   if (!keys) {
      transaction.nextCommand();
      return checkAll(false);
   }
   while (const auto conflict = stored->findKeyConflict(transaction, core_.transaction.snapshot(), *keys)) {
      if (conflict->holder == 0) {
         SqlError error = violation(*keys, conflict->key);
         if (conflict->isLate) throw LateViolation(std::move(error));
         throw error;
      }
      // Without the keys: a transaction that has updated the row, and not the key, waits for the key before it ends.
      locks.releaseTo(owner, before);
      locks.waitForTransaction(owner, conflict->holder, core_.transaction.lockWait());
      lockKeys();
   }
}

void UniqueKey::checkAll(bool isNew) {
   if (!isEnforced(*index_)) return computeAll();
   std::vector<std::string> texts, conditions;
   if (!index_->index->predicate.empty()) conditions.push_back("(" + index_->index->predicate + ")");
   std::vector<std::string> keys;
   for (size_t i = 0; i < names_.size(); ++i) {
      const std::string& name = names_[i];
      keys.push_back(collatedName(i));
      const std::string text = "CAST(" + name + " AS text)";
      texts.push_back(keys.back() == name ? text : "min(" + text + " COLLATE pg_catalog.\"C\")");
      if (!index_->index->nullsNotDistinct) conditions.push_back(name + " IS NOT NULL");
   }
   const NewestSnapshot newest(core_.transaction);
   const auto rows = core_.services.query("SELECT " + joinTexts(texts, ", ") + " FROM " + tableName(core_, *table_) +
                                          (conditions.empty() ? "" : " WHERE " + joinTexts(conditions, " AND ")) +
                                          " GROUP BY " + joinTexts(keys, ", ") + " HAVING count(*) > 1 LIMIT 1");
   if (rows.empty()) return;
   std::vector<std::string> values;
   for (const Value& value : rows[0])
      values.push_back(value.isNull ? "null" : value.bytes);
   throw violation(values, isNew);
}

std::string UniqueKey::collatedName(size_t i) const {
   const catalog::Snapshot& snapshot = core_.transaction.catalog();
   const int16_t attribute = index_->index->columns[i];
   const Oid collation = index_->columns.at(i).type.collation;
   const Oid own = attribute != 0 ? table_->column(attribute)->type.collation : invalidOid; // unknown of an expression
   const bool isAlike = attribute != 0 ? !catalog::isNondeterministic(snapshot, own) : snapshot.collations().empty();
   if (own == collation || (isAlike && !catalog::isNondeterministic(snapshot, collation))) return names_[i];
   const auto info = catalog::collationInfo(snapshot, collation);
   if (!info) return names_[i];
   return names_[i] + " COLLATE " + catalog::quoteIdentifier(snapshot.schema(info->schema)->name) + "." +
          catalog::quoteIdentifier(info->name);
}

std::vector<std::string> UniqueKey::newValues(const storage::Table::NewKeys& keys,
                                              const std::vector<Value>& key) const {
   const auto stored = core_.database.storage->find(table_->storage);
   storage::Transaction& transaction = core_.transaction.storage();
   const std::vector<int16_t>& attributes = index_->index->columns;
   storage::Table::NewKeys plain = keys;
   plain.columns.clear();
   plain.computed = nullptr;
   for (const int16_t attribute : attributes) {
      if (attribute == 0) return {};
      plain.columns.push_back(static_cast<uint32_t>(attribute - 1));
   }
   for (size_t row = 0; row < keys.rows.size(); ++row) {
      const std::vector<Value> own = stored->newKey(transaction, keys, row);
      if (std::equal(own.begin(), own.end(), key.begin(), key.end(),
                     [](const Value& a, const Value& b) { return a.identical(b); }))
         return keyTexts(core_, *table_, attributes, stored->newKey(transaction, plain, row));
   }
   return {};
}

/// Computes the key of every row, for the errors of its expressions.
void UniqueKey::computeAll() {
   const NewestSnapshot newest(core_.transaction);
   std::vector<std::string> counts;
   for (const std::string& name : names_)
      counts.push_back("count(" + name + ")");
   const std::string& predicate = index_->index->predicate;
   core_.services.query("SELECT " + joinTexts(counts, ", ") + " FROM " + tableName(core_, *table_) +
                        (predicate.empty() ? "" : " WHERE " + predicate));
}

SqlError UniqueKey::violation(const storage::Table::NewKeys& keys, const std::vector<Value>& key) const {
   DCHECK(key.size() == names_.size());
   if (index_->index->hasCollationKeys) return violation(newValues(keys, key), false);
   const auto computed = core_.computedIndexes().of(core_.transaction.catalog(), index_);
   return violation(computed ? keyTexts(core_, computed->computed->types(), key)
                             : keyTexts(core_, *table_, index_->index->columns, key),
                    false);
}

SqlError UniqueKey::violation(const std::vector<std::string>& values, bool isNew) const {
   const std::string key = "Key (" + joinTexts(names_, ", ") + ")=(" + joinTexts(values, ", ") + ")";
   const bool excludes = !index_->index->isUnique;
   std::string detail = key + (isNew ? " is duplicated." : " already exists.");
   if (excludes) detail = key + (isNew ? " conflicts with k" : " conflicts with existing k") + key.substr(1) + ".";
   if (values.empty() || !catalog::mayRead(core_.transaction.catalog(), core_.role(), *table_, index_->index->columns))
      detail.clear();
   const char* message = excludes && isNew ? "could not create exclusion constraint \""
                         : excludes        ? "conflicting key value violates exclusion constraint \""
                         : isNew           ? "could not create unique index \""
                                           : "duplicate key value violates unique constraint \"";
   return SqlError(excludes ? sqlstate::exclusionViolation : sqlstate::uniqueViolation, message + index_->name + "\"")
       .detail(std::move(detail))
       .table(core_.transaction.catalog().schema(table_->schema)->name, table_->name)
       .constraint(index_->name)
       .routine(excludes ? "check_exclusion_or_unique_constraint" : "_bt_check_unique");
}

/// Calls `body(index)` for each unique index and exclusion constraint, and for those whose keys have to be computed,
/// which may be an error.
template <typename Body>
void forEachCheckedIndex(const catalog::Snapshot& snapshot, Oid relation, Body body) {
   for (const auto& index : snapshot.indexesOf(relation))
      if (index->index->isUnique || index->index->isPrimary || index->index->isComputed() ||
          !index->index->operators.empty())
         body(index);
}

void checkNew(SessionCore& core, const RelationPtr& table, const RelationPtr& index, uint32_t sinceCommand) {
   if (!index->index->operators.empty() && !excludesEqual(*index))
      return checkExclusion(core, table, index, sinceCommand);
   UniqueKey(core, table, index).checkNew(sinceCommand);
}

bool isOver(const catalog::Relation& index, std::span<const int16_t> attributes) {
   const auto isIn = [](const std::vector<int16_t>& list, int16_t attribute) {
      return std::find(list.begin(), list.end(), attribute) != list.end();
   };
   return std::any_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
      return isIn(index.index->columns, attribute) || isIn(index.index->reads, attribute);
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
   forEachCheckedIndex(snapshot, relation, [&](const RelationPtr& index) {
      has = has || index->index->isUnique || !index->index->operators.empty();
   });
   return has;
}

bool hasCheckedIndexes(const catalog::Snapshot& snapshot, Oid relation) {
   bool has = false;
   forEachCheckedIndex(snapshot, relation, [&](const RelationPtr&) { has = true; });
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
   forEachCheckedIndex(snapshot, relation, [&](const RelationPtr& index) {
      if (!assigned.empty() && !isOver(*index, assigned)) return;
      const catalog::Constraint* constraint = table->constraintOf(index->oid);
      if (constraint && core.transaction.defers(*constraint))
         core.transaction.defer({relation, constraint->oid, sinceCommand});
      else
         checkNew(core, table, index, sinceCommand);
   });
}

void checkDeferredUniqueKey(SessionCore& core, const RelationPtr& table, const catalog::Constraint& constraint,
                            uint32_t sinceCommand) {
   const RelationPtr index = core.transaction.catalog().relation(constraint.index);
   if (index) checkNew(core, table, index, sinceCommand);
}

void checkUniqueKeysOfTable(SessionCore& core, Oid relation, bool isNew) {
   core.transaction.storage().nextCommand();
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const RelationPtr table = snapshot.relation(relation);
   if (table->partitionKey) return; // its partitions have the rows, and keys of their own
   forEachCheckedIndex(snapshot, relation, [&](const RelationPtr& index) {
      if (!index->index->operators.empty() && !excludesEqual(*index))
         checkExclusionOfTable(core, table, index, isNew);
      else
         UniqueKey(core, table, index).checkAll(isNew);
   });
}

} // namespace ouzel::engine
