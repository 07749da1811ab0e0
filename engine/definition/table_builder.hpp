#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

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

   /// Takes over what the table inherits; before the columns of its own.
   void inherit(std::vector<catalog::RelationPtr> parents);
   void addColumn(const ::ColumnDef& definition);
   /// OF: the columns are those of a composite type.
   void takeType(const catalog::Relation& type);
   /// PARTITION OF t (c DEFAULT 1), OF t (c DEFAULT 1): constraints of a column that is there.
   void addColumnOptions(const ::ColumnDef& definition);
   void addTableConstraint(const ::Constraint& constraint);
   void addLike(const ::TableLikeClause& like);
   catalog::Relation finish();
   /// Adds what LIKE has copied and exclusion constraints, for which the table must exist.
   void addIndexesAndComments(Oid table, const catalog::Relation& created);
   /// Foreign keys to be added once the table exists, each with its columns.
   const std::vector<std::pair<::Constraint, std::vector<std::string>>>& foreignKeys() const { return foreignKeys_; }

private:
   sql::BindContext bindContext() { return context_.core.bindContext(path_, &context_.source()); }
   std::string_view text() const { return context_.source().text(); }
   void addColumnConstraint(catalog::Column& column, const ::Constraint& constraint, size_t limit, bool& sawNull);
   void requireNewName(std::string_view name) const;
   void requireNoPrimaryKey(uint32_t position) const;
   /// The inherited column of this name that is not yet declared; null: there is none.
   catalog::Column* inheritedColumn(const std::string& name);
   bool mergeColumn(const ::ColumnDef& definition, const catalog::Column& declared);
   void addInheritedChecks();
   void addCopiedCheck(catalog::Constraint check);
   void mergeKeys();
   void addKey(const ::Constraint& constraint, std::vector<int16_t> columns);

   CommandContext& context_;
   const catalog::SearchPath path_;
   catalog::Relation draft_;
   std::vector<catalog::RelationPtr> parents_;
   size_t inheritedColumns_ = 0;
   int16_t declaredColumns_ = 0; ///< of the statement so far
   std::set<std::string> columnsWithOptions_;
   struct PendingCheck {
      const ::Node* expression;
      std::string_view text; ///< in the statement
      std::string name;
      bool noInherit;
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
   std::vector<const ::Constraint*> exclusions_;
   // Copied by LIKE.
   std::vector<std::pair<catalog::Constraint, catalog::Relation>> copiedExclusions_;
   std::vector<std::pair<int16_t, catalog::SequenceDefinition>> copiedIdentities_;
   std::vector<catalog::Constraint> copiedChecks_;
   std::vector<catalog::Relation> indexes_;
   std::vector<std::pair<int16_t, std::string>> comments_; ///< on columns
   struct CopiedStatistics {
      Oid source;
      std::vector<int16_t> numbers; ///< of columns, by those of the source
      bool withComments;
   };
   std::vector<CopiedStatistics> statistics_;
};

} // namespace ouzel::engine
