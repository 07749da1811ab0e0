#include "engine/definition/index/exclusion_constraint.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/query/source_range.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// EXCLUDE in CREATE TABLE and ALTER TABLE.

namespace ouzel::engine {

using sql::ListOf;
using sql::textOf;

namespace {

/// The operator for two values of a type, or of the type that stands for it in operators.
const catalog::OperatorInfo* findOperator(std::string_view name, Oid type) {
   const catalog::Builtins& builtins = catalog::builtins();
   if (const auto* exact = builtins.findOperator(name, type, type)) return exact;
   const Oid compared = builtins.comparisonInputType(type);
   if (const auto* alike = builtins.findOperator(name, compared, compared)) return alike;
   for (const Oid polymorphic : {oid::anyrange, catalog::anyMultirange, oid::anyarray, oid::anyenum}) {
      const auto* found = builtins.findOperator(name, polymorphic, polymorphic);
      if (found && catalog::standsFor(polymorphic, type)) return found;
   }
   return nullptr;
}

/// The operator of WITH for a key column. Throws 42883, 42809.
Oid exclusionOperator(const ::List* nameList, const SqlType& type, Oid family, Oid method) {
   const std::string name(sql::stringOf(ListOf<>(nameList).back()));
   const catalog::OperatorInfo* op = findOperator(name, type.oid);
   const std::string typeText = formatType({type.oid, -1, invalidOid});
   if (!op)
      throw SqlError(sqlstate::undefinedFunction, "operator does not exist: " + typeText + " " + name + " " + typeText)
          .hint("No operator matches the given name and argument types. You might need to add explicit type casts.");
   const auto shown = [](Oid operand) { return formatType({operand, -1, invalidOid}); };
   const std::string text = name + "(" + shown(op->left) + "," + shown(op->right) + ")";
   if (op->commutator != op->oid)
      throw SqlError(sqlstate::wrongObjectType, "operator " + text + " is not commutative")
          .detail("Only commutative operators can be used in exclusion constraints.");
   const bool isLenient = family == invalidOid; // a class of btree_gist
   if (isLenient ? name != "=" && name != "<>" : catalog::operatorStrategy(family, op->oid) == 0)
      throw SqlError(sqlstate::wrongObjectType, "operator " + text + " is not a member of operator family \"" +
                                                    catalog::operatorFamilyName(family, method) + "\"")
          .detail("The exclusion operator must be related to the index operator class for the constraint.");
   return op->oid;
}

void requireMethod(const std::string& method) {
   if (method == "gin" || method == "brin")
      throw SqlError(sqlstate::featureNotSupported,
                     "access method \"" + method + "\" does not support exclusion constraints");
}

Oid familyOf(const IndexDraft& draft, size_t i) {
   const catalog::IndexDefinition& index = *draft.draft.index;
   const catalog::OperatorClassInfo* used =
       i < index.classes.size() && index.classes[i] != invalidOid
           ? catalog::operatorClass(index.classes[i])
           : catalog::defaultOperatorClass(catalog::accessMethod(index.method), draft.draft.columns[i].type.oid);
   return used ? used->family : invalidOid;
}

void attach(CommandContext& context, Oid table, catalog::Relation index, catalog::Constraint constraint) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   constraint.kind = catalog::ConstraintKind::Exclusion;
   constraint.name = index.name;
   constraint.columns = index.index->columns;
   constraint.index = editor.createRelation(std::move(index));
   editor.addConstraint(table, std::move(constraint));
}

std::string chosenName(CommandContext& context, const catalog::Relation& table, const catalog::Relation& index) {
   std::string columns;
   for (const catalog::Column& column : index.columns)
      columns += (columns.empty() ? "" : "_") + column.name;
   return context.core.transaction.editor().chooseName(table.name, columns, "excl", table.schema);
}

} // namespace

void addExclusion(CommandContext& context, Oid tableOid, const ::Constraint& constraint) {
   const catalog::RelationPtr table = context.core.transaction.catalog().relation(tableOid);
   if (table->partitionKey)
      throw SqlError(sqlstate::featureNotSupported, "exclusion constraints are not supported on partitioned tables")
          .at(context.position(constraint.location));
   const std::string_view text = context.source().text();
   const IndexTexts texts = indexTexts(text, static_cast<size_t>(constraint.location));
   const std::string method(constraint.access_method ? constraint.access_method : "btree");
   IndexDraft draft(context, *table, method);
   draft.allowPlainGist();
   if (constraint.where_clause)
      draft.setPredicate(*constraint.where_clause, parenthesized(text, afterKeyword(text, texts.end, "where")));
   const ListOf<> pairs(constraint.exclusions), included(constraint.including);
   const auto elementOf = [](const ::Node* pair) { return sql::as<::IndexElem>(ListOf<>(sql::as<::List>(pair))[0]); };
   for (const ::Node* pair : pairs) {
      const ::IndexElem& element = *elementOf(pair);
      draft.bindExpression(element);
      if (element.name && !table->findColumn(element.name))
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + std::string(element.name) + "\" named in key does not exist");
   }
   requireMethod(method);
   draft.requireColumns(pairs.size(), included.size());
   draft.draft.options = checkedOptions(indexOptionOwner(method), constraint.options);
   for (uint32_t i = 0; i < pairs.size(); ++i) {
      draft.addKey(*elementOf(pairs[i]), texts.elements.at(i));
      if (catalog::isNondeterministic(context.core.transaction.catalog(), draft.draft.columns.back().type.collation))
         throwNotSupported("an exclusion constraint under a nondeterministic collation");
      draft.index().operators.push_back(exclusionOperator(sql::as<::List>(ListOf<>(sql::as<::List>(pairs[i]))[1]),
                                                          draft.draft.columns[i].type, familyOf(draft, i),
                                                          catalog::accessMethod(method)));
   }
   for (const int16_t attribute : includedColumns(*table, constraint, context.position(constraint.location)))
      draft.addIncluded(*table->column(attribute));
   catalog::Constraint added;
   added.isDeferrable = constraint.deferrable;
   added.isInitiallyDeferred = constraint.initdeferred;
   draft.draft.name = constraint.conname ? constraint.conname : chosenName(context, *table, draft.draft);
   attach(context, tableOid, std::move(draft.draft), std::move(added));
}

void copyExclusion(CommandContext& context, Oid tableOid, catalog::Relation index, catalog::Constraint copied) {
   const catalog::RelationPtr table = context.core.transaction.catalog().relation(tableOid);
   index.index->table = tableOid;
   index.schema = table->schema;
   index.database = table->database;
   index.persistence = table->persistence;
   index.name = chosenName(context, *table, index);
   attach(context, tableOid, std::move(index), std::move(copied));
}

} // namespace ouzel::engine
