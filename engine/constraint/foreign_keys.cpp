#include "engine/constraint/foreign_keys.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/verify.hpp"
#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "common/error/check.hpp"
#include "common/thread/stack.hpp"
#include "engine/constraint/constraint_text.hpp"
#include "engine/constraint/referenced_rows.hpp"
#include "engine/core/session_services.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::engine {

namespace {

using catalog::Constraint;
using catalog::RelationPtr;

/// Above these numbers of keys, tables are joined instead of looking keys up.
constexpr size_t childKeysMax = 10'000, parentKeysMax = 1'000;

constexpr char noAction = 'a', restrict_ = 'r', cascade = 'c', setNull = 'n';

bool hasNull(const std::vector<Value>& key) {
   return std::any_of(key.begin(), key.end(), [](const Value& value) { return value.isNull; });
}

/// How a statement removes keys from a table: by DELETE, by UPDATE or by both.
struct RowsGone {
   bool byDelete = false, byUpdate = false;
   std::vector<int16_t> updated; ///< attributes that UPDATE assigns
};

const sql::TablePart* partOf(const sql::TableRef& table, Oid relation) {
   const int32_t part = table.parts ? table.parts->find(relation) : -1;
   return part < 0 ? nullptr : &table.parts->parts[static_cast<size_t>(part)];
}

void collectRowsGone(const sql::plan::Node& node, Oid relation, RowsGone& gone) {
   checkStack();
   const auto* write = node.getIf<sql::plan::Write>();
   const sql::TablePart* part = write ? partOf(write->dml->table, relation) : nullptr;
   if (write && (part || write->dml->table.relation == relation)) {
      const auto has = [&](sql::DmlAction action) {
         const auto& actions = write->dml->actions;
         return std::find(actions.begin(), actions.end(), action) != actions.end();
      };
      if (node.kind == sql::plan::NodeKind::Delete || has(sql::DmlAction::Delete)) gone.byDelete = true;
      if (node.kind == sql::plan::NodeKind::Update || has(sql::DmlAction::Update)) gone.byUpdate = true;
      for (const int16_t attribute : write->dml->assigned)
         gone.updated.push_back(part ? part->attributeOf(attribute) : attribute);
   }
   for (const auto& child : node.children)
      collectRowsGone(*child, relation, gone);
   for (const sql::plan::CtePlan& cte : node.ctes())
      collectRowsGone(*cte.plan, relation, gone);
}

RowsGone rowsGone(const sql::plan::Plan& plan, Oid relation) {
   RowsGone gone;
   collectRowsGone(*plan.root, relation, gone);
   return gone;
}

bool haveCommon(const std::vector<int16_t>& a, const std::vector<int16_t>& b) {
   return std::any_of(a.begin(), a.end(), [&](int16_t one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

/// One foreign key between its two tables. childColumns_ and parentColumns_ are in the order of the parent's unique
/// index.
class ForeignKeyCheck {
public:
   /// `part`: the partition of the parent whose rows are gone; null: the parent has its rows itself, or any partition.
   ForeignKeyCheck(SessionCore& core, RelationPtr child, const Constraint& constraint,
                   const RelationPtr& part = nullptr)
      : core_(core), child_(std::move(child)), constraint_(constraint),
        parent_(core.transaction.catalog().relation(constraint.foreignRelation)) {
      DCHECK(parent_ != nullptr);
      const RelationPtr index = catalog::requireReferencedIndex(core.transaction.catalog(), *child_, constraint);
      DCHECK(constraint.columns.size() == constraint.foreignColumns.size());
      for (const int16_t attribute : index->index->columns)
         for (size_t i = 0; i < constraint.foreignColumns.size(); ++i)
            if (constraint.foreignColumns[i] == attribute) {
               childColumns_.push_back(constraint.columns[i]);
               parentColumns_.push_back(attribute);
            }
      DCHECK(childColumns_.size() == constraint.columns.size()); // each has a partner in the index
      parents_.emplace(core, parent_, parentColumns_, part);
      childTable_ = tableName(core, *child_);
      parentTable_ = tableName(core, *parent_);
   }

   /// New rows of the child must have a parent. REQUIRES: lockReferenced().
   void checkReferencing(uint32_t sinceCommand);
   /// Check or act on the children of parent rows that were deleted or changed.
   void followDeleted(uint32_t sinceCommand, const RowsGone& gone);
   /// All rows of the child must have a parent.
   void checkAllReferencing();
   /// The parents deleted since the command must have no children.
   void checkAllReferenced(uint32_t sinceCommand);

private:
   using Keys = std::vector<std::vector<Value>>;

   static std::vector<uint32_t> storageColumns(const std::vector<int16_t>& attributes) {
      std::vector<uint32_t> columns;
      for (const int16_t attribute : attributes)
         columns.push_back(static_cast<uint32_t>(attribute - 1));
      return columns;
   }
   bool canLookUp() const;
   std::string orphans(const Keys* keys) const;
   std::vector<std::string> comparedColumns() const;
   std::string values(const Keys& keys, const std::vector<int16_t>& columns) const;
   std::vector<std::vector<Value>> anyOrphan(const Keys* keys) const;
   void failReferenced(const Keys* keys) const;
   void cascadeUpdate(const Keys& oldKeys, uint32_t sinceCommand);
   void checkSerializable(const Keys* keys) const;
   void requireNeverSeen(const std::vector<Value>& key) const;
   [[noreturn]] void failReferencing(const std::vector<std::string>& texts) const;
   std::vector<std::string> namesOf(const RelationPtr& relation, const std::vector<int16_t>& attributes) const {
      std::vector<std::string> names;
      for (const int16_t attribute : attributes)
         names.push_back(catalog::quoteIdentifier(relation->column(attribute)->name));
      return names;
   }
   /// "(a, b)=(1, x)" in the order the constraint was written.
   std::string keyDetail(const RelationPtr& relation, const std::vector<int16_t>& attributes,
                         const std::vector<std::string>& texts) const;

   SessionCore& core_;
   const RelationPtr child_;
   const Constraint& constraint_;
   const RelationPtr parent_;
   std::vector<int16_t> childColumns_, parentColumns_;
   std::optional<ReferencedRows> parents_;
   std::string childTable_, parentTable_;
};

bool isNumber(Oid type) {
   return type == oid::int2 || type == oid::int4 || type == oid::int8 || type == oid::numeric;
}

bool isText(Oid type) {
   return type == oid::text || type == oid::varchar;
}

/// Whether equal keys of both tables have equal stored values and hashes. False for date with timestamp, text with
/// char(n), and where the parent's collation has texts as equal that are not the same.
bool ForeignKeyCheck::canLookUp() const {
   for (size_t i = 0; i < childColumns_.size(); ++i) {
      const SqlType& ofChild = child_->column(childColumns_[i])->type;
      const SqlType& ofParent = parent_->column(parentColumns_[i])->type;
      const Representation a = storedRepresentation(ofChild), b = storedRepresentation(ofParent);
      const bool areNumbers = isNumber(ofChild.oid) && isNumber(ofParent.oid) && a.physical <= PhysicalType::I64 &&
                              b.physical <= PhysicalType::I64 && a.scale == b.scale;
      const bool areAlike = ofChild.oid == ofParent.oid || (isText(ofChild.oid) && isText(ofParent.oid));
      if (!areNumbers && !(areAlike && a == b)) return false;
      if (catalog::isNondeterministic(core_.transaction.catalog(), ofParent.collation)) return false;
   }
   return true;
}

std::string ForeignKeyCheck::keyDetail(const RelationPtr& relation, const std::vector<int16_t>& attributes,
                                       const std::vector<std::string>& texts) const {
   const auto& written =
       relation->oid == child_->oid && attributes == childColumns_ ? constraint_.columns : constraint_.foreignColumns;
   std::vector<std::string> names, values;
   for (const int16_t attribute : written)
      for (size_t i = 0; i < attributes.size(); ++i)
         if (attributes[i] == attribute) {
            names.push_back(relation->column(attribute)->name);
            values.push_back(texts[i]);
         }
   return "Key (" + joinTexts(names, ", ") + ")=(" + joinTexts(values, ", ") + ")";
}

void ForeignKeyCheck::failReferencing(const std::vector<std::string>& texts) const {
   throw SqlError(sqlstate::foreignKeyViolation, "insert or update on table \"" + child_->name +
                                                     "\" violates foreign key constraint \"" + constraint_.name + "\"")
       .detail(catalog::mayRead(core_.transaction.catalog(), core_.role(), *child_, childColumns_)
                   ? keyDetail(child_, childColumns_, texts) + " is not present in table \"" + parent_->name + "\"."
                   : "Key is not present in table \"" + parent_->name + "\".")
       .table(core_.transaction.catalog().schema(child_->schema)->name, child_->name)
       .constraint(constraint_.name)
       .routine("ri_ReportViolation");
}

void ForeignKeyCheck::checkReferencing(uint32_t sinceCommand) {
   if (child_->partitionKey) return; // its partitions have the constraint, too
   const std::shared_ptr<storage::Table> stored = rowsOf(core_, *child_);
   storage::Table& table = *stored;
   storage::Transaction& transaction = core_.transaction.storage();
   const bool isFull = constraint_.match == 'f';
   const auto keys = table.newKeys(transaction, sinceCommand, storageColumns(childColumns_), isFull, childKeysMax);
   if (!keys || !canLookUp()) {
      lockReferenced(core_, parent_->oid, LockMode::Share); // until the end nobody deletes a parent
      return checkAllReferencing();
   }
   for (size_t i = 0; i < keys->rows.size(); ++i) {
      const std::vector<Value> key = table.newKey(transaction, *keys, i);
      if (isFull && hasNull(key)) {
         if (std::all_of(key.begin(), key.end(), [](const Value& value) { return value.isNull; })) continue;
         throw SqlError(sqlstate::foreignKeyViolation, "insert or update on table \"" + child_->name +
                                                           "\" violates foreign key constraint \"" + constraint_.name +
                                                           "\"")
             .detail("MATCH FULL does not allow mixing of null and nonnull key values.")
             .table(core_.transaction.catalog().schema(child_->schema)->name, child_->name)
             .constraint(constraint_.name)
             .routine("ri_ReportViolation");
      }
      if (parents_->shareKey(keys->hashes[i], key)) continue;
      requireNeverSeen(key);
      failReferencing(keyTexts(core_, *child_, childColumns_, key));
   }
}

/// Throws 40001 when the transaction's snapshot still shows the parent: a concurrent commit has removed it.
void ForeignKeyCheck::requireNeverSeen(const std::vector<Value>& key) const {
   if (core_.transaction.isolation() == Isolation::ReadCommitted) return;
   const std::vector<std::string> literals = keyLiterals(core_, *child_, childColumns_, key),
                                  names = namesOf(parent_, parentColumns_);
   std::vector<std::string> conditions;
   for (size_t i = 0; i < names.size(); ++i)
      conditions.push_back(names[i] + " = " + literals[i]);
   if (!core_.services.query("SELECT 1 FROM " + parentTable_ + " WHERE " + joinTexts(conditions, " AND ")).empty())
      throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
}

/// The columns of the child c in the form that compares with the parent's: as char(n) when the parent's are char(n),
/// and by the parent's collations.
std::vector<std::string> ForeignKeyCheck::comparedColumns() const {
   std::vector<std::string> columns = namesOf(child_, childColumns_);
   for (size_t i = 0; i < columns.size(); ++i) {
      columns[i] = "c." + columns[i];
      if (parent_->column(parentColumns_[i])->type.oid == oid::bpchar &&
          child_->column(childColumns_[i])->type.oid != oid::bpchar)
         columns[i] = "CAST(" + columns[i] + " AS bpchar)";
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      const Oid collation = parent_->column(parentColumns_[i])->type.collation;
      if (collation == child_->column(childColumns_[i])->type.collation) continue;
      if (const auto info = catalog::collationInfo(snapshot, collation))
         columns[i] += " COLLATE " + catalog::quoteIdentifier(snapshot.schema(info->schema)->name) + "." +
                       catalog::quoteIdentifier(info->name);
   }
   return columns;
}

/// Condition for orphans among the rows c of the child: the key is not NULL and no parent row has it. With `keys`, only
/// keys equal to the row v of values().
std::string ForeignKeyCheck::orphans(const Keys* keys) const {
   const std::vector<std::string> childNames = comparedColumns(), parentNames = namesOf(parent_, parentColumns_);
   std::vector<std::string> conditions, equalities;
   for (size_t i = 0; i < childNames.size(); ++i) {
      conditions.push_back(childNames[i] + " IS NOT NULL");
      equalities.push_back("p." + parentNames[i] + " = " + childNames[i]);
      if (keys) conditions.push_back(childNames[i] + " = v.k" + std::to_string(i));
   }
   conditions.push_back("NOT EXISTS (SELECT FROM " + parentTable_ + " p WHERE " + joinTexts(equalities, " AND ") + ")");
   return joinTexts(conditions, " AND ");
}

/// "(VALUES (...), ...) v(k0, k1)"
std::string ForeignKeyCheck::values(const Keys& keys, const std::vector<int16_t>& columns) const {
   std::string text = "(VALUES ", names;
   for (size_t row = 0; row < keys.size(); ++row) {
      const std::vector<std::string> literals = keyLiterals(core_, *parent_, columns, keys[row]);
      text += (row ? ", (" : "(") + joinTexts(literals, ", ") + ")";
   }
   for (size_t i = 0; i < columns.size(); ++i)
      names += (i ? ", k" : "k") + std::to_string(i);
   return text + ") v(" + names + ")";
}

void ForeignKeyCheck::checkAllReferencing() {
   std::vector<std::string> texts;
   for (const std::string& name : namesOf(child_, childColumns_))
      texts.push_back("CAST(c." + name + " AS text)");
   const NewestSnapshot newest(core_.transaction);
   if (constraint_.match == 'f' && childColumns_.size() > 1) {
      std::vector<std::string> nulls;
      for (const std::string& name : namesOf(child_, childColumns_))
         nulls.push_back("num_nulls(c." + name + ")");
      const std::string count = joinTexts(nulls, " + ");
      if (!core_.services
               .query("SELECT 1 FROM " + childTable_ + " c WHERE " + count + " > 0 AND " + count + " < " +
                      std::to_string(nulls.size()) + " LIMIT 1")
               .empty())
         throw SqlError(sqlstate::foreignKeyViolation, "insert or update on table \"" + child_->name +
                                                           "\" violates foreign key constraint \"" + constraint_.name +
                                                           "\"")
             .detail("MATCH FULL does not allow mixing of null and nonnull key values.")
             .table(core_.transaction.catalog().schema(child_->schema)->name, child_->name)
             .constraint(constraint_.name)
             .routine("ri_ReportViolation");
   }
   const auto rows = core_.services.query("SELECT " + joinTexts(texts, ", ") + " FROM " + childTable_ + " c WHERE " +
                                          orphans(nullptr) + " LIMIT 1");
   if (rows.empty()) return;
   std::vector<std::string> found;
   for (const Value& value : rows[0])
      found.push_back(value.bytes);
   failReferencing(found);
}

/// One child row with a key among `keys` (null: any key) that has no parent, as texts of its key; empty: there is none.
/// A row that another transaction deletes, or locks for itself alone, is waited for: it may go.
std::vector<std::vector<Value>> ForeignKeyCheck::anyOrphan(const Keys* keys) const {
   std::vector<std::string> texts;
   for (const std::string& name : namesOf(child_, childColumns_))
      texts.push_back("CAST(c." + name + " AS text)");
   const std::string query = "SELECT " + joinTexts(texts, ", ") + " FROM " + childTable_ + " c" +
                             (keys ? ", " + values(*keys, parentColumns_) : "") + " WHERE " + orphans(keys) +
                             " LIMIT 1";
   for (bool hasWaited = false;; hasWaited = true) {
      const NewestSnapshot newest(core_.transaction);
      const auto found = core_.services.query(query);
      if (found.empty() && hasWaited && core_.transaction.isolation() != Isolation::ReadCommitted)
         throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
      if (found.empty()) return found;
      try {
         return core_.services.query(query + " FOR KEY SHARE OF c");
      } catch (const storage::WriteConflict& conflict) {
         core_.transaction.awaitRow(conflict);
      }
   }
}

/// Throws 23503 when a child row has a key among `keys` (null: any key) and no parent.
void ForeignKeyCheck::failReferenced(const Keys* keys) const {
   const auto rows = anyOrphan(keys);
   if (rows.empty()) return;
   std::vector<std::string> found;
   for (const Value& value : rows[0])
      found.push_back(value.bytes);
   const catalog::Relation& table = parents_->named();
   const std::string name = catalog::partName(core_.transaction.catalog(), *child_, constraint_, table.oid);
   throw SqlError(sqlstate::foreignKeyViolation, "update or delete on table \"" + table.name +
                                                     "\" violates foreign key constraint \"" + name + "\" on table \"" +
                                                     child_->name + "\"")
       .detail(catalog::mayRead(core_.transaction.catalog(), core_.role(), *parent_, parentColumns_)
                   ? keyDetail(parent_, parentColumns_, found) + " is still referenced from table \"" + child_->name +
                         "\"."
                   : "Key is still referenced from table \"" + child_->name + "\".")
       .table(core_.transaction.catalog().schema(child_->schema)->name, child_->name)
       .constraint(name)
       .routine("ri_ReportViolation");
}

/// A referential action works on the rows of the transaction's snapshot. Throws 40001 when rows that it cannot see
/// would lose their parent.
void ForeignKeyCheck::checkSerializable(const Keys* keys) const {
   if (core_.transaction.isolation() == Isolation::ReadCommitted) return;
   try {
      failReferenced(keys);
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::foreignKeyViolation) throw;
      throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
   }
}

void ForeignKeyCheck::followDeleted(uint32_t sinceCommand, const RowsGone& gone) {
   const bool isUpdate = gone.byUpdate && haveCommon(gone.updated, parents_->columns());
   if (!isUpdate && !gone.byDelete) return;
   const char action = isUpdate ? constraint_.onUpdate : constraint_.onDelete;
   const bool pairsKeys = isUpdate && action == cascade;
   std::optional<Keys> keys = parents_->deletedKeys(sinceCommand, pairsKeys ? SIZE_MAX : parentKeysMax);
   if (keys && keys->empty()) return;
   // Storage does not tell which of the keys were deleted and which were changed.
   if (isUpdate && gone.byDelete && (pairsKeys || constraint_.onDelete != action))
      throwNotSupported("one statement that deletes referenced rows and changes referenced keys");
   if (pairsKeys) {
      cascadeUpdate(*keys, sinceCommand);
      return checkSerializable(&*keys);
   }
   if (keys) std::erase_if(*keys, hasNull);
   if (keys && keys->empty()) return;
   const Keys* known = keys ? &*keys : nullptr;
   if (action == noAction || action == restrict_) {
      if (action == noAction && core_.transaction.defers(constraint_)) {
         core_.transaction.defer({child_->oid, constraint_.oid, sinceCommand});
         return;
      }
      return failReferenced(known);
   }
   const std::string source = known ? values(*known, parentColumns_) : "";
   if (action == cascade) {
      core_.services.modify("DELETE FROM " + childTable_ + " c" + (known ? " USING " + source : "") + " WHERE " +
                            orphans(known));
   } else {
      std::vector<std::string> assignments;
      const bool setsSome = !isUpdate && !constraint_.setColumns.empty();
      for (const std::string& name : namesOf(child_, setsSome ? constraint_.setColumns : childColumns_))
         assignments.push_back(name + " = " + (action == setNull ? "NULL" : "DEFAULT"));
      try {
         core_.services.modify("UPDATE " + childTable_ + " c SET " + joinTexts(assignments, ", ") +
                               (known ? " FROM " + source : "") + " WHERE " + orphans(known));
      } catch (const SqlError& error) {
         // SET DEFAULT gave the children the key that is being removed: the error names the parent's delete.
         if (error.state() == sqlstate::foreignKeyViolation && error.constraintName() == constraint_.name)
            failReferenced(known);
         throw;
      }
   }
   checkSerializable(known);
}

/// ON UPDATE CASCADE: give the children of changed parents the new keys.
void ForeignKeyCheck::cascadeUpdate(const Keys& oldKeys, uint32_t sinceCommand) {
   const auto table = parents_->onlyTable();
   storage::Transaction& transaction = core_.transaction.storage();
   const auto fresh = table->newKeys(transaction, sinceCommand, storageColumns(parents_->columns()), true, SIZE_MAX);
   if (fresh->rows.size() != oldKeys.size()) throwNotSupported("ON UPDATE CASCADE for this statement");
   Keys pairs;
   for (size_t i = 0; i < oldKeys.size(); ++i) {
      std::vector<Value> now = table->newKey(transaction, *fresh, i);
      const bool isSame = std::equal(now.begin(), now.end(), oldKeys[i].begin(),
                                     [](const Value& a, const Value& b) { return a.identical(b); });
      if (isSame || hasNull(oldKeys[i])) continue;
      std::vector<Value>& pair = pairs.emplace_back(oldKeys[i]);
      pair.insert(pair.end(), now.begin(), now.end());
   }
   if (pairs.empty()) return;
   std::vector<int16_t> columns = parentColumns_;
   columns.insert(columns.end(), parentColumns_.begin(), parentColumns_.end());
   std::vector<std::string> assignments, conditions;
   const std::vector<std::string> names = namesOf(child_, childColumns_), compared = comparedColumns();
   for (size_t i = 0; i < names.size(); ++i) {
      assignments.push_back(names[i] + " = v.k" + std::to_string(names.size() + i));
      conditions.push_back(compared[i] + " = v.k" + std::to_string(i));
   }
   core_.services.modify("UPDATE " + childTable_ + " c SET " + joinTexts(assignments, ", ") + " FROM " +
                         values(pairs, columns) + " WHERE " + joinTexts(conditions, " AND "));
}

void ForeignKeyCheck::checkAllReferenced(uint32_t sinceCommand) {
   auto keys = parents_->deletedKeys(sinceCommand, parentKeysMax);
   if (keys) std::erase_if(*keys, hasNull);
   if (keys && keys->empty()) return;
   failReferenced(keys ? &*keys : nullptr);
}

/// Calls `body(check)` for a constraint of the table when the rows that it references are locked. The lock may have
/// been waited for until the constraint was gone.
template <typename Body>
void withReferenced(SessionCore& core, const RelationPtr& table, const Constraint& constraint, Body body) {
   lockReferenced(core, constraint.foreignRelation, LockMode::RowShare);
   const catalog::Snapshot now = core.transaction.catalog();
   const Constraint* found = now.constraint(constraint.oid).second;
   if (!found) return;
   ForeignKeyCheck check(core, table, *found);
   body(check);
}

bool touches(const sql::WrittenRelation& written, const std::vector<int16_t>& columns) {
   return written.assigned.empty() || haveCommon(written.assigned, columns);
}

} // namespace

void checkForeignKeys(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan* plan,
                      uint32_t sinceCommand) {
   if (core.settings.value("session_replication_role") == "replica") return;
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const sql::WrittenRelation& one : written) {
      const std::vector<std::pair<Oid, Oid>> references = referencesToRows(core, one.relation);
      const RowsGone gone = plan && !references.empty() ? rowsGone(*plan, one.relation) : RowsGone();
      for (const auto& [childOid, constraintOid] : references) {
         const RelationPtr child = snapshot.relation(childOid);
         const Constraint* constraint = snapshot.constraint(constraintOid).second;
         if (!child || !constraint || !(gone.byDelete || gone.byUpdate) || !constraint->mindsReferenced) continue;
         const bool isPart = constraint->foreignRelation != one.relation;
         if (isPart || gone.byDelete || haveCommon(gone.updated, constraint->foreignColumns))
            ForeignKeyCheck(core, child, *constraint, isPart ? snapshot.relation(one.relation) : nullptr)
                .followDeleted(sinceCommand, gone);
      }
      const RelationPtr table = snapshot.relation(one.relation);
      if (!one.makesRows || !table) continue;
      for (const Constraint& constraint : table->constraints) {
         if (constraint.kind != catalog::ConstraintKind::ForeignKey || !constraint.mindsReferencing ||
             !touches(one, constraint.columns))
            continue;
         if (core.transaction.defers(constraint))
            core.transaction.defer({table->oid, constraint.oid, sinceCommand});
         else
            withReferenced(core, table, constraint,
                           [&](ForeignKeyCheck& check) { check.checkReferencing(sinceCommand); });
      }
   }
}

void checkDeferredForeignKey(SessionCore& core, const RelationPtr& table, const Constraint& constraint,
                             uint32_t sinceCommand) {
   withReferenced(core, table, constraint, [&](ForeignKeyCheck& check) {
      check.checkReferencing(sinceCommand);
      check.checkAllReferenced(sinceCommand);
   });
}

void checkForeignKeyOfTable(SessionCore& core, const RelationPtr& table, const Constraint& constraint) {
   ForeignKeyCheck(core, table, constraint).checkAllReferencing();
}

namespace {

/// A row that goes to another partition is deleted here and inserted there, and which new row was which old one is
/// lost.
void requireNoMove(SessionCore& core, const catalog::Relation& table, const std::vector<int16_t>& updated) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   RelationPtr above = snapshot.relation(table.oid);
   for (; above; above = above->isPartition() ? snapshot.relation(above->parents[0]) : nullptr) {
      if (!above->partitionKey) continue;
      for (const catalog::Column& key : above->columns) {
         if (key.isDropped || !above->partitionKey->has(key.attribute)) continue;
         const catalog::Column* column = table.findColumn(key.name);
         if (column && std::find(updated.begin(), updated.end(), column->attribute) != updated.end())
            throwNotSupported("ON UPDATE CASCADE from a partitioned table whose partition key changes");
      }
   }
}

} // namespace

bool needsRowOrder(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan& plan) {
   for (const sql::WrittenRelation& one : written) {
      if (!one.makesRows) continue;
      for (const auto& [child, constraintOid] : referencesToRows(core, one.relation)) {
         const Constraint* constraint = core.transaction.catalog().constraint(constraintOid).second;
         if (!constraint || constraint->onUpdate != cascade) continue;
         const auto updated = rowsGone(plan, one.relation).updated;
         if (!haveCommon(updated, constraint->foreignColumns)) continue;
         requireNoMove(core, *core.transaction.catalog().relation(one.relation), updated);
         return true;
      }
   }
   return false;
}

} // namespace ouzel::engine
