#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/table_like.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TABLE.

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

/// Builds the draft of one CREATE TABLE.
class TableBuilder {
public:
   TableBuilder(CommandContext& context, const NewRelation& target)
      : context_(context), path_(context.core.searchPath()) {
      draft_.name = target.name.name;
      draft_.schema = target.schema;
      draft_.database = context.core.transaction.catalog().database();
      draft_.persistence = target.persistence();
   }

   void addColumn(const ::ColumnDef& definition);
   void addTableConstraint(const ::Constraint& constraint);
   void addLike(const ::TableLikeClause& like);
   catalog::Relation finish();
   /// Adds what LIKE has copied and the table must exist for.
   void addIndexesAndComments(Oid table, const catalog::Relation& created);
   /// Foreign keys to be added once the table exists, each with its columns.
   const std::vector<std::pair<::Constraint, std::vector<std::string>>>& foreignKeys() const { return foreignKeys_; }

private:
   sql::BindContext bindContext() { return context_.core.bindContext(path_, &context_.source()); }
   std::string_view text() const { return context_.source().text(); }
   void addColumnConstraint(catalog::Column& column, const ::Constraint& constraint, size_t limit, bool& sawNull);
   void requireNewName(std::string_view name) const;
   void requireNoPrimaryKey(uint32_t position) const;
   void addCopiedCheck(catalog::Constraint check);
   void mergeKeys();
   void addKey(const ::Constraint& constraint, std::vector<int16_t> columns);

   CommandContext& context_;
   const catalog::SearchPath path_;
   catalog::Relation draft_;
   struct PendingCheck {
      const ::Node* expression;
      std::string_view text; ///< in the statement
      std::string name;
   };
   std::vector<PendingCheck> checks_;
   std::vector<std::pair<::Constraint, size_t>> generated_; ///< GENERATED, each with its column's index
   struct PendingSequence {
      int16_t attribute;
      Oid type;
      const ::List* options; ///< of an identity column; null for serial
   };
   bool drawsFromSequence(const catalog::Column& column) const {
      return std::any_of(sequences_.begin(), sequences_.end(),
                         [&](const PendingSequence& sequence) { return sequence.attribute == column.attribute; });
   }
   std::vector<std::pair<::Constraint, std::vector<std::string>>> foreignKeys_; ///< each with its columns
   std::vector<PendingSequence> sequences_;
   struct KeyOptions {
      size_t constraint; ///< in draft_.constraints
      RelationOptions options;
      bool isCopied; ///< by LIKE
   };
   std::vector<KeyOptions> keyOptions_; ///< of each key's index
   // Copied by LIKE.
   std::vector<std::pair<int16_t, catalog::SequenceDefinition>> copiedIdentities_;
   std::vector<catalog::Constraint> copiedChecks_;
   std::vector<catalog::Relation> indexes_;
   std::vector<std::pair<int16_t, std::string>> comments_; ///< on columns
};

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

void TableBuilder::addColumn(const ::ColumnDef& definition) {
   requireNewName(definition.colname);
   catalog::Column column;
   column.name = definition.colname;
   column.attribute = static_cast<int16_t>(draft_.columns.size() + 1);
   const Oid serial = serialType(*definition.typeName);
   column.type = serial ? SqlType{serial, -1, invalidOid} : sql::resolveColumnType(definition, bindContext());
   column.notNull = serial != invalidOid;
   if (const auto* info = catalog::builtins().type(column.type.oid); info && info->isPseudo())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
   requireTypeUsage(context_.core, column.type);
   if (definition.compression) requireCompression(column.type, definition.compression);
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
                         std::string(textOf(constraint.conname))});
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
                         std::string(textOf(constraint.conname))});
      return;
   case CONSTR_FOREIGN: {
      std::vector<std::string> columns;
      for (const ::Node* name : ListOf<>(constraint.fk_attrs))
         columns.emplace_back(stringOf(name));
      foreignKeys_.emplace_back(constraint, std::move(columns));
      return;
   }
   default: throwNotSupported("this table constraint", context_.position(constraint.location));
   }
}

void TableBuilder::addLike(const ::TableLikeClause& like) {
   LikeCopy copy = copyLike(context_, like, draft_.columns.size());
   for (catalog::Column& column : copy.columns) {
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
   for (auto& comment : copy.comments)
      comments_.push_back(std::move(comment));
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
   for (auto& [constraint, options, isCopied] : keyOptions_)
      if (!options.empty()) setOptions(editor, created.constraints[constraint].index, std::move(options));
   for (auto& [attribute, text] : comments_)
      editor.setComment(catalog::class_oid::pgClass, table, attribute, std::move(text));
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
      for (const sql::GetColumn& input : bound.inputs)
         constraint.columns.push_back(input.attribute);
      constraint.expression = storedText(context_, *check.expression, sql::ExpressionUse::CheckConstraint, &draft_,
                                         std::nullopt, check.text);
      draft_.constraints.push_back(std::move(constraint));
   }
   for (catalog::Constraint& check : copiedChecks_)
      addCopiedCheck(std::move(check));
   if (!sequences_.empty() || !copiedIdentities_.empty()) draft_.oid = context_.core.transaction.editor().allocateOid();
   for (const auto& [attribute, definition] : copiedIdentities_)
      attachSequence(context_, draft_, draft_.columns[static_cast<size_t>(attribute - 1)], definition);
   for (const PendingSequence& sequence : sequences_)
      attachSequence(context_, draft_, draft_.columns[static_cast<size_t>(sequence.attribute - 1)], sequence.type,
                     sequence.options);
   mergeKeys();
   return std::move(draft_);
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

void refuseUnsupported(CommandContext& context, const ::CreateStmt& statement) {
   if (statement.inhRelations && !statement.partbound) throwNotSupported("table inheritance");
   if (statement.partspec || statement.partbound) throwNotSupported("a partitioned table");
   if (statement.ofTypename) throwNotSupported("a typed table");
   if (statement.relation->relpersistence == 'u') context.core.notice("an unlogged table is kept like any other");
}

} // namespace

std::string createTable(CommandContext& context, const ::CreateStmt& statement) {
   requireWritable(context.core, "CREATE TABLE");
   refuseUnsupported(context, statement);
   const NewRelation target = newRelation(context, *statement.relation, context.position(statement.relation->location));
   const char onCommit = onCommitAction(statement.oncommit, target);
   if (skipsExisting(context, target, statement.if_not_exists)) return "CREATE TABLE";
   RelationOptions options = checkedOptions(OptionOwner::Table, statement.options);
   TableBuilder builder(context, target);
   for (const ::Node* element : ListOf<>(statement.tableElts))
      if (isNode(element, T_ColumnDef))
         builder.addColumn(*as<::ColumnDef>(element));
      else if (isNode(element, T_TableLikeClause))
         builder.addLike(*as<::TableLikeClause>(element));
   for (const ::Node* element : ListOf<>(statement.tableElts))
      if (isNode(element, T_Constraint)) builder.addTableConstraint(*as<::Constraint>(element));
   for (const ::Node* element : ListOf<>(statement.constraints))
      builder.addTableConstraint(*as<::Constraint>(element));
   catalog::Relation draft = builder.finish();
   draft.options = std::move(options);
   draft.onCommit = onCommit;
   makeStorage(context.core, draft);
   const Oid oid = context.core.transaction.editor().createRelation(std::move(draft));
   builder.addIndexesAndComments(oid, *context.core.transaction.catalog().relation(oid));
   for (const auto& [constraint, columns] : builder.foreignKeys())
      addForeignKey(context, oid, constraint, columns);
   return "CREATE TABLE";
}

} // namespace ouzel::engine
