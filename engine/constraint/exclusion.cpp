#include "engine/constraint/exclusion.hpp"

#include <algorithm>
#include <map>

#include "catalog/object/acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/value/range_types.hpp"
#include "engine/constraint/constraint_text.hpp"
#include "engine/core/session_services.hpp"

namespace ouzel::engine {

namespace {

/// With more new rows than this, all rows of the table are compared.
constexpr size_t joinedRowsMax = 250;

using catalog::RelationPtr;

class Exclusion {
public:
   Exclusion(SessionCore& core, RelationPtr table, RelationPtr index)
      : core_(core), table_(std::move(table)), index_(std::move(index)), definition_(*index_->index) {
      for (size_t i = 0; i < definition_.columns.size(); ++i)
         names_.push_back(catalog::indexKeyText(*table_, definition_, i));
   }

   void checkNew(uint32_t sinceCommand);
   void checkAll(bool isNew);

private:
   using Rows = std::vector<std::vector<Value>>;

   bool isEqual(size_t i) const { return operatorName(i) == "="; }
   std::string_view operatorName(size_t i) const {
      return catalog::builtins().operatorByOid(definition_.operators[i])->name;
   }
   /// "a.k0 OPERATOR(pg_catalog.=) b.k0 AND ..."
   std::string conditions(const std::string& a, const std::string& b) const;
   /// "a.k0, a.k1, ...", each within `before` and `after`.
   std::string keys(const std::string& prefix, const char* before = "", const char* after = "") const;
   /// The rows that the constraint looks at, with k0, k1, ... as columns.
   std::string candidates(const std::string& further = {}) const;
   void lockKeys(storage::Table& stored, uint32_t sinceCommand);
   std::string newRows(const std::vector<std::vector<Value>>& keys) const;
   void findConflict(const std::string& newRows, const Rows& met);
   Rows query(const std::string& sql) {
      const NewestSnapshot newest(core_.transaction);
      return core_.services.query(sql);
   }
   std::string overlapping() const;
   [[noreturn]] void fail(const std::vector<Value>& row, bool isNew) const;

   SessionCore& core_;
   const RelationPtr table_, index_;
   const catalog::IndexDefinition& definition_;
   std::vector<std::string> names_;
};

std::string Exclusion::conditions(const std::string& a, const std::string& b) const {
   std::vector<std::string> all;
   for (size_t i = 0; i < names_.size(); ++i) {
      const std::string key = ".k" + std::to_string(i);
      all.push_back(a + key + " OPERATOR(pg_catalog." + std::string(operatorName(i)) + ") " + b + key);
   }
   return joinTexts(all, " AND ");
}

std::string Exclusion::keys(const std::string& prefix, const char* before, const char* after) const {
   std::vector<std::string> all;
   for (size_t i = 0; i < names_.size(); ++i)
      all.push_back(before + prefix + "k" + std::to_string(i) + after);
   return joinTexts(all, ", ");
}

std::string Exclusion::candidates(const std::string& further) const {
   std::vector<std::string> columns, where;
   for (size_t i = 0; i < names_.size(); ++i) {
      columns.push_back(names_[i] + " AS k" + std::to_string(i));
      where.push_back(names_[i] + " IS NOT NULL");
   }
   if (!definition_.predicate.empty()) where.insert(where.begin(), "(" + definition_.predicate + ")");
   return "(SELECT " + joinTexts(columns, ", ") + further + " FROM " + tableName(core_, *table_) + " WHERE " +
          joinTexts(where, " AND ") + ")";
}

void Exclusion::lockKeys(storage::Table& stored, uint32_t sinceCommand) {
   LockManager& locks = core_.transaction.locks();
   std::vector<uint64_t> hashes{0};
   std::vector<uint32_t> equalColumns;
   for (size_t i = 0; i < definition_.columns.size(); ++i)
      if (isEqual(i) && definition_.columns[i] > 0)
         equalColumns.push_back(static_cast<uint32_t>(definition_.columns[i] - 1));
   if (!equalColumns.empty()) {
      const auto equal = stored.newKeys(core_.transaction.storage(), sinceCommand, equalColumns, false, joinedRowsMax);
      if (equal) hashes = equal->hashes;
   }
   std::sort(hashes.begin(), hashes.end());
   hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
   for (const uint64_t hash : hashes)
      locks.acquire(core_.transaction.lockOwner(), LockTag::key(index_->oid, hash), LockMode::Exclusive,
                    core_.transaction.lockWait());
}

/// The new rows as a CTE "n", numbered in the order in which they were written.
std::string Exclusion::newRows(const std::vector<std::vector<Value>>& keys) const {
   std::vector<SqlType> types;
   for (size_t i = 0; i < names_.size(); ++i)
      types.push_back(index_->columns[i].type);
   std::vector<std::string> rows;
   for (size_t row = 0; row < keys.size(); ++row)
      rows.push_back("(" + std::to_string(row) + ", " + joinTexts(valueLiterals(core_, types, keys[row]), ", ") + ")");
   return "WITH n(i, " + this->keys("") + ") AS MATERIALIZED (VALUES " + joinTexts(rows, ", ") + ") ";
}

void Exclusion::checkNew(uint32_t sinceCommand) {
   const auto stored = core_.database.storage->find(table_->storage);
   DCHECK(stored != nullptr); // the lock on the relation keeps the table
   storage::Transaction& transaction = core_.transaction.storage();
   const auto computed = core_.computedIndexes().of(core_.transaction.catalog(), index_);
   std::vector<uint32_t> columns;
   if (computed)
      columns = computed->computed->inputs();
   else
      for (const int16_t attribute : definition_.columns)
         columns.push_back(static_cast<uint32_t>(attribute - 1));
   const auto added = stored->newKeys(transaction, sinceCommand, columns, false, joinedRowsMax,
                                      computed ? computed->computed : nullptr);
   if (added && added->rows.empty()) return;
   lockKeys(*stored, sinceCommand);
   if (!added) {
      transaction.nextCommand();
      return checkAll(false);
   }
   std::vector<std::vector<Value>> keys;
   for (size_t i = 0; i < added->rows.size(); ++i)
      keys.push_back(stored->newKey(transaction, *added, i));
   transaction.nextCommand(); // the query reads the new rows
   const std::string rows = newRows(keys);
   // A row meets itself, unless its operators are not true of equal values.
   const Rows met = query(rows + "SELECT n.i, count(*), bool_and(" + conditions("n", "n") + ") FROM n JOIN " +
                          candidates() + " t ON " + conditions("t", "n") + " GROUP BY n.i ORDER BY n.i");
   const bool isSuspect =
       std::any_of(met.begin(), met.end(), [](const auto& row) { return row[1].i64 > (row[2].i64 != 0 ? 1 : 0); });
   if (isSuspect) findConflict(rows, met);
}

/// Throws for the first new row that conflicts with one that was there before it.
void Exclusion::findConflict(const std::string& newRows, const Rows& met) {
   std::map<int64_t, int64_t> later; // of each new row, the conflicts with those behind it
   for (const auto& row : query(newRows + "SELECT a.i, count(*) FROM n a JOIN n b ON b.i > a.i AND " +
                                conditions("a", "b") + " GROUP BY a.i"))
      later[row[0].i64] = row[1].i64;
   for (const auto& row : met) {
      const int64_t itself = row[2].i64 != 0 ? 1 : 0;
      if (row[1].i64 - itself - later[row[0].i64] <= 0) continue;
      const std::string number = std::to_string(row[0].i64);
      const Rows found = query(newRows + "SELECT " + keys("n.", "CAST(", " AS text)") + ", " +
                               keys("t.", "CAST(", " AS text)") + " FROM n JOIN " + candidates() + " t ON " +
                               conditions("t", "n") + " WHERE n.i = " + number + " ORDER BY (" + keys("t.") + ") = (" +
                               keys("n.") + "), EXISTS (SELECT 1 FROM n l WHERE l.i > n.i AND (" + keys("l.") +
                               ") = (" + keys("t.") + ")) LIMIT 1");
      if (!found.empty()) fail(found[0], false);
   }
}

/// Pairs of rows that conflict, found by sorting ranges: if any two of a group overlap, two neighbours do. Empty: the
/// constraint is of another form.
std::string Exclusion::overlapping() const {
   std::vector<std::string> groups;
   std::string range;
   for (size_t i = 0; i < names_.size(); ++i) {
      const std::string key = "k" + std::to_string(i);
      if (isEqual(i)) {
         groups.push_back(key);
         continue;
      }
      if (operatorName(i) != "&&" || !range.empty() || !findRangeType(index_->columns[i].type.oid)) return {};
      range = key;
   }
   if (range.empty()) return {};
   const std::string partition = groups.empty() ? "" : "PARTITION BY " + joinTexts(groups, ", ") + " ";
   std::vector<std::string> before;
   for (size_t i = 0; i < names_.size(); ++i) {
      const std::string key = "k" + std::to_string(i);
      before.push_back((key == range ? "lag(" + key + ") OVER w" : key) + " AS b" + std::to_string(i));
   }
   const std::string sorted = "(SELECT " + keys("") + ", " + joinTexts(before, ", ") + " FROM " + candidates() +
                              " t WHERE NOT isempty(" + range + ") WINDOW w AS (" + partition + "ORDER BY " + range +
                              "))";
   std::vector<std::string> texts;
   for (const char* prefix : {"k", "b"})
      for (size_t i = 0; i < names_.size(); ++i)
         texts.push_back("CAST(" + std::string(prefix) + std::to_string(i) + " AS text)");
   return "SELECT " + joinTexts(texts, ", ") + " FROM " + sorted + " s WHERE " + range + " && b" + range.substr(1) +
          " LIMIT 1";
}

void Exclusion::checkAll(bool isNew) {
   std::string sql = overlapping();
   if (sql.empty())
      sql = "WITH r AS MATERIALIZED " + candidates(", row_number() OVER () AS i") + " SELECT " +
            keys("a.", "CAST(", " AS text)") + ", " + keys("b.", "CAST(", " AS text)") +
            " FROM r a JOIN r b ON a.i > b.i AND " + conditions("a", "b") + " LIMIT 1";
   const Rows found = query(sql);
   if (!found.empty()) fail(found[0], isNew);
}

void Exclusion::fail(const std::vector<Value>& row, bool isNew) const {
   std::vector<std::string> texts;
   for (const Value& value : row)
      texts.push_back(value.isNull ? "null" : value.bytes);
   const size_t count = names_.size();
   const std::vector<std::string> own(texts.begin(), texts.begin() + static_cast<ptrdiff_t>(count)),
       other(texts.begin() + static_cast<ptrdiff_t>(count), texts.end());
   const std::string key = "(" + joinTexts(names_, ", ") + ")=(";
   std::string detail = "Key " + key + joinTexts(own, ", ") + ") conflicts with " + (isNew ? "key " : "existing key ") +
                        key + joinTexts(other, ", ") + ").";
   if (!catalog::mayRead(core_.transaction.catalog(), core_.role(), *table_, definition_.columns)) detail.clear();
   throw SqlError(sqlstate::exclusionViolation,
                  isNew ? "could not create exclusion constraint \"" + index_->name + "\""
                        : "conflicting key value violates exclusion constraint \"" + index_->name + "\"")
       .detail(std::move(detail))
       .table(core_.transaction.catalog().schema(table_->schema)->name, table_->name)
       .constraint(index_->name);
}

} // namespace

bool excludesEqual(const catalog::Relation& index) {
   const auto& operators = index.index->operators;
   return !operators.empty() && std::all_of(operators.begin(), operators.end(),
                                            [](Oid op) { return catalog::builtins().operatorByOid(op)->name == "="; });
}

void checkExclusion(SessionCore& core, const RelationPtr& table, const RelationPtr& index, uint32_t sinceCommand) {
   Exclusion(core, table, index).checkNew(sinceCommand);
}

void checkExclusionOfTable(SessionCore& core, const RelationPtr& table, const RelationPtr& index, bool isNew) {
   Exclusion(core, table, index).checkAll(isNew);
}

} // namespace ouzel::engine
