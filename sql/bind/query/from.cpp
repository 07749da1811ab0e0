#include "sql/bind/query/from.hpp"

#include <algorithm>
#include <unordered_set>

#include "sql/algebra/build.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/policy/row_security.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/external.hpp"
#include "sql/bind/query/join.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/stored_row.hpp"
#include "sql/bind/query/table_function.hpp"
#include "sql/bind/query/table_sample.hpp"
#include "sql/bind/query/view.hpp"
#include "sql/bind/query/view_rows.hpp"
#include "sql/bind/query/xml_table.hpp"
#include "sql/bind/state/view_text.hpp"

// FROM: tables, subqueries, and the cross join of the items. JOIN is in join.cpp, views in view.cpp, functions in
// table_function.cpp.

namespace ouzel::sql {

using catalog::RelationKind;

namespace {

FromItem bindTable(BindState& state, Scope& scope, const ::RangeVar& name);
FromItem bindFromSubquery(BindState& state, Scope& scope, const ::RangeSubselect& node);

} // namespace

RelPtr bindFrom(BindState& state, Scope& scope, const ::List* list) {
   RelPtr rel;
   for (const ::Node* node : ListOf<>(list)) {
      auto item = bindFromItem(state, scope, node);
      checkNameConflicts(scope.items, item.items);
      rel = rel ? crossJoin(std::move(rel), std::move(item.rel)) : std::move(item.rel);
      for (NamespaceItem& entry : item.items) {
         entry.lateralOnly = true; // until FROM is complete, only LATERAL items see the items before them
         entry.lateralOk = true;
         scope.items.push_back(std::move(entry));
      }
   }
   for (NamespaceItem& item : scope.items)
      item.lateralOnly = false;
   return rel ? std::move(rel) : oneRow();
}

bool readsColumnsOf(const Rel& reader, const Rel& source) {
   const auto free = freeColumns(reader);
   if (free.empty()) return false;
   std::unordered_set<uint32_t> made;
   for (const ColumnId column : outputColumns(source))
      made.insert(static_cast<uint32_t>(column));
   return std::any_of(free.begin(), free.end(),
                      [&](ColumnId column) { return made.contains(static_cast<uint32_t>(column)); });
}

RelPtr crossJoin(RelPtr left, RelPtr right) {
   op::Join join;
   join.dependent = readsColumnsOf(*right, *left);
   return makeRel(RelKind::Join, std::move(join), std::move(left), std::move(right));
}

FromItem bindFromItem(BindState& state, Scope& scope, const ::Node* node) {
   const DepthGuard guard(state);
   switch (node->type) {
   case T_RangeVar: return bindTable(state, scope, *as<RangeVar>(node));
   case T_RangeSubselect: return bindFromSubquery(state, scope, *as<RangeSubselect>(node));
   case T_RangeFunction:
      if (auto external = bindExternal(state, scope, *as<RangeFunction>(node))) return std::move(*external);
      if (auto view = bindViewRows(state, scope, *as<RangeFunction>(node))) return std::move(*view);
      return bindTableFunction(state, scope, *as<RangeFunction>(node));
   case T_JoinExpr: return bindJoin(state, scope, *as<JoinExpr>(node));
   case T_RangeTableSample: {
      const auto& sample = *as<RangeTableSample>(node);
      return bindTableSample(state, scope, sample, bindFromItem(state, scope, sample.relation));
   }
   case T_RangeTableFunc: return bindXmlTable(state, scope, *as<RangeTableFunc>(node));
   default: throwInternal("unknown node in FROM");
   }
}

void checkNameConflicts(const std::vector<NamespaceItem>& a, const std::vector<NamespaceItem>& b) {
   for (const NamespaceItem& left : a) {
      if (!left.hasVisibleName || left.alias.empty()) continue;
      for (const NamespaceItem& right : b) {
         if (!right.hasVisibleName || right.alias != left.alias) continue;
         // FROM may have two tables of one name from different schemas.
         if (left.relation && right.relation && !left.isAliased && !right.isAliased &&
             left.relation->oid != right.relation->oid)
            continue;
         throw SqlError(sqlstate::duplicateAlias, "table name \"" + left.alias + "\" specified more than once");
      }
   }
}

void applyAlias(NamespaceItem& item, const ::Alias* alias, std::string_view kind) {
   if (!alias) return;
   const std::string name = alias->aliasname;
   const ListOf<> names(alias->colnames);
   if (names.size() > item.columns.size())
      throw SqlError(sqlstate::invalidColumnReference,
                     std::string(kind) + " \"" + name + "\" has " + std::to_string(item.columns.size()) +
                         " columns available but " + std::to_string(names.size()) + " columns specified");
   item.alias = name;
   item.isAliased = true;
   for (uint32_t i = 0; i < names.size(); ++i)
      item.columns[i].name = stringOf(names[i]);
}

void makeOutputUnique(BindState& state, Scope& scope, BoundRel& query) {
   std::vector<ComputedColumn> copies;
   for (size_t i = 0; i < query.output.size(); ++i) {
      OutputColumn& output = query.output[i];
      const bool isRepeated = std::any_of(query.output.begin(), query.output.begin() + static_cast<ptrdiff_t>(i),
                                          [&](const OutputColumn& other) { return other.column == output.column; });
      if (!isRepeated || output.column == noColumn) continue;
      const ColumnId copy = state.addColumn(scope, output.name, output.type);
      copies.push_back({copy, makeColumn(output.column, output.type)});
      output.column = copy;
   }
   query.rel = makeMap(std::move(query.rel), std::move(copies));
}

namespace {

/// The table of changed rows of this name; null: there is none.
catalog::RelationPtr findTransition(const BindState& state, const catalog::QualifiedName& name) {
   if (!state.context.transitions || !name.schema.empty() || !state.openViews.empty()) return nullptr;
   for (const catalog::RelationPtr& relation : *state.context.transitions)
      if (relation->name == name.name) return relation;
   return nullptr;
}

FromItem bindTable(BindState& state, Scope& scope, const ::RangeVar& name) {
   const uint32_t position = state.at(name.location);
   catalog::QualifiedName qualified{std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
                                    std::string(textOf(name.relname)), position};
   if (qualified.schema.empty())
      if (CteBinding* cte = findCte(state, scope, qualified.name)) return scanCte(state, scope, *cte, name);
   if (const auto transition = findTransition(state, qualified)) {
      state.pinned.push_back(transition);
      return bindBaseTable(state, scope, transition, name.alias);
   }
   auto relation = catalog::findRelation(state.context.catalog, state.path(), qualified);
   if (!relation) {
      SqlError error = SqlError(sqlstate::undefinedTable, "relation \"" + qualified.text() + "\" does not exist")
                           .at(position)
                           .routine("parserOpenTable");
      if (qualified.schema.empty() && isLaterCte(scope, qualified.name))
         throw std::move(error)
             .detail("There is a WITH item named \"" + qualified.name +
                     "\", but it cannot be referenced from this part of the query.")
             .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.");
      throw error;
   }
   state.relations.push_back(relation->oid);
   state.pinned.push_back(relation);
   state.access.of(relation->oid).privileges |= catalog::privilege::select;
   if (state.recorder) {
      state.recorder->readRelation(relation->oid);
      state.recorder->renameTable(relation->oid, name.location, name.schemaname ? 2 : 1,
                                  name.alias ? std::string_view() : relation->name);
      const auto schema = state.context.catalog.schema(relation->schema);
      if (qualified.schema.empty() && name.location >= 0 && schema && schema->name != "pg_catalog")
         state.recorder->replace(static_cast<uint32_t>(name.location), 0, catalog::quoteIdentifier(schema->name) + ".");
   }
   switch (relation->relationKind) {
   case RelationKind::Table: {
      FromItem item = bindBaseTable(state, scope, relation, name.alias, name.inh ? TableRows::All : TableRows::Own);
      const std::vector<GetColumn> row = item.rel->as<op::Get>().columns;
      item.rel = restrictRead(state, scope, *relation, std::move(item.rel), row);
      return item;
   }
   case RelationKind::MaterializedView:
   case RelationKind::Virtual: return bindBaseTable(state, scope, relation, name.alias);
   case RelationKind::View:
   case RelationKind::Sequence: // a sequence's row comes from a query, like a view's rows
      return bindView(state, scope, relation, name.alias);
   case RelationKind::Index:
      throw SqlError(sqlstate::wrongObjectType, "cannot open relation \"" + relation->name + "\"")
          .at(position)
          .detail("This operation is not supported for indexes.");
   case RelationKind::Domain:
   case RelationKind::Enum:
   case RelationKind::Range:
   case RelationKind::Multirange:
   case RelationKind::Shell: break; // no name of a relation finds one
   case RelationKind::Composite:
      throw SqlError(sqlstate::wrongObjectType, "cannot open relation \"" + relation->name + "\"")
          .at(position)
          .detail("This operation is not supported for composite types.");
   }
   throwInternal("unknown kind of relation");
}

} // namespace

namespace {

/// Adds the columns that a scan of several tables has besides those of the table that is named.
void addPartColumns(BindState& state, Scope& scope, op::Get& get, NamespaceItem& item) {
   const TableParts& parts = *get.table.parts;
   noteParts(state, parts);
   item.tableOid = state.addColumn(scope, "tableoid", SqlType{oid::oid, -1, invalidOid});
   state.columns[item.tableOid].nullable = false;
   get.columns.push_back({item.tableOid, tableOidAttribute});
   for (size_t i = 0; i < parts.extra.size(); ++i) {
      const TableParts::Extra& extra = parts.extra[i];
      const catalog::Column& column = *parts.parts[extra.part].relation->column(extra.attribute);
      get.columns.push_back({state.addColumn(scope, column.name, withoutDomain(column.type)), parts.attributeOf(i)});
   }
}

} // namespace

void noteParts(BindState& state, const TableParts& parts) {
   for (const TablePart& part : parts.parts)
      if (part.relation->oid != parts.table->oid) state.relations.push_back(part.relation->oid);
   for (const PartitionNode& node : parts.nodes)
      if (node.table->oid != parts.table->oid) state.relations.push_back(node.table->oid);
}

FromItem bindBaseTable(BindState& state, Scope& scope, const catalog::RelationPtr& relation, const ::Alias* alias,
                       TableRows rows) {
   op::Get get;
   const auto schema = state.context.catalog.schema(relation->schema);
   get.table = {relation->oid, static_cast<uint64_t>(relation->storage), schema ? schema->name : "pg_catalog",
                relation->name, alias ? alias->aliasname : relation->name};
   setWrapper(state.context.catalog, *relation, get.table.wrapper, get.table.hasHandler);
   if (relation->foreign && state.context.openForeign)
      get.table.external = (*state.context.openForeign)(*relation, state.access.role);
   NamespaceItem item;
   item.alias = relation->name;
   item.relation = relation.get();
   item.rowType = relation->rowType;
   for (const catalog::Column& column : relation->columns) {
      if (column.isDropped) continue;
      const ColumnId id = state.addColumn(scope, column.name, column.type);
      ColumnInfo& info = state.columns[id];
      info.tableOid = relation->oid;
      info.attribute = column.attribute;
      info.nullable = !column.notNull;
      get.columns.push_back({id, column.attribute});
      item.columns.push_back({column.name, id, column.type, relation->oid, column.attribute});
   }
   if (relation->relationKind == RelationKind::Table && !relation->isBuiltin()) {
      get.table.parts =
          rows == TableRows::Own ? ownPartsOf(relation) : boundParts(state, relation, rows == TableRows::Target);
      if (get.table.parts) addPartColumns(state, scope, get, item);
   }
   applyAlias(item, alias);
   addEntry(scope, item);
   FromItem result;
   const bool isVirtual = relation->relationKind == RelationKind::Virtual;
   result.rel = makeRel(isVirtual ? RelKind::VirtualGet : RelKind::Get, std::move(get));
   if (!isVirtual) item.scan = result.rel.get();
   result.items.push_back(std::move(item));
   return result;
}

namespace {

FromItem bindFromSubquery(BindState& state, Scope& scope, const ::RangeSubselect& node) {
   const bool outerLateral = std::exchange(scope.lateralActive, node.lateral);
   BoundRel query;
   {
      const ClauseGuard guard(scope, Clause::FromSubquery);
      query = bindSelect(state, *as<SelectStmt>(node.subquery), &scope);
   }
   scope.lateralActive = outerLateral;
   makeOutputUnique(state, scope, query);
   NamespaceItem item;
   item.columns = scopeColumns(state, scope, query);
   applyAlias(item, node.alias);
   addEntry(scope, item);
   FromItem result;
   result.rel = std::move(query.rel);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace

} // namespace ouzel::sql
