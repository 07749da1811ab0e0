#include "engine/definition/partition/keys.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "sql/parse/node_access.hpp"

// Indexes, keys and foreign keys of a partitioned table: each partition has one of its own for each of them.

namespace ouzel::engine {

using catalog::Constraint;
using catalog::ConstraintKind;
using catalog::RelationPtr;

void requirePartitionColumns(const catalog::Relation& table, const std::vector<int16_t>& columns,
                             std::string_view what) {
   if (!table.partitionKey) return;
   for (const int16_t attribute : table.partitionKey->columns) {
      if (attribute == 0)
         throw SqlError(sqlstate::featureNotSupported,
                        "unsupported " + std::string(what) + " constraint with partition key definition")
             .detail(std::string(what) + " constraints cannot be used when partition keys include expressions.");
      if (std::find(columns.begin(), columns.end(), attribute) != columns.end()) continue;
      throw SqlError(sqlstate::featureNotSupported,
                     "unique constraint on partitioned table must include all partitioning columns")
          .detail(std::string(what) + " constraint on table \"" + table.name + "\" lacks column \"" +
                  table.columns[static_cast<size_t>(attribute - 1)].name + "\" which is part of the partition key.");
   }
}

namespace {

class KeySpreader {
public:
   KeySpreader(CommandContext& context, const RelationPtr& parent, const RelationPtr& partition, bool matches)
      : context_(context), editor_(context.core.transaction.editor()), parent_(parent), partition_(partition->oid),
        attributes_(attributesIn(*parent, *partition)), matches_(matches) {}

   /// Spreads these keys. Returns those that the partition got new: what it had before has its parts, or waits for
   /// them.
   std::set<Oid> run(const std::set<Oid>& keys) {
      for (const RelationPtr& index : editor_.snapshot().indexesOf(parent_->oid))
         if (keys.contains(index->oid) && !hasPartOf(*index)) addIndex(*index);
      for (const Constraint& constraint : parent_->constraints)
         if (keys.contains(constraint.oid) && constraint.kind == ConstraintKind::ForeignKey) addForeignKey(constraint);
      return std::move(made_);
   }

   /// ATTACH PARTITION of one index. Throws 42P17, 55000.
   void attach(const catalog::Relation& index, const catalog::Relation& own);

private:
   RelationPtr partition() const { return editor_.snapshot().relation(partition_); }
   int16_t own(int16_t attribute) const {
      return attributes_ && attribute > 0 ? (*attributes_)[static_cast<size_t>(attribute - 1)] : attribute;
   }
   std::vector<int16_t> own(std::vector<int16_t> columns) const {
      for (int16_t& attribute : columns)
         attribute = own(attribute);
      return columns;
   }
   bool hasPartOf(const catalog::Relation& index) const {
      const auto indexes = editor_.snapshot().indexesOf(partition_);
      return std::any_of(indexes.begin(), indexes.end(),
                         [&](const RelationPtr& one) { return one->index->parentIndex == index.oid; });
   }
   void addIndex(const catalog::Relation& index);
   bool isAlike(const catalog::Relation& index, const catalog::Relation& own) const;
   bool canBePart(const Constraint* constraint, const catalog::Relation& own) const;
   void makePart(const catalog::Relation& index, const Constraint* constraint, const catalog::Relation& own);
   bool adopt(const catalog::Relation& index, const Constraint* constraint);
   void addForeignKey(const Constraint& constraint);

   CommandContext& context_;
   catalog::CatalogEditor& editor_;
   const RelationPtr parent_;
   const Oid partition_;
   const catalog::AttributeMap attributes_;
   const bool matches_;
   std::set<Oid> made_;
};

bool sameCollations(const catalog::Relation& a, const catalog::Relation& b) {
   for (size_t i = 0; i < a.index->columns.size() && i < a.columns.size() && i < b.columns.size(); ++i)
      if (a.columns[i].type.collation != b.columns[i].type.collation) return false;
   return true;
}

/// Whether an index of the partition is over the same columns in the same way. Columns have the same names there.
bool KeySpreader::isAlike(const catalog::Relation& index, const catalog::Relation& own) const {
   const catalog::IndexDefinition &wanted = *index.index, &has = *own.index;
   return has.columns == this->own(wanted.columns) && has.options == wanted.options &&
          has.isUnique == wanted.isUnique && has.method == wanted.method &&
          has.nullsNotDistinct == wanted.nullsNotDistinct && has.classes == wanted.classes &&
          has.operators == wanted.operators && has.expressions == wanted.expressions &&
          has.predicate == wanted.predicate && sameCollations(index, own);
}

/// A part of a key's index has a key of its own.
bool KeySpreader::canBePart(const Constraint* constraint, const catalog::Relation& own) const {
   const RelationPtr table = partition();
   const Constraint* ofOwn = table->constraintOf(own.oid);
   return !constraint || (ofOwn && ofOwn->isDeferrable == constraint->isDeferrable);
}

void KeySpreader::makePart(const catalog::Relation& index, const Constraint* constraint, const catalog::Relation& own) {
   catalog::Relation changed = own;
   changed.index->parentIndex = index.oid;
   editor_.replaceRelation(std::move(changed));
   if (!constraint) return;
   catalog::Relation table = *partition();
   for (Constraint& one : table.constraints)
      if (one.index == own.oid) {
         one.parentConstraint = constraint->oid;
         one.parentCount = 1;
         one.isLocal = false;
      }
   editor_.replaceRelation(std::move(table));
}

/// Makes an index of the partition that is alike a part of the parent's.
bool KeySpreader::adopt(const catalog::Relation& index, const Constraint* constraint) {
   for (const RelationPtr& own : editor_.snapshot().indexesOf(partition_))
      if (own->index->parentIndex == invalidOid && isAlike(index, *own) && canBePart(constraint, *own)) {
         makePart(index, constraint, *own);
         return true;
      }
   return false;
}

void KeySpreader::attach(const catalog::Relation& index, const catalog::Relation& own) {
   const Constraint* constraint = parent_->constraintOf(index.oid);
   const std::string message =
       "cannot attach index \"" + own.name + "\" as a partition of index \"" + index.name + "\"";
   SqlError error(sqlstate::invalidObjectDefinition, message);
   if (hasPartOf(index))
      throw SqlError(sqlstate::objectNotInPrerequisiteState, message)
          .detail("Another index is already attached for partition \"" + partition()->name + "\".");
   if (!isAlike(index, own)) throw std::move(error).detail("The index definitions do not match.");
   if (!canBePart(constraint, own))
      throw std::move(error).detail("The index \"" + index.name + "\" belongs to a constraint in table \"" +
                                    parent_->name + "\" but no constraint exists for index \"" + own.name + "\".");
   makePart(index, constraint, own);
}

void KeySpreader::addIndex(const catalog::Relation& index) {
   const Constraint* constraint = parent_->constraintOf(index.oid);
   if (matches_ && adopt(index, constraint)) return;
   const RelationPtr partition = this->partition();
   if (index.index->isUnique)
      requirePartitionColumns(*partition, own(index.index->columns), index.index->isPrimary ? "PRIMARY KEY" : "UNIQUE");
   if (constraint) {
      Constraint part = *constraint;
      part.oid = part.index = invalidOid;
      part.name.clear();
      part.columns = own(constraint->columns);
      part.parentConstraint = constraint->oid;
      part.parentCount = 1;
      part.isLocal = false;
      part.nullsNotDistinct = index.index->nullsNotDistinct;
      part.included = own(index.index->included);
      const Oid made = editor_.addConstraint(partition_, std::move(part));
      made_.insert(editor_.snapshot().constraint(made).second->index);
   } else {
      catalog::Relation draft;
      draft.relationKind = catalog::RelationKind::Index;
      draft.schema = partition->schema;
      draft.database = partition->database;
      draft.persistence = partition->persistence;
      draft.columns = index.columns;
      draft.index = index.index;
      draft.options = index.options;
      draft.index->table = partition_;
      draft.index->columns = own(index.index->columns);
      draft.index->included = own(index.index->included);
      draft.index->reads = own(index.index->reads);
      draft.index->isPartitioned = partition->partitionKey.has_value();
      draft.index->parentIndex = index.oid;
      draft.name = editor_.chooseIndexName(partition->name, draft);
      made_.insert(editor_.createRelation(std::move(draft)));
   }
   if ((index.index->isUnique || index.index->isComputed()) && !partition->partitionKey)
      checkUniqueKeysOfTable(context_.core, partition_, true);
}

void KeySpreader::addForeignKey(const Constraint& constraint) {
   const RelationPtr partition = this->partition();
   for (const Constraint& own : partition->constraints)
      if (own.parentConstraint == constraint.oid) return;
   Constraint part = constraint;
   part.oid = invalidOid;
   part.columns = own(constraint.columns);
   part.setColumns = own(constraint.setColumns);
   part.parentConstraint = constraint.oid;
   part.parentCount = 1;
   part.isLocal = false;
   for (const Constraint& own : partition->constraints) {
      const bool isAlike = own.kind == ConstraintKind::ForeignKey && own.columns == part.columns &&
                           own.foreignRelation == part.foreignRelation && own.foreignColumns == part.foreignColumns &&
                           own.onDelete == part.onDelete && own.setColumns == part.setColumns &&
                           own.onUpdate == part.onUpdate && own.match == part.match &&
                           own.isDeferrable == part.isDeferrable && own.parentConstraint == invalidOid;
      if (!matches_ || !isAlike) continue;
      catalog::Relation changed = *partition;
      for (Constraint& one : changed.constraints)
         if (one.oid == own.oid) {
            one.parentConstraint = constraint.oid;
            one.parentCount = 1;
            one.isLocal = false;
         }
      return editor_.replaceRelation(std::move(changed));
   }
   if (partition->findConstraint(part.name)) part.name.clear();
   const Oid oid = editor_.addConstraint(partition_, std::move(part));
   made_.insert(oid);
   if (matches_ && constraint.isValidated && !partition->partitionKey)
      checkForeignKeyOfTable(context_.core, this->partition(), *editor_.snapshot().constraint(oid).second);
}

/// A foreign partition has no part of an index. Throws 42809 for keys, which need all parts.
void requireNoKeys(const catalog::Snapshot& snapshot, Oid parentOid, const std::set<Oid>& keys) {
   const RelationPtr parent = snapshot.relation(parentOid);
   for (const RelationPtr& index : snapshot.indexesOf(parentOid))
      if (keys.contains(index->oid) && index->index->isUnique)
         throw SqlError(sqlstate::wrongObjectType,
                        "cannot create unique index on partitioned table \"" + parent->name + "\"")
             .detail("Table \"" + parent->name + "\" contains partitions that are foreign tables.");
   for (const Constraint& constraint : parent->constraints)
      if (keys.contains(constraint.oid) && constraint.kind == ConstraintKind::ForeignKey)
         throw SqlError(sqlstate::wrongObjectType, "foreign key constraints are not supported on foreign tables");
}

void spread(CommandContext& context, Oid parent, Oid partition, bool matches, const std::set<Oid>& keys) {
   checkStack();
   const catalog::CatalogEditor& editor = context.core.transaction.editor();
   if (editor.snapshot().relation(partition)->foreign) return requireNoKeys(editor.snapshot(), parent, keys);
   KeySpreader spreader(context, editor.snapshot().relation(parent), editor.snapshot().relation(partition), matches);
   const std::set<Oid> made = spreader.run(keys);
   if (made.empty() || !editor.snapshot().relation(partition)->partitionKey) return;
   for (const Oid below : editor.snapshot().heirOids(partition))
      spread(context, partition, below, matches, made);
}

} // namespace

void spreadKeys(CommandContext& context, Oid parent, Oid partition, bool matches) {
   const catalog::Snapshot& snapshot = context.core.transaction.editor().snapshot();
   std::set<Oid> keys;
   for (const RelationPtr& index : snapshot.indexesOf(parent))
      keys.insert(index->oid);
   for (const Constraint& constraint : snapshot.relation(parent)->constraints)
      keys.insert(constraint.oid);
   spread(context, parent, partition, matches, keys);
}

void spreadKeys(CommandContext& context, Oid parent, const std::set<Oid>& keys) {
   const catalog::CatalogEditor& editor = context.core.transaction.editor();
   if (!editor.snapshot().relation(parent)->partitionKey) return;
   for (const Oid partition : editor.snapshot().heirOids(parent))
      spread(context, parent, partition, true, keys);
}

void attachIndex(CommandContext& context, const catalog::Relation& index, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   const RelationPtr part = requireTarget(context, path, *sql::as<::PartitionCmd>(command.def)->name);
   if (!part->index) throw SqlError(sqlstate::wrongObjectType, "\"" + part->name + "\" is not an index");
   requireOwner(core, *part);
   if (part->index->parentIndex == index.oid) return;
   const std::string message =
       "cannot attach index \"" + part->name + "\" as a partition of index \"" + index.name + "\"";
   if (part->index->parentIndex != invalidOid)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, message)
          .detail("Index \"" + part->name + "\" is already attached to another index.");
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const RelationPtr partition = snapshot.relation(part->index->table), parent = snapshot.relation(index.index->table);
   if (!partition->isPartition() || partition->parents[0] != parent->oid)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, message)
          .detail("Index \"" + part->name + "\" is not an index on any partition of table \"" + parent->name + "\".");
   core.transaction.lock(partition->oid, LockMode::AccessExclusive);
   KeySpreader(context, parent, partition, true).attach(index, *part);
}

} // namespace ouzel::engine
