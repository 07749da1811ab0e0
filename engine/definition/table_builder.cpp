#include "engine/definition/table_builder.hpp"

#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/index/exclusion_constraint.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/partition/inherited.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/definition/partition/partition.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/table_like.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// The columns and constraints of CREATE TABLE.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

std::vector<int16_t> columnNumbers(const catalog::Relation& draft, const ::Constraint& key, uint32_t position) {
   std::vector<int16_t> numbers;
   for (const ::Node* name : ListOf<>(key.keys)) {
      const auto found = std::find_if(draft.columns.begin(), draft.columns.end(), [&](const catalog::Column& column) {
         return column.name == stringOf(name) && !column.isDropped;
      });
      if (found == draft.columns.end())
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + std::string(stringOf(name)) + "\" named in key does not exist")
             .at(position);
      const int16_t number = static_cast<int16_t>(found - draft.columns.begin() + 1);
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
         throw SqlError(sqlstate::duplicateColumn, "column \"" + found->name + "\" appears twice in " +
                                                       (key.contype == CONSTR_PRIMARY ? "primary key" : "unique") +
                                                       " constraint")
             .at(position);
      numbers.push_back(number);
   }
   return numbers;
}

} // namespace

void TableBuilder::requireNewName(std::string_view name) const {
   for (const catalog::Column& existing : draft_.columns)
      if (existing.name == name)
         throw SqlError(sqlstate::duplicateColumn, "column \"" + existing.name + "\" specified more than once");
}

void TableBuilder::requireNoPrimaryKey(uint32_t position) const {
   if (draft_.primaryKey())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "multiple primary keys for table \"" + draft_.name + "\" are not allowed")
          .at(position);
}

void TableBuilder::inherit(std::vector<catalog::RelationPtr> parents) {
   parents_ = std::move(parents);
   draft_.columns = inheritedColumns(context_, parents_);
   for (const catalog::RelationPtr& parent : parents_)
      draft_.parents.push_back(parent->oid);
   inheritedColumns_ = draft_.columns.size();
}

void TableBuilder::takeType(const catalog::Relation& type) {
   draft_.ofType = type.rowType;
   for (const catalog::Column& attribute : type.columns) {
      if (attribute.isDropped) continue;
      catalog::Column& column = draft_.columns.emplace_back();
      column.name = attribute.name;
      column.type = attribute.type;
      column.attribute = static_cast<int16_t>(draft_.columns.size());
   }
}

catalog::Column* TableBuilder::inheritedColumn(const std::string& name) {
   for (size_t i = 0; i < inheritedColumns_; ++i)
      if (draft_.columns[i].name == name && !draft_.columns[i].isLocal) return &draft_.columns[i];
   return nullptr;
}

/// Whether the column is inherited and not yet declared: then it is declared now.
bool TableBuilder::mergeColumn(const ::ColumnDef& definition, const catalog::Column& declared) {
   catalog::Column* known = inheritedColumn(declared.name);
   if (!known) return false;
   mergeInto(context_, *known, declared, declaredColumns_);
   known->isLocal = true;
   known->notNull = known->notNull || declared.notNull;
   for (const auto* constraint : ListOf<::Constraint>(definition.constraints)) {
      const bool isGenerated = constraint->contype == CONSTR_GENERATED;
      const bool isValue =
          isGenerated || constraint->contype == CONSTR_DEFAULT || constraint->contype == CONSTR_IDENTITY;
      if (known->generated && isValue) throwGenerationConflict(*known, *constraint);
      if (isGenerated || constraint->contype == CONSTR_DEFAULT) known->dropDefault();
   }
   return true;
}

void TableBuilder::addColumnOptions(const ::ColumnDef& definition) {
   const std::string name = definition.colname;
   const auto known = std::find_if(draft_.columns.begin(), draft_.columns.end(),
                                   [&](const catalog::Column& other) { return other.name == name; });
   if (known == draft_.columns.end())
      throw SqlError(sqlstate::undefinedColumn, "column \"" + name + "\" does not exist");
   if (!columnsWithOptions_.insert(name).second)
      throw SqlError(sqlstate::duplicateColumn, "column \"" + name + "\" specified more than once");
   for (const auto* constraint : ListOf<::Constraint>(definition.constraints)) {
      const bool isGenerated = constraint->contype == CONSTR_GENERATED;
      if (isGenerated || (known->generated && constraint->contype == CONSTR_DEFAULT))
         throwGenerationConflict(*known, *constraint);
      if (constraint->contype == CONSTR_DEFAULT) known->dropDefault();
   }
   bool sawNull = false;
   for (const ColumnConstraint& constraint : columnConstraints(context_, definition.constraints))
      addColumnConstraint(*known, constraint.definition, constraint.end, sawNull);
}

void TableBuilder::addColumn(const ::ColumnDef& definition) {
   ++declaredColumns_;
   catalog::Column column;
   column.name = definition.colname;
   column.attribute = static_cast<int16_t>(draft_.columns.size() + 1);
   const Oid serial = serialType(*definition.typeName);
   column.type = serial ? SqlType{serial, -1, invalidOid} : sql::resolveColumnType(definition, bindContext());
   column.dimensions = declaredDimensions(definition);
   column.notNull = serial != invalidOid;
   if (const auto* info = catalog::builtins().type(column.type.oid); info && info->isPseudo())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
   requireTypeUsage(context_.core, column.type);
   if (definition.compression) column.compression = compressionNamed(column.type, definition.compression);
   if (mergeColumn(definition, column)) {
      catalog::Column& merged = *std::find_if(draft_.columns.begin(), draft_.columns.end(),
                                              [&](const catalog::Column& other) { return other.name == column.name; });
      if (serial) {
         merged.dropDefault();
         sequences_.push_back({merged.attribute, serial, nullptr});
      }
      bool sawNull = false;
      for (const ColumnConstraint& constraint : columnConstraints(context_, definition.constraints))
         addColumnConstraint(merged, constraint.definition, constraint.end, sawNull);
      return;
   }
   requireNewName(definition.colname);
   draft_.columns.push_back(column);
   if (serial) sequences_.push_back({column.attribute, serial, nullptr});
   bool sawNull = false;
   for (const ColumnConstraint& constraint : columnConstraints(context_, definition.constraints))
      addColumnConstraint(draft_.columns.back(), constraint.definition, constraint.end, sawNull);
}

void TableBuilder::addColumnConstraint(catalog::Column& column, const ::Constraint& constraint, size_t limit,
                                       bool& sawNull) {
   const std::string table = "table \"" + draft_.name + "\"";
   switch (constraint.contype) {
   case CONSTR_NULL:
      sawNull = true;
      if (column.notNull)
         throw SqlError(sqlstate::syntaxError,
                        "conflicting NULL/NOT NULL declarations for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      return;
   case CONSTR_NOTNULL:
      if (sawNull)
         throw SqlError(sqlstate::syntaxError,
                        "conflicting NULL/NOT NULL declarations for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      column.notNull = true;
      return;
   case CONSTR_DEFAULT: {
      if (column.generated)
         throw SqlError(sqlstate::syntaxError, "both default and generation expression specified for column \"" +
                                                   column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      if (column.identity)
         throw SqlError(sqlstate::syntaxError,
                        "both default and identity specified for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      if (column.hasDefault() || drawsFromSequence(column))
         throw SqlError(sqlstate::syntaxError,
                        "multiple default values specified for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::ColumnDefault, nullptr,
                                             column.type, column.name, bindContext());
      if (isNoDefault(*bound.expr, column.type)) return;
      noteRelations(context_.core, *bound.expr, column);
      const size_t begin = afterKeyword(text(), static_cast<size_t>(constraint.location), "default");
      column.defaultExpr = storedText(context_, *constraint.raw_expr, sql::ExpressionUse::ColumnDefault, nullptr,
                                      column.type, expressionText(text(), begin, limit));
      return;
   }
   case CONSTR_CHECK:
      checks_.push_back({constraint.raw_expr, parenthesized(text(), static_cast<size_t>(constraint.location)),
                         std::string(textOf(constraint.conname)), constraint.is_no_inherit});
      return;
   case CONSTR_PRIMARY:
   case CONSTR_UNIQUE: addKey(constraint, {column.attribute}); return;
   case CONSTR_IDENTITY:
      if (column.identity)
         throw SqlError(sqlstate::syntaxError,
                        "multiple identity specifications for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      if (column.hasDefault() || drawsFromSequence(column))
         throw SqlError(sqlstate::syntaxError,
                        "both default and identity specified for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      if (column.generated)
         throw SqlError(sqlstate::syntaxError, "both identity and generation expression specified for column \"" +
                                                   column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      column.identity = constraint.generated_when;
      column.notNull = true;
      sequences_.push_back({column.attribute, column.type.oid, constraint.options});
      return;
   case CONSTR_GENERATED:
      if (column.generated)
         throw SqlError(sqlstate::syntaxError,
                        "multiple generation clauses specified for column \"" + column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      if (column.hasDefault())
         throw SqlError(sqlstate::syntaxError, "both default and generation expression specified for column \"" +
                                                   column.name + "\" of " + table)
             .at(context_.position(constraint.location));
      column.generated = 's';
      column.defaultExpr = std::string(parenthesized(text(), static_cast<size_t>(constraint.location)));
      generated_.emplace_back(constraint, draft_.columns.size() - 1);
      return;
   case CONSTR_FOREIGN: foreignKeys_.emplace_back(constraint, std::vector<std::string>{column.name}); return;
   default: throwNotSupported("this constraint of a column", context_.position(constraint.location));
   }
}

void TableBuilder::addKey(const ::Constraint& constraint, std::vector<int16_t> columns) {
   catalog::Constraint key;
   key.isDeferrable = constraint.deferrable;
   key.isInitiallyDeferred = constraint.initdeferred;
   key.name = std::string(textOf(constraint.conname));
   const bool isPrimary = constraint.contype == CONSTR_PRIMARY;
   key.kind = isPrimary ? catalog::ConstraintKind::PrimaryKey : catalog::ConstraintKind::Unique;
   key.columns = std::move(columns);
   for (const int16_t column : key.columns)
      requireKeyType(draft_.columns[static_cast<size_t>(column - 1)].type);
   key.nullsNotDistinct = constraint.nulls_not_distinct;
   key.included = includedColumns(draft_, constraint, context_.position(constraint.location));
   if (isPrimary) {
      requireNoPrimaryKey(context_.position(constraint.location));
      for (const int16_t column : key.columns)
         draft_.columns[static_cast<size_t>(column - 1)].notNull = true;
   }
   keyOptions_.push_back({draft_.constraints.size(), checkedOptions(OptionOwner::Btree, constraint.options), false});
   draft_.constraints.push_back(std::move(key));
}

void TableBuilder::addTableConstraint(const ::Constraint& constraint) {
   switch (constraint.contype) {
   case CONSTR_PRIMARY:
   case CONSTR_UNIQUE:
      addKey(constraint, columnNumbers(draft_, constraint, context_.position(constraint.location)));
      return;
   case CONSTR_CHECK:
      checks_.push_back({constraint.raw_expr, parenthesized(text(), static_cast<size_t>(constraint.location)),
                         std::string(textOf(constraint.conname)), constraint.is_no_inherit});
      return;
   case CONSTR_FOREIGN: {
      std::vector<std::string> columns;
      for (const ::Node* name : ListOf<>(constraint.fk_attrs))
         columns.emplace_back(stringOf(name));
      foreignKeys_.emplace_back(constraint, std::move(columns));
      return;
   }
   case CONSTR_EXCLUSION: exclusions_.push_back(&constraint); return;
   default: throwNotSupported("this table constraint", context_.position(constraint.location));
   }
}

void TableBuilder::addLike(const ::TableLikeClause& like) {
   auto next = static_cast<int16_t>(draft_.columns.size());
   LikeCopy copy = copyLike(context_, like, [&](const std::string& column) {
      const catalog::Column* inherited = inheritedColumn(column);
      return inherited ? inherited->attribute : ++next;
   });
   for (catalog::Column& column : copy.columns) {
      ++declaredColumns_;
      if (catalog::Column* inherited = inheritedColumn(column.name)) {
         mergeInto(context_, *inherited, column, declaredColumns_);
         inherited->isLocal = true;
         inherited->notNull = inherited->notNull || column.notNull;
         continue;
      }
      requireNewName(column.name);
      requireTypeUsage(context_.core, column.type);
      draft_.columns.push_back(std::move(column));
   }
   for (auto& [key, options] : copy.keys) {
      if (key.kind == catalog::ConstraintKind::PrimaryKey) requireNoPrimaryKey(0);
      keyOptions_.push_back({draft_.constraints.size(), std::move(options), true});
      draft_.constraints.push_back(std::move(key));
   }
   for (auto& [attribute, definition] : copy.identities)
      copiedIdentities_.emplace_back(attribute, definition);
   for (catalog::Constraint& check : copy.checks)
      copiedChecks_.push_back(std::move(check));
   for (catalog::Relation& index : copy.indexes)
      indexes_.push_back(std::move(index));
   for (auto& exclusion : copy.exclusions)
      copiedExclusions_.push_back(std::move(exclusion));
   for (auto& comment : copy.comments)
      comments_.push_back(std::move(comment));
   if (copy.hasStatistics) statistics_.push_back({copy.source, std::move(copy.numbers), copy.hasComments});
}

/// Binds a copied check: its text may name the table that it comes from.
void TableBuilder::addCopiedCheck(catalog::Constraint check) {
   const auto script = sql::ParsedScript::parseExpression(check.expression);
   const sql::BindContext context = context_.core.bindContext(path_, nullptr);
   sql::bindExpression(*script.expression(), sql::ExpressionUse::CheckConstraint, &draft_, std::nullopt, {}, context);
   draft_.constraints.push_back(std::move(check));
}

void TableBuilder::addIndexesAndComments(Oid table, const catalog::Relation& created) {
   catalog::CatalogEditor& editor = context_.core.transaction.editor();
   for (catalog::Relation& index : indexes_) {
      index.index->table = table;
      index.schema = created.schema;
      index.database = created.database;
      index.persistence = created.persistence;
      index.name = editor.chooseIndexName(created.name, index);
      editor.createRelation(std::move(index));
   }
   for (const ::Constraint* constraint : exclusions_)
      addExclusion(context_, table, *constraint);
   for (auto& [constraint, index] : copiedExclusions_)
      copyExclusion(context_, table, std::move(index), std::move(constraint));
   for (auto& [constraint, options, isCopied] : keyOptions_)
      if (!options.empty()) setOptions(editor, created.constraints[constraint].index, std::move(options));
   for (auto& [attribute, text] : comments_)
      editor.setComment(catalog::class_oid::pgClass, table, attribute, std::move(text));
   for (const CopiedStatistics& copied : statistics_)
      copyStatistics(context_.core, *editor.snapshot().relation(copied.source), created, copied.numbers,
                     copied.withComments);
}

catalog::Relation TableBuilder::finish() {
   for (const auto& [constraint, column] : generated_)
      requireGenerationExpression(context_.core, &context_.source(), *constraint.raw_expr, draft_,
                                  draft_.columns[column]);
   for (const auto& [constraint, index] : generated_) {
      catalog::Column& column = draft_.columns[index];
      column.defaultExpr = storedText(context_, *constraint.raw_expr, sql::ExpressionUse::GeneratedColumn, &draft_,
                                      column.type, parenthesized(text(), static_cast<size_t>(constraint.location)));
   }
   for (PendingCheck& check : checks_) {
      const auto bound = sql::bindExpression(*check.expression, sql::ExpressionUse::CheckConstraint, &draft_,
                                             std::nullopt, {}, bindContext());
      catalog::Constraint constraint;
      constraint.kind = catalog::ConstraintKind::Check;
      constraint.name = check.name;
      constraint.noInherit = check.noInherit;
      for (const sql::GetColumn& input : bound.inputs)
         constraint.columns.push_back(input.attribute);
      constraint.expression = storedText(context_, *check.expression, sql::ExpressionUse::CheckConstraint, &draft_,
                                         std::nullopt, check.text);
      draft_.constraints.push_back(std::move(constraint));
   }
   for (catalog::Constraint& check : copiedChecks_)
      addCopiedCheck(std::move(check));
   addInheritedChecks();
   if (!sequences_.empty() || !copiedIdentities_.empty()) draft_.oid = context_.core.transaction.editor().allocateOid();
   for (const auto& [attribute, definition] : copiedIdentities_)
      attachSequence(context_, draft_, draft_.columns[static_cast<size_t>(attribute - 1)], definition);
   for (const PendingSequence& sequence : sequences_)
      attachSequence(context_, draft_, draft_.columns[static_cast<size_t>(sequence.attribute - 1)], sequence.type,
                     sequence.options);
   mergeKeys();
   return std::move(draft_);
}

void TableBuilder::addInheritedChecks() {
   for (const catalog::Column& column : draft_.columns)
      if (column.defaultOid == conflictingDefault)
         throw SqlError(sqlstate::invalidColumnDefinition,
                        "column \"" + column.name + "\" inherits conflicting default values")
             .hint("To resolve the conflict, specify a default explicitly.");
   std::vector<catalog::Constraint> inherited = inheritedChecks(context_, parents_, draft_);
   for (catalog::Constraint& check : inherited) {
      const auto own = std::find_if(draft_.constraints.begin(), draft_.constraints.end(),
                                    [&](const catalog::Constraint& other) { return other.name == check.name; });
      if (own == draft_.constraints.end()) continue;
      if (own->noInherit)
         throw SqlError(sqlstate::invalidObjectDefinition, "constraint \"" + check.name +
                                                               "\" conflicts with inherited constraint on relation \"" +
                                                               draft_.name + "\"");
      if (own->kind != catalog::ConstraintKind::Check ||
          !isSameExpression(context_, own->expression, check.expression, &draft_, std::nullopt))
         throw SqlError(sqlstate::duplicateObject,
                        "constraint \"" + check.name + "\" for relation \"" + draft_.name + "\" already exists");
      context_.core.notice("merging constraint \"" + check.name + "\" with inherited definition");
      check.isLocal = true;
      draft_.constraints.erase(own); // behind the keys, whose numbers are noted
   }
   draft_.constraints.insert(draft_.constraints.end(), std::make_move_iterator(inherited.begin()),
                             std::make_move_iterator(inherited.end()));
}

/// Of the statement's keys over the same columns one stays. Keys that LIKE has copied are not looked at.
void TableBuilder::mergeKeys() {
   std::vector<catalog::Constraint>& all = draft_.constraints;
   const auto isSame = [](const catalog::Constraint& a, const catalog::Constraint& b) {
      return a.columns == b.columns && a.nullsNotDistinct == b.nullsNotDistinct && a.isDeferrable == b.isDeferrable &&
             a.isInitiallyDeferred == b.isInitiallyDeferred;
   };
   for (size_t i = keyOptions_.size(); i-- > 0;) {
      const size_t number = keyOptions_[i].constraint;
      if (keyOptions_[i].isCopied || all[number].kind == catalog::ConstraintKind::PrimaryKey) continue;
      // The primary key goes before the others, then those that were written first.
      const KeyOptions* kept = nullptr;
      for (size_t j = 0; j < keyOptions_.size(); ++j) {
         const KeyOptions& other = keyOptions_[j];
         const bool isPrimary = all[other.constraint].kind == catalog::ConstraintKind::PrimaryKey;
         if (other.isCopied || !(isPrimary || j < i) || !isSame(all[other.constraint], all[number])) continue;
         if (!kept || isPrimary) kept = &other;
      }
      if (!kept) continue;
      if (all[kept->constraint].name.empty()) all[kept->constraint].name = all[number].name;
      all.erase(all.begin() + static_cast<ptrdiff_t>(number));
      keyOptions_.erase(keyOptions_.begin() + static_cast<ptrdiff_t>(i));
      for (KeyOptions& other : keyOptions_)
         if (other.constraint > number) --other.constraint;
   }
}

} // namespace ouzel::engine
