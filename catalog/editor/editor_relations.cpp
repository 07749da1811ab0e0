#include <algorithm>
#include <array>

#include "catalog/editor/editor.hpp"
#include "catalog/object/object_name.hpp"
#include "catalog/object/privilege/default_acl.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

constexpr size_t columnsMax = 1600;
constexpr std::array<std::string_view, 6> systemColumns = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

void checkSystemColumn(const Relation& relation, std::string_view name) {
   if (relation.relationKind == RelationKind::View || relation.relationKind == RelationKind::Index ||
       relation.relationKind == RelationKind::Composite || relation.isOnlyType())
      return;
   if (std::find(systemColumns.begin(), systemColumns.end(), name) != systemColumns.end())
      throw SqlError(sqlstate::duplicateColumn,
                     "column name \"" + std::string(name) + "\" conflicts with a system column name");
}

[[noreturn]] void throwColumnExists(const Relation& relation, std::string_view name) {
   throw SqlError(sqlstate::duplicateColumn,
                  "column \"" + std::string(name) + "\" of relation \"" + relation.name + "\" already exists");
}

bool reads(const std::vector<int16_t>& attributes, int16_t attribute) {
   return std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
}

std::string_view constraintLabel(ConstraintKind kind) {
   switch (kind) {
   case ConstraintKind::Check: return "check";
   case ConstraintKind::PrimaryKey: return "pkey";
   case ConstraintKind::Unique: return "key";
   case ConstraintKind::ForeignKey: return "fkey";
   case ConstraintKind::Exclusion: return "excl";
   }
   return {};
}

} // namespace

Relation CatalogEditor::copyOf(Oid relation) const {
   const RelationPtr found = working_.relation(relation);
   if (!found) throwInternal("relation to change does not exist");
   if (found->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied: \"" + found->name + "\" is a system catalog");
   return *found;
}

void CatalogEditor::checkNewName(Oid schema, std::string_view name) const {
   const RelationPtr existing = working_.findRelation(schema, name);
   if (existing && existing->isOnlyType())
      throw SqlError(sqlstate::duplicateObject, "type \"" + std::string(name) + "\" already exists")
          .hint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with "
                "any existing type.");
   if (existing) throw SqlError(sqlstate::duplicateTable, "relation \"" + std::string(name) + "\" already exists");
}

RelationPtr CatalogEditor::shellOf(const Relation& draft) const {
   const bool isType = draft.relationKind != RelationKind::Index && draft.relationKind != RelationKind::Sequence;
   RelationPtr shell = isType ? working_.findRelation(draft.schema, draft.name) : nullptr;
   if (!shell || shell->relationKind != RelationKind::Shell || draft.relationKind == RelationKind::Shell)
      return nullptr;
   if (shell->owner != draft.owner)
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of type " + draft.name);
   return shell;
}

void CatalogEditor::removeShell(const Relation& shell, Oid definedType) {
   const auto comment = working_.comment(class_oid::pgType, shell.rowType);
   if (comment && definedType != shell.rowType) { // the OID of the defined type has the bits of its kind
      removeComments(class_oid::pgType, shell.rowType);
      setComment(class_oid::pgType, definedType, 0, *comment);
   }
   remove(keyOf(shell));
}

Oid CatalogEditor::allocateTypeOid(Oid schema, std::string_view name) {
   const RelationPtr named = working_.findRelation(schema, name);
   return named && named->relationKind == RelationKind::Shell ? named->rowType : oids_();
}

bool CatalogEditor::isConstraintNameTaken(Oid schema, std::string_view name) const {
   for (const RelationPtr& relation : working_.relations())
      if (relation->schema == schema && relation->findConstraint(name) != nullptr) return true;
   return false;
}

std::string CatalogEditor::chooseName(std::string_view table, std::string_view column, std::string_view label,
                                      Oid schema) const {
   return chooseFree(table, column, label, [&](const std::string& name) {
      return !working_.findRelation(schema, name) && !isConstraintNameTaken(schema, name);
   });
}

std::string CatalogEditor::chooseFree(std::string_view first, std::string_view second, std::string_view label,
                                      const std::function<bool(const std::string&)>& isFree) {
   for (uint32_t pass = 0;; ++pass) {
      std::string numbered(label);
      if (pass > 0) numbered += std::to_string(pass);
      std::string name = joinedName(first, second, numbered);
      if (isFree(name)) return name;
   }
}

std::string CatalogEditor::chooseIndexName(std::string_view table, const Relation& draft) const {
   std::string columns;
   for (const Column& column : draft.columns) {
      if (!columns.empty()) columns += '_';
      columns += column.name;
   }
   return chooseName(table, columns, "idx", draft.schema);
}

Oid CatalogEditor::createRelation(Relation draft) {
   draft.database = working_.database();
   if (draft.owner == bootstrapRole) draft.owner = creator_;
   if (draft.index)
      if (const RelationPtr table = working_.relation(draft.index->table)) draft.owner = table->owner;
   if (draft.sequence && draft.sequence->ownerRelation != invalidOid)
      if (const RelationPtr table = working_.relation(draft.sequence->ownerRelation)) draft.owner = table->owner;
   if (!draft.index && !draft.acl) draft.acl = initialAcl(working_, draft.owner, draft.schema, aclKindOf(draft));
   const RelationPtr shell = shellOf(draft);
   if (!shell) checkNewName(draft.schema, draft.name);
   if (!working_.schema(draft.schema)) throwInternal("schema of a new relation does not exist");
   if (draft.columns.size() > columnsMax)
      throw SqlError(sqlstate::tooManyColumns, "tables can have at most " + std::to_string(columnsMax) + " columns");
   for (size_t i = 0; i < draft.columns.size(); ++i) {
      Column& column = draft.columns[i];
      checkSystemColumn(draft, column.name);
      for (size_t j = 0; j < i; ++j)
         if (draft.columns[j].name == column.name)
            throw SqlError(sqlstate::duplicateColumn, "column \"" + column.name + "\" specified more than once");
      column.attribute = static_cast<int16_t>(i + 1);
      if (column.hasDefault() && column.defaultOid == invalidOid) column.defaultOid = oids_();
   }
   if (draft.oid == invalidOid) draft.oid = oids_();
   const bool hasRowType = draft.relationKind != RelationKind::Index && draft.relationKind != RelationKind::Sequence;
   if (hasRowType && draft.rowType == invalidOid) {
      draft.rowType =
          allocateTypeOid(draft.schema, draft.name) | (draft.relationKind == RelationKind::Domain ? userDomainKind
                                                       : draft.relationKind == RelationKind::Enum ? userEnumKind
                                                                                                  : 0);
      if (draft.relationKind != RelationKind::Shell) draft.rowTypeArray = arrayTypeOf(draft.rowType);
   }
   const auto before = savepoint();
   std::vector<Constraint> constraints = std::move(draft.constraints);
   draft.constraints.clear();
   const Oid oid = draft.oid;
   try {
      if (shell) removeShell(*shell, draft.rowType);
      // Put the relation first, so that its name is taken when names of constraints are chosen.
      put(std::make_shared<const Relation>(draft));
      for (Constraint& constraint : constraints)
         attachConstraint(draft, std::move(constraint));
      if (!constraints.empty()) put(std::make_shared<const Relation>(std::move(draft)));
   } catch (...) {
      rollbackTo(*before);
      throw;
   }
   return oid;
}

void CatalogEditor::replaceRelation(Relation changed) {
   const Relation old = copyOf(changed.oid);
   if (old.schema != changed.schema || old.name != changed.name) checkNewName(changed.schema, changed.name);
   put(std::make_shared<const Relation>(std::move(changed)));
}

void CatalogEditor::rewriteDependents(const Relation& relation, int16_t attribute, const SqlRewriter& rewriteView,
                                      std::string_view feature) {
   // Rewrite all views before putting any of them, because binding one view reads the old versions of the other views.
   std::vector<Relation> rewritten;
   for (const RelationPtr& view : working_.dependentsOf(relation.oid)) {
      const bool isConcerned = std::any_of(view->dependsOn.begin(), view->dependsOn.end(), [&](const Dependency& d) {
         return d.relation == relation.oid && (attribute == 0 || d.attribute == attribute);
      });
      if (!isConcerned || view->definition.empty()) continue;
      if (!rewriteView) throwNotSupported(feature);
      Relation changed = *view;
      changed.definition = rewriteView(changed.definition);
      rewritten.push_back(std::move(changed));
   }
   for (Relation& changed : rewritten)
      put(std::make_shared<const Relation>(std::move(changed)));
}

void CatalogEditor::renameRelation(Oid relation, std::string name, const SqlRewriter& rewriteView) {
   Relation changed = copyOf(relation);
   checkNewName(changed.schema, name);
   rewriteDependents(changed, 0, rewriteView, "renaming a relation that a view uses");
   if (changed.index) {
      // A constraint and its index have the same name, so rename the constraint as well.
      Relation table = copyOf(changed.index->table);
      for (Constraint& constraint : table.constraints)
         if (constraint.index == relation) {
            constraint.name = name;
            put(std::make_shared<const Relation>(std::move(table)));
            break;
         }
   }
   changed.name = std::move(name);
   put(std::make_shared<const Relation>(std::move(changed)));
}

void CatalogEditor::setSchema(Oid relation, Oid schema, const SqlRewriter& rewriteView) {
   Relation changed = copyOf(relation);
   if (changed.schema == schema) return;
   const RelationPtr existing = working_.findRelation(schema, changed.name);
   if (existing && !existing->isOnlyType())
      throw SqlError(sqlstate::duplicateTable, "relation \"" + changed.name + "\" already exists in schema \"" +
                                                   working_.schema(schema)->name + "\"");
   checkNewName(schema, changed.name);
   rewriteDependents(changed, 0, rewriteView, "moving a relation that a view uses");
   for (const RelationPtr& index : working_.indexesOf(relation)) {
      Relation moved = *index;
      checkNewName(schema, moved.name);
      moved.schema = schema;
      put(std::make_shared<const Relation>(std::move(moved)));
   }
   changed.schema = schema;
   put(std::make_shared<const Relation>(std::move(changed)));
}

int16_t CatalogEditor::addColumn(Oid relation, Column draft) {
   Relation changed = copyOf(relation);
   if (changed.findColumn(draft.name) != nullptr) throwColumnExists(changed, draft.name);
   checkSystemColumn(changed, draft.name);
   if (changed.columns.size() >= columnsMax)
      throw SqlError(sqlstate::tooManyColumns, "tables can have at most " + std::to_string(columnsMax) + " columns");
   draft.attribute = static_cast<int16_t>(changed.columns.size() + 1);
   if (draft.hasDefault() && draft.defaultOid == invalidOid) draft.defaultOid = oids_();
   const int16_t attribute = draft.attribute;
   changed.columns.push_back(std::move(draft));
   put(std::make_shared<const Relation>(std::move(changed)));
   return attribute;
}

void CatalogEditor::renameColumn(Oid relation, std::string_view from, std::string to, const SqlRewriter& rewriteExpr,
                                 const SqlRewriter& rewriteView) {
   Relation changed = copyOf(relation);
   const Column* column = changed.findColumn(from);
   if (column == nullptr)
      throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(from) + "\" does not exist");
   if (changed.findColumn(to) != nullptr) throwColumnExists(changed, to);
   checkSystemColumn(changed, to);
   const int16_t attribute = column->attribute;
   const auto rewrite = [&](std::string& sql) {
      if (sql.empty()) return;
      if (!rewriteExpr) throwNotSupported("renaming a column that an expression uses");
      sql = rewriteExpr(sql);
   };
   for (Constraint& constraint : changed.constraints)
      if (constraint.kind == ConstraintKind::Check && reads(constraint.columns, attribute))
         rewrite(constraint.expression);
   for (Column& other : changed.columns)
      if (other.generated != '\0') rewrite(other.defaultExpr);
   if (changed.partitionKey && reads(changed.partitionKey->reads, attribute))
      for (std::string& expression : changed.partitionKey->expressions)
         rewrite(expression);
   const auto before = savepoint();
   try {
      rewriteDependents(changed, attribute, rewriteView, "renaming a column that a view uses");
      for (const RelationPtr& index : working_.indexesOf(relation)) {
         Relation renamed = *index;
         for (std::string& expression : renamed.index->expressions)
            rewrite(expression);
         rewrite(renamed.index->predicate);
         for (size_t i = 0; i < renamed.columns.size() && i < renamed.index->columns.size(); ++i)
            if (renamed.index->columns[i] == attribute) renamed.columns[i].name = to;
         put(std::make_shared<const Relation>(std::move(renamed)));
      }
      rewriteStatistics(relation, attribute, rewriteExpr);
      changed.columns[static_cast<size_t>(attribute) - 1].name = std::move(to);
      put(std::make_shared<const Relation>(std::move(changed)));
   } catch (...) {
      rollbackTo(*before);
      throw;
   }
}

void CatalogEditor::setNotNull(Oid relation, std::string_view column, bool notNull) {
   Relation changed = copyOf(relation);
   const Column& found = requireColumn(changed, column);
   if (!notNull) {
      const Constraint* key = changed.primaryKey();
      if (key != nullptr && reads(key->columns, found.attribute))
         throw SqlError(sqlstate::invalidTableDefinition, "column \"" + found.name + "\" is in a primary key");
      const RelationPtr identity = working_.relation(changed.identityIndex);
      if (identity && identity->index && reads(identity->index->columns, found.attribute))
         throw SqlError(sqlstate::invalidTableDefinition,
                        "column \"" + found.name + "\" is in index used as replica identity");
   }
   changed.columns[static_cast<size_t>(found.attribute) - 1].notNull = notNull;
   put(std::make_shared<const Relation>(std::move(changed)));
}

void CatalogEditor::setDefault(Oid relation, std::string_view column, std::string expr, Oid sequence,
                               std::vector<Oid> relationsInDefault) {
   Relation changed = copyOf(relation);
   Column& target = changed.columns[static_cast<size_t>(requireColumn(changed, column).attribute) - 1];
   target.defaultOid = expr.empty() ? invalidOid : oids_();
   target.defaultExpr = std::move(expr);
   target.defaultSequence = sequence;
   target.relationsInDefault = std::move(relationsInDefault);
   put(std::make_shared<const Relation>(std::move(changed)));
}

Oid CatalogEditor::attachConstraint(Relation& relation, Constraint draft) {
   const bool isKey = draft.ownsIndex();
   if (draft.kind == ConstraintKind::PrimaryKey && relation.primaryKey() != nullptr)
      throw SqlError(sqlstate::invalidTableDefinition,
                     "multiple primary keys for table \"" + relation.name + "\" are not allowed");
   if (draft.name.empty()) {
      std::string columns;
      const bool namesColumns =
          draft.kind == ConstraintKind::Check ? draft.columns.size() == 1 : draft.kind != ConstraintKind::PrimaryKey;
      std::vector<int16_t> named = namesColumns ? draft.columns : std::vector<int16_t>();
      if (namesColumns) named.insert(named.end(), draft.included.begin(), draft.included.end());
      for (const int16_t attribute : named)
         columns += (columns.empty() ? "" : "_") + relation.columns[static_cast<size_t>(attribute) - 1].name;
      // Names that the same statement has chosen before are in `relation`, not yet in the snapshot.
      for (uint32_t pass = 0;; ++pass) {
         std::string label(constraintLabel(draft.kind));
         if (pass > 0) label += std::to_string(pass);
         draft.name = joinedName(relation.name, columns, label);
         if (relation.findConstraint(draft.name) == nullptr && !working_.findRelation(relation.schema, draft.name) &&
             !isConstraintNameTaken(relation.schema, draft.name))
            break;
      }
   } else {
      // Its index gets this name, unless it has it already.
      if (isKey && draft.index == invalidOid) checkNewName(relation.schema, draft.name);
      if (relation.findConstraint(draft.name) != nullptr)
         throw SqlError(sqlstate::duplicateObject,
                        "constraint \"" + draft.name + "\" for relation \"" + relation.name + "\" already exists");
   }
   if (draft.oid == invalidOid) draft.oid = oids_();
   if (draft.kind == ConstraintKind::PrimaryKey)
      for (const int16_t attribute : draft.columns)
         relation.columns[static_cast<size_t>(attribute) - 1].notNull = true;
   if (isKey && draft.index == invalidOid) draft.index = createConstraintIndex(draft, relation);
   relation.constraints.push_back(std::move(draft));
   return relation.constraints.back().oid;
}

Oid CatalogEditor::createConstraintIndex(const Constraint& constraint, const Relation& relation) {
   Relation index;
   index.database = relation.database;
   index.oid = oids_();
   index.schema = relation.schema;
   index.name = constraint.name;
   index.relationKind = RelationKind::Index;
   index.persistence = relation.persistence;
   index.owner = relation.owner;
   IndexDefinition definition;
   definition.table = relation.oid;
   definition.isUnique = true;
   definition.isPrimary = constraint.kind == ConstraintKind::PrimaryKey;
   definition.nullsNotDistinct = constraint.nullsNotDistinct;
   definition.columns = constraint.columns;
   definition.included = constraint.included;
   definition.isPartitioned = relation.partitionKey.has_value();
   if (constraint.parentConstraint != invalidOid)
      if (const RelationPtr parent = working_.relation(relation.parents.at(0)))
         for (const Constraint& above : parent->constraints)
            if (above.oid == constraint.parentConstraint) definition.parentIndex = above.index;
   definition.options.assign(constraint.columns.size(), 0);
   std::vector<int16_t> all = constraint.columns;
   all.insert(all.end(), constraint.included.begin(), constraint.included.end());
   for (const int16_t attribute : all) {
      Column column = relation.columns[static_cast<size_t>(attribute) - 1];
      column.attribute = static_cast<int16_t>(index.columns.size() + 1);
      column.notNull = false;
      column.dropDefault();
      column.identity = column.generated = '\0';
      index.columns.push_back(std::move(column));
   }
   index.index = std::move(definition);
   checkNewName(index.schema, index.name);
   const Oid oid = index.oid;
   put(std::make_shared<const Relation>(std::move(index)));
   return oid;
}

Oid CatalogEditor::addConstraint(Oid relation, Constraint draft) {
   Relation changed = copyOf(relation);
   const Oid oid = attachConstraint(changed, std::move(draft));
   put(std::make_shared<const Relation>(std::move(changed)));
   return oid;
}

void CatalogEditor::renameConstraint(Oid relation, std::string_view from, std::string to) {
   Relation changed = copyOf(relation);
   for (Constraint& constraint : changed.constraints) {
      if (constraint.name != from) continue;
      if (changed.findConstraint(to) != nullptr)
         throw SqlError(sqlstate::duplicateObject,
                        "constraint \"" + to + "\" for relation \"" + changed.name + "\" already exists");
      if (constraint.index != invalidOid) {
         Relation index = copyOf(constraint.index);
         checkNewName(index.schema, to);
         index.name = to;
         put(std::make_shared<const Relation>(std::move(index)));
      }
      constraint.name = std::move(to);
      return put(std::make_shared<const Relation>(std::move(changed)));
   }
   throw SqlError(sqlstate::undefinedObject,
                  "constraint \"" + std::string(from) + "\" for table \"" + changed.name + "\" does not exist");
}

} // namespace ouzel::catalog
