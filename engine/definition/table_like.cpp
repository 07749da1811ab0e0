#include "engine/definition/table_like.hpp"

#include <algorithm>

#include "engine/core/privileges.hpp"
#include "sql/bind/stored_expression.hpp"
#include "sql/parse/node_access.hpp"

// LIKE in CREATE TABLE: columns of another table or view and, if INCLUDING asks for them, what belongs to them.

namespace ouzel::engine {

namespace {

class LikeCopier {
public:
   LikeCopier(CommandContext& context, const ::TableLikeClause& like, const catalog::Relation& source)
      : context_(context), options_(like.options), source_(source), numbers_(source.columns.size() + 1) {}

   LikeCopy copy(const NumberOf& numberOf) {
      copy_.source = source_.oid;
      for (const catalog::Column& column : source_.columns)
         if (!column.isDropped) copyColumn(column, numberOf(column.name));
      for (const catalog::Constraint& constraint : source_.constraints)
         copyConstraint(constraint);
      if (wants(CREATE_TABLE_LIKE_INDEXES))
         for (const catalog::RelationPtr& relation : context_.core.transaction.catalog().relations())
            if (relation->index && relation->index->table == source_.oid && !source_.constraintOf(relation->oid))
               copy_.indexes.push_back(copyOf(*relation));
      copy_.hasStatistics = wants(CREATE_TABLE_LIKE_STATISTICS);
      copy_.hasComments = wants(CREATE_TABLE_LIKE_COMMENTS);
      copy_.numbers = numbers_;
      return std::move(copy_);
   }

private:
   bool wants(uint32_t what) const { return (options_ & what) != 0; }
   std::vector<int16_t> renumbered(std::vector<int16_t> attributes) const {
      for (int16_t& attribute : attributes)
         attribute = numbers_[static_cast<size_t>(attribute)];
      return attributes;
   }

   void copyColumn(const catalog::Column& column, int16_t number) {
      numbers_[static_cast<size_t>(column.attribute)] = number;
      catalog::Column copy = column;
      copy.dimensions = 0; // only what the statement itself says has brackets
      copy.statisticsTarget = -1;
      copy.options.clear();
      if (!wants(CREATE_TABLE_LIKE_STORAGE)) copy.storage = '\0';
      if (!wants(CREATE_TABLE_LIKE_COMPRESSION)) copy.compression = '\0';
      copy.foreignOptions.clear();
      copy.attribute = number;
      copy.defaultOid = invalidOid;
      copy.acl = {};
      if (column.identity) { // its sequence is the source's
         copy.defaultSequence = invalidOid;
         if (wants(CREATE_TABLE_LIKE_IDENTITY))
            copy_.identities.emplace_back(number, identityOf(column));
         else
            copy.identity = '\0';
      }
      if (!wants(copy.generated ? CREATE_TABLE_LIKE_GENERATED : CREATE_TABLE_LIKE_DEFAULTS)) {
         copy.dropDefault();
         copy.generated = '\0';
      }
      if (copy.generated) copy.defaultExpr = storedAgain(copy.defaultExpr, sql::ExpressionUse::GeneratedColumn).text;
      copy_.columns.push_back(std::move(copy));
      if (!wants(CREATE_TABLE_LIKE_COMMENTS)) return;
      if (auto text =
              context_.core.transaction.catalog().comment(catalog::class_oid::pgClass, source_.oid, column.attribute))
         copy_.comments.emplace_back(number, std::move(*text));
   }

   sql::StoredExpression storedAgain(const std::string& text, sql::ExpressionUse use) const {
      const catalog::SearchPath path = context_.core.searchPath();
      return sql::storedAgain(text, use, source_, context_.core.bindContext(path, nullptr));
   }
   /// The constraint's text, which does not name the source.
   std::string ownText(const catalog::Constraint& check) const {
      sql::StoredExpression stored = storedAgain(check.expression, sql::ExpressionUse::CheckConstraint);
      if (stored.readsRow)
         throw SqlError(sqlstate::featureNotSupported, "cannot convert whole-row table reference")
             .detail("Constraint \"" + check.name + "\" contains a whole-row reference to table \"" + source_.name +
                     "\".");
      return std::move(stored.text);
   }

   catalog::SequenceDefinition identityOf(const catalog::Column& column) const {
      const auto sequence = context_.core.transaction.catalog().relation(column.defaultSequence);
      CHECK(sequence && sequence->sequence);
      return *sequence->sequence;
   }

   void copyConstraint(const catalog::Constraint& constraint) {
      catalog::Constraint copy;
      copy.kind = constraint.kind;
      copy.columns = renumbered(constraint.columns);
      copy.isDeferrable = constraint.isDeferrable;
      copy.isInitiallyDeferred = constraint.isInitiallyDeferred;
      switch (constraint.kind) {
      case catalog::ConstraintKind::Check:
         if (!wants(CREATE_TABLE_LIKE_CONSTRAINTS)) return;
         copy.name = constraint.name;
         copy.expression = ownText(constraint);
         copy.noInherit = constraint.noInherit;
         copy_.checks.push_back(std::move(copy));
         return;
      case catalog::ConstraintKind::PrimaryKey:
      case catalog::ConstraintKind::Unique: {
         if (!wants(CREATE_TABLE_LIKE_INDEXES)) return;
         const auto index = context_.core.transaction.catalog().relation(constraint.index);
         CHECK(index && index->index);
         copy.nullsNotDistinct = index->index->nullsNotDistinct;
         copy.included = renumbered(index->index->included);
         copy_.keys.emplace_back(std::move(copy), index->options);
         return;
      }
      case catalog::ConstraintKind::Exclusion:
         if (wants(CREATE_TABLE_LIKE_INDEXES))
            copy_.exclusions.emplace_back(std::move(copy),
                                          copyOf(*context_.core.transaction.catalog().relation(constraint.index)));
         return;
      case catalog::ConstraintKind::ForeignKey: return;
      }
   }

   catalog::Relation copyOf(const catalog::Relation& index) const {
      catalog::Relation draft;
      draft.relationKind = catalog::RelationKind::Index;
      draft.columns = index.columns;
      draft.index = index.index;
      draft.options = index.options;
      draft.index->columns = renumbered(index.index->columns);
      draft.index->included = renumbered(index.index->included);
      draft.index->reads = renumbered(index.index->reads);
      draft.index->parentIndex = invalidOid;
      draft.index->isPartitioned = false;
      return draft;
   }

   CommandContext& context_;
   const uint32_t options_;
   const catalog::Relation& source_;
   std::vector<int16_t> numbers_; ///< of the new columns, by those of the source
   LikeCopy copy_;
};

} // namespace

LikeCopy copyLike(CommandContext& context, const ::TableLikeClause& like, const NumberOf& numberOf) {
   const catalog::SearchPath path = context.core.searchPath();
   const auto source =
       catalog::requireRelation(context.core.transaction.catalog(), path,
                                sql::qualifiedName(*like.relation, context.core.bindContext(path, &context.source())));
   if (!source->isOnlyType() && source->relationKind != catalog::RelationKind::Composite)
      requirePrivilege(context.core, *source, catalog::privilege::select);
   if (source->relationKind == catalog::RelationKind::Index || source->relationKind == catalog::RelationKind::Sequence)
      throw SqlError(sqlstate::wrongObjectType, "relation \"" + source->name + "\" is invalid in LIKE clause")
          .at(context.position(like.relation->location))
          .detail(source->sequence ? "This operation is not supported for sequences."
                                   : "This operation is not supported for indexes.");
   const bool isType = source->relationKind == catalog::RelationKind::Composite;
   if (!source->isBuiltin())
      requirePrivilege(context.core, *source, isType ? catalog::privilege::usage : catalog::privilege::select);
   return LikeCopier(context, like, *source).copy(numberOf);
}

} // namespace ouzel::engine
