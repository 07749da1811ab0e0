#include "engine/constraint/replica_identity.hpp"

#include <algorithm>
#include <optional>

#include "catalog/object/published_tables.hpp"
#include "common/error/sql_error.hpp"
#include "sql/algebra/operators.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

namespace {

using catalog::Relation;

/// What a statement does to rows that are there.
struct RowChanges {
   bool updates = false, deletes = false;
};

RowChanges changesOf(const sql::Rel& write) {
   const sql::Dml& dml = *write.as<sql::op::Write>().dml;
   RowChanges changes{write.kind == sql::RelKind::Update, write.kind == sql::RelKind::Delete};
   if (dml.clause == sql::noColumn) return changes;
   changes = {};
   for (const sql::DmlAction action : dml.actions) {
      changes.updates |= action == sql::DmlAction::Update;
      changes.deletes |= action == sql::DmlAction::Delete;
   }
   return changes;
}

/// The names of the columns that identify a row; nothing: all do.
std::optional<std::vector<std::string>> identityOf(const catalog::Snapshot& snapshot, const Relation& table) {
   if (table.replicaIdentity == 'f') return std::nullopt;
   std::vector<std::string> names;
   const catalog::Constraint* key = table.replicaIdentity == 'd' ? table.primaryKey() : nullptr;
   const catalog::RelationPtr index = table.replicaIdentity == 'i' ? snapshot.relation(table.identityIndex)
                                      : key                        ? snapshot.relation(key->index)
                                                                   : nullptr;
   if (index && index->index)
      for (const int16_t attribute : index->index->columns)
         names.push_back(table.column(attribute)->name);
   return names;
}

/// Checks the updates or the deletes of one table that has rows.
class PublishedChanges {
public:
   PublishedChanges(const catalog::Snapshot& snapshot, const Relation& table, bool isUpdate)
      : table_(table), isUpdate_(isUpdate), publications_(catalog::publicationsOfTable(snapshot, table)) {
      std::erase_if(publications_, [&](const catalog::TablePublication& one) {
         return isUpdate ? !one.publication->update : !one.publication->del;
      });
      if (!publications_.empty()) identity_ = identityOf(snapshot, table);
   }

   void check() const {
      if (publications_.empty()) return;
      if (std::ranges::any_of(publications_, [&](const auto& one) { return hasOtherFilter(one); }))
         refuseColumns("Column used in the publication WHERE expression is not part of the replica identity.");
      if (std::ranges::any_of(publications_, [&](const auto& one) { return lacksColumn(one); }))
         refuseColumns("Column list used by the publication does not cover the replica identity.");
      if (!identity_ || !identity_->empty()) return;
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     action() + " because it does not have a replica identity and publishes " +
                         (isUpdate_ ? "updates" : "deletes"))
          .hint(std::string("To enable ") + (isUpdate_ ? "updating" : "deleting from") +
                " the table, set REPLICA IDENTITY using ALTER TABLE.");
   }

private:
   bool hasOtherFilter(const catalog::TablePublication& one) const {
      if (!one.named || !identity_) return false;
      return !std::ranges::all_of(one.named->filterReads, [&](int16_t attribute) {
         const catalog::Column* column = one.as->column(attribute);
         return column && std::ranges::find(*identity_, column->name) != identity_->end();
      });
   }
   bool lacksColumn(const catalog::TablePublication& one) const {
      if (!one.named || one.named->columns.empty()) return false;
      if (!identity_) return true; // the whole row
      return !std::ranges::all_of(*identity_, [&](const std::string& name) {
         const catalog::Column* column = one.as->findColumn(name);
         return column && std::ranges::binary_search(one.named->columns, column->attribute);
      });
   }
   std::string action() const {
      return std::string("cannot ") + (isUpdate_ ? "update" : "delete from") + " table \"" + table_.name + "\"";
   }
   [[noreturn]] void refuseColumns(const char* why) const {
      throw SqlError(sqlstate::invalidColumnReference, action()).detail(why);
   }

   const Relation& table_;
   const bool isUpdate_;
   std::vector<catalog::TablePublication> publications_; ///< that publish the changes
   std::optional<std::vector<std::string>> identity_;
};

void checkTable(const catalog::Snapshot& snapshot, const Relation& table, RowChanges changes) {
   if (changes.updates) PublishedChanges(snapshot, table, true).check();
   if (changes.deletes) PublishedChanges(snapshot, table, false).check();
}

void check(const catalog::Snapshot& snapshot, const sql::Rel& rel) {
   const auto* write = rel.getIf<sql::op::Write>();
   const RowChanges changes = write && !write->dml->isInstead ? changesOf(rel) : RowChanges();
   if (changes.updates || changes.deletes) {
      const sql::TableRef& target = write->dml->table;
      if (target.parts)
         for (const sql::TablePart& part : target.parts->parts)
            checkTable(snapshot, *part.relation, changes);
      else if (const auto table = snapshot.relation(target.relation))
         checkTable(snapshot, *table, changes);
   }
   sql::forEachChild(rel, [&](const sql::RelPtr& child) { check(snapshot, *child); });
}

} // namespace

void requireReplicaIdentities(const catalog::Snapshot& snapshot, const sql::Rel& statement) {
   if (!catalog::publicationsOf(snapshot).empty()) check(snapshot, statement);
}

} // namespace ouzel::engine
