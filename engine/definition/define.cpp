#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/make_table.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/partition/inherited.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/definition/partition/partition.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/table_builder.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/type/typed_table.hpp"
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

std::string createTable(CommandContext& context, const ::CreateStmt& statement) {
   requireWritable(context.core, "CREATE TABLE");
   makeTable(context, statement, nullptr, nullptr);
   return "CREATE TABLE";
}

std::optional<Oid> makeTable(CommandContext& context, const ::CreateStmt& statement, const std::function<void()>& check,
                             const std::function<void(catalog::Relation&)>& complete) {
   const NewRelation target = newRelation(context, *statement.relation, context.position(statement.relation->location));
   const char onCommit = onCommitAction(statement.oncommit, target);
   if (skipsExisting(context, target, statement.if_not_exists)) return std::nullopt;
   if (check) check();
   if (statement.partspec && statement.accessMethod)
      throw SqlError(sqlstate::featureNotSupported,
                     "specifying a table access method is not supported on a partitioned table");
   requireTableMethod(statement.accessMethod);
   RelationOptions options = checkedOptions(OptionOwner::Table, statement.options);
   TableBuilder builder(context, target);
   const std::vector<catalog::RelationPtr> parents =
       requireParents(context, statement.inhRelations, statement.partbound != nullptr, target.isTemporary);
   if (statement.partspec && !parents.empty() && !statement.partbound)
      throw SqlError(sqlstate::invalidTableDefinition, "cannot create partitioned table as inheritance child");
   builder.inherit(parents);
   if (statement.ofTypename) builder.takeType(*requireTableType(context, *statement.ofTypename));
   for (const ::Node* element : ListOf<>(statement.tableElts))
      if (isNode(element, T_ColumnDef) && (statement.partbound || statement.ofTypename))
         builder.addColumnOptions(*as<::ColumnDef>(element));
      else if (isNode(element, T_ColumnDef))
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
   if (statement.partspec) makePartitioned(context, *statement.partspec, draft);
   if (statement.partbound) makePartition(context, *statement.partbound, *parents[0], draft);
   if (complete) {
      requireAbsent(target);
      complete(draft);
   }
   if (draft.hasOwnRows()) makeStorage(context.core, draft);
   const Oid oid = context.core.transaction.editor().createRelation(std::move(draft));
   builder.addIndexesAndComments(oid, *context.core.transaction.catalog().relation(oid));
   for (auto [constraint, columns] : builder.foreignKeys()) {
      constraint.skip_validation = false; // there are no rows yet
      addForeignKey(context, oid, constraint, columns);
   }
   if (statement.partbound) spreadKeys(context, parents[0]->oid, oid, false);
   if (statement.partbound) inheritTriggers(context.core, *parents[0], oid);
   return oid;
}

} // namespace ouzel::engine
