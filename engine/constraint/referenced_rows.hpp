#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/session_core.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

/// Foreign keys that reference a relation: the table that has it, the constraint. Valid until the catalog changes.
const std::vector<std::pair<Oid, Oid>>& referencesTo(SessionCore& core, Oid relation);
/// The same, and those that reference a table of which the relation is a partition: all that reference its rows.
std::vector<std::pair<Oid, Oid>> referencesToRows(SessionCore& core, Oid relation);

/// Locks a referenced table and its partitions, so that they keep their storage, and shows the transaction the objects
/// as they are under the lock: it may have waited for one who changed them. Throws 40001 when the transaction's
/// snapshot does not have the rows as they are stored now.
void lockReferenced(SessionCore& core, Oid table, LockMode mode);
/// The table with the relation's rows. Throws 40001 if others have rewritten or dropped it since the relation was taken
/// from the catalog.
std::shared_ptr<storage::Table> rowsOf(SessionCore& core, const catalog::Relation& relation);

/// The rows that a foreign key references: those of a table, of all partitions of one, or of one partition.
class ReferencedRows {
public:
   using Keys = std::vector<std::vector<Value>>;

   /// `columns`: the key's, of the parent. `part`: the partition that is meant; null: all rows.
   ReferencedRows(SessionCore& core, const catalog::RelationPtr& parent, const std::vector<int16_t>& columns,
                  const catalog::RelationPtr& part);

   /// Whether any row has the key; it is locked, as by Table::shareKey(). Waits for who is about to delete it.
   /// REQUIRES: lockReferenced().
   bool shareKey(uint64_t hash, const std::vector<Value>& key) const;
   /// The keys of rows that the transaction has deleted, as Table::deletedKeys(); empty: too many.
   std::optional<Keys> deletedKeys(uint32_t sinceCommand, size_t rowsMax) const;

   /// The key's columns where the rows lie; those of the first partition if they lie in several.
   const std::vector<int16_t>& columns() const { return parts_.at(0).columns; }
   std::shared_ptr<storage::Table> onlyTable() const { return rowsOf(core_, *parts_.at(0).relation); }
   /// The table or partition that errors name.
   const catalog::Relation& named() const { return parts_.size() == 1 ? *parts_[0].relation : *parent_; }

private:
   struct Part {
      catalog::RelationPtr relation;
      std::vector<int16_t> columns;
   };

   SessionCore& core_;
   const catalog::RelationPtr parent_;
   std::vector<Part> parts_;
};

} // namespace ouzel::engine
