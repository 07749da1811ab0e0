#include "sql/bind/query/view.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/state/view_text.hpp"

// Views in FROM: each use parses and binds the view's text again.

namespace ouzel::sql {

namespace {

/// Whether the view has a boolean option, "security_invoker=", that is true.
bool isOn(const catalog::Relation& view, std::string_view option) {
   for (const std::string& given : view.options)
      if (given.starts_with(option)) {
         // As every boolean: "tru" and "Y" are true.
         const std::string value = lowerCase(std::string_view(given).substr(option.size()));
         const auto isPartOf = [&](std::string_view word) { return !value.empty() && word.starts_with(value); };
         return isPartOf("true") || isPartOf("yes") || value == "on" || value == "1";
      }
   return false;
}

} // namespace

Oid roleBehind(const catalog::Relation& view) {
   return isOn(view, "security_invoker=") ? invalidOid : view.owner;
}

namespace {

/// The view's columns without its query.
BoundRel columnsOf(BindState& state, const Scope& scope, const catalog::Relation& view) {
   BoundRel result;
   op::Values values;
   for (const catalog::Column& column : view.columns) {
      if (column.isDropped) continue;
      const ColumnId id = state.addColumn(scope, column.name, column.type);
      values.columns.push_back(id);
      result.output.push_back({column.name, id, column.type});
   }
   result.rel = makeRel(RelKind::Values, std::move(values));
   return result;
}

BoundRel queryOf(BindState& state, Scope& scope, const catalog::Relation& view) {
   if (std::find(state.openViews.begin(), state.openViews.end(), view.oid) != state.openViews.end())
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "infinite recursion detected in rules for relation \"" + view.name + "\"");
   state.openViews.push_back(view.oid);
   const auto script = ParsedScript::parse(view.definition);
   // The definition cannot refer to names of the query that uses the view. The client does not know positions in it.
   const SourceText* outerSource = std::exchange(state.source, nullptr);
   const auto outerRecursion = std::exchange(state.recursion, {});
   const auto* select = as<SelectStmt>(script.statements().at(0).node);
   const Oid outerRole = std::exchange(state.access.role, roleBehind(view));
   BoundRel query = bindSelect(state, *select, nullptr);
   state.access.role = outerRole;
   makeRowsValues(state, scope.depth, query);
   makeOutputUnique(state, scope, query);
   if (isOn(view, "security_barrier=")) query.rel = makeRel(RelKind::Barrier, op::Barrier{}, std::move(query.rel));
   state.openViews.pop_back();
   state.source = outerSource;
   state.recursion = outerRecursion;
   return query;
}

} // namespace

FromItem bindView(BindState& state, Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias) {
   // While a view is defined or renamed, the views that it reads are not looked into: they may come to read it, which
   // is an error only of a query.
   BoundRel query = state.recorder ? columnsOf(state, scope, *view) : queryOf(state, scope, *view);
   NamespaceItem item;
   item.alias = view->name;
   item.relation = view.get();
   item.rowType = view->rowType;
   size_t next = 0;
   for (const catalog::Column& column : view->columns) {
      if (column.isDropped) continue;
      if (next >= query.output.size()) break;
      const OutputColumn& output = query.output[next++];
      state.adopt(scope, output.column);
      item.columns.push_back({column.name, output.column, output.type, view->oid, column.attribute});
   }
   applyAlias(item, alias);
   addEntry(scope, item);
   FromItem result;
   result.rel = std::move(query.rel);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
