#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/source_range.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// CREATE VIEW: the definition is kept as the text of its query, with every name qualified.

namespace ouzel::engine {

using sql::ListOf;
using sql::stringOf;

namespace {

/// Throws for the first name that two columns have, with the text of the problem.
void requireDistinctNames(const catalog::Relation& view, const std::string& problem) {
   for (auto column = view.columns.begin(); column != view.columns.end(); ++column)
      for (auto other = view.columns.begin(); other != column; ++other)
         if (other->name == column->name)
            throw SqlError(sqlstate::duplicateColumn, "column \"" + column->name + "\" " + problem);
}

/// CREATE OR REPLACE VIEW may only add columns at the end.
void checkReplacement(const catalog::Relation& old, const catalog::Relation& fresh) {
   if (old.relationKind != catalog::RelationKind::View)
      throw SqlError(sqlstate::wrongObjectType, "\"" + old.name + "\" is not a view");
   if (fresh.columns.size() < old.columns.size())
      throw SqlError(sqlstate::invalidTableDefinition, "cannot drop columns from view");
   for (size_t i = 0; i < old.columns.size(); ++i) {
      if (old.columns[i].name != fresh.columns[i].name)
         throw SqlError(sqlstate::invalidTableDefinition, "cannot change name of view column \"" + old.columns[i].name +
                                                              "\" to \"" + fresh.columns[i].name + "\"")
             .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.");
      if (old.columns[i].type != fresh.columns[i].type)
         throw SqlError(sqlstate::invalidTableDefinition,
                        "cannot change data type of view column \"" + old.columns[i].name + "\" from " +
                            formatType(old.columns[i].type) + " to " + formatType(fresh.columns[i].type));
   }
   requireDistinctNames(fresh, "of relation \"" + old.name + "\" already exists");
}

/// A view that reads a temporary relation is temporary itself.
NewRelation temporaryTarget(CommandContext& context, const ::RangeVar& name) {
   context.core.notice("view \"" + std::string(name.relname) + "\" will be a temporary view");
   ::RangeVar temporary = name;
   temporary.relpersistence = 't';
   return newRelation(context, temporary);
}

bool readsTemporary(const catalog::Snapshot& snapshot, const std::vector<catalog::Dependency>& dependencies) {
   return std::any_of(dependencies.begin(), dependencies.end(), [&](const catalog::Dependency& dependency) {
      const auto relation = snapshot.relation(dependency.relation);
      return relation && relation->persistence == catalog::Persistence::Temporary;
   });
}

/// Where the last word `keyword` begins. REQUIRES: there is one.
size_t lastKeyword(std::string_view text, size_t from, std::string_view keyword) {
   size_t found = text.size();
   for (Token token = nextToken(text, from); token.end > token.begin; token = nextToken(text, token.end))
      if (token.kind == 'w' && afterKeyword(text.substr(0, token.end), token.begin, keyword) == token.end)
         found = token.begin;
   return found;
}

void addCheckOption(RelationOptions& options, ::ViewCheckOption option) {
   if (hasCheckOption(options))
      throw SqlError(sqlstate::invalidParameterValue, "parameter \"check_option\" specified more than once");
   options.push_back(option == LOCAL_CHECK_OPTION ? "check_option=local" : "check_option=cascaded");
}

bool isRecursiveView(std::string_view text, size_t from) {
   for (size_t words = 0; words < 5; ++words) { // CREATE [OR REPLACE] [TEMP] RECURSIVE VIEW
      const Token token = nextToken(text, from);
      if (afterKeyword(text.substr(0, token.end), token.begin, "recursive") != std::string_view::npos) return true;
      if (afterKeyword(text.substr(0, token.end), token.begin, "view") != std::string_view::npos) return false;
      from = token.end;
   }
   return false;
}

} // namespace

std::string createView(CommandContext& context, const ::ViewStmt& statement) {
   requireWritable(context.core, "CREATE VIEW");
   if (statement.view->relpersistence == 'u')
      throw SqlError(sqlstate::syntaxError, "views cannot be unlogged because they do not have storage");
   if (intoOf(*statement.query)) throw SqlError(sqlstate::featureNotSupported, "views must not contain SELECT INTO");
   RelationOptions options = checkedOptions(OptionOwner::View, statement.options);
   NewRelation target = newRelation(context, *statement.view);
   const catalog::SearchPath path = context.core.searchPath();
   const std::string_view text = context.source().text();
   const size_t begin = afterKeyword(text, context.statement.offset, "as");
   size_t end = context.statement.offset + context.statement.text.size();
   if (statement.withCheckOption != NO_CHECK_OPTION) {
      end = lastKeyword(text.substr(0, end), begin, "with");
      addCheckOption(options, statement.withCheckOption);
   }
   sql::BoundView view = sql::bindView(*statement.query, context.core.bindContext(path, &context.source()),
                                       static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin));
   if (hasCheckOption(options)) requireUpdatable(view.notUpdatable);
   if (!target.isTemporary && readsTemporary(context.core.transaction.catalog(), view.dependsOn))
      target = temporaryTarget(context, *statement.view);
   const ListOf<> names(statement.aliases);
   if (names.size() > view.query.output.size())
      throw SqlError(sqlstate::syntaxError, "CREATE VIEW specifies more column names than columns");
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.database = context.core.transaction.catalog().database();
   draft.relationKind = catalog::RelationKind::View;
   draft.persistence = target.persistence();
   draft.definition = std::move(view.definition);
   if (isRecursiveView(text, context.statement.offset)) {
      // CREATE RECURSIVE VIEW v (a) AS q is CREATE VIEW v AS WITH RECURSIVE v (a) AS (q) SELECT a FROM v.
      std::string columns;
      for (const ::Node* name : ListOf<>(statement.aliases))
         columns += (columns.empty() ? "" : ", ") + catalog::quoteIdentifier(stringOf(name));
      const std::string name = catalog::quoteIdentifier(target.name.name);
      draft.definition = "WITH RECURSIVE " + name + " (" + columns + ") AS (" + draft.definition + ") SELECT " +
                         columns + " FROM " + name;
   }
   draft.dependsOn = std::move(view.dependsOn);
   draft.options = std::move(options);
   for (uint32_t i = 0; i < view.query.output.size(); ++i) {
      catalog::Column column;
      column.name = i < names.size() ? std::string(stringOf(names[i])) : view.query.output[i].name;
      column.attribute = static_cast<int16_t>(i + 1);
      column.type = view.query.output[i].type;
      if (column.type.collation == sql::conflictingCollation)
         throw SqlError(sqlstate::indeterminateCollation,
                        "could not determine which collation to use for view column \"" + column.name + "\"")
             .hint("Use the COLLATE clause to set the collation explicitly.");
      if (const auto* info = catalog::builtins().type(column.type.oid); info && info->isPseudo())
         throw SqlError(sqlstate::invalidTableDefinition,
                        "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
      requireTypeUsage(context.core, column.type);
      draft.columns.push_back(std::move(column));
   }
   const auto existing = context.core.transaction.catalog().findRelation(target.schema, target.name.name);
   if (existing && statement.replace) {
      requireOwner(context.core, *existing);
      checkReplacement(*existing, draft);
      for (size_t i = 0; i < existing->columns.size(); ++i) {
         catalog::Column column = existing->columns[i]; // with its privileges and default
         column.name = draft.columns[i].name;
         draft.columns[i] = std::move(column);
      }
      catalog::Relation changed = *existing;
      changed.definition = draft.definition;
      changed.dependsOn = draft.dependsOn;
      changed.columns = draft.columns;
      changed.options = draft.options;
      context.core.transaction.editor().replaceRelation(std::move(changed));
   } else {
      requireDistinctNames(draft, "specified more than once");
      context.core.transaction.editor().createRelation(std::move(draft));
   }
   return "CREATE VIEW";
}

} // namespace ouzel::engine
