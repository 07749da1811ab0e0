#include "sql/bind/dml/view_target.hpp"

#include <algorithm>
#include <map>

#include "sql/algebra/build.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/query/stored_row.hpp"
#include "sql/bind/query/view.hpp"

// INSERT, UPDATE and DELETE of simple views, which select from one table or from one simple view. The statement writes
// the table, whose columns are the view's columns.

namespace ouzel::sql {

namespace {

[[noreturn]] void refuseView(const catalog::Relation& view, std::string_view verb, const std::string& reason) {
   const std::string doing = verb == "INSERT" ? "inserting into" : verb == "UPDATE" ? "updating" : "deleting from";
   const std::string done = verb == "INSERT" ? "insert into" : verb == "UPDATE" ? "update" : "delete from";
   const std::string event(verb);
   throw SqlError(sqlstate::objectNotInPrerequisiteState, "cannot " + done + " view \"" + view.name + "\"")
       .detail("Views " + reason + " are not automatically updatable.")
       .hint("To enable " + doing + " the view, provide an INSTEAD OF " + event + " trigger or an unconditional ON " +
             event + " DO INSTEAD rule.");
}

constexpr const char* severalTables = "that do not select from a single table or view";

/// The clause of the text that a simple view must not have; empty: there is none.
std::string complexClause(const ::SelectStmt& select) {
   if (select.distinctClause) return "containing DISTINCT";
   if (select.groupClause) return "containing GROUP BY";
   if (select.havingClause) return "containing HAVING";
   if (select.op != SETOP_NONE) return "containing UNION, INTERSECT, or EXCEPT";
   if (select.withClause) return "containing WITH";
   if (select.limitCount || select.limitOffset) return "containing LIMIT or OFFSET";
   return {};
}

/// What the operator computes that a simple view must not; empty: nothing of the kind.
std::string complexCalls(const Rel& rel) {
   if (rel.kind == RelKind::GroupBy) return "that return aggregate functions";
   if (rel.kind == RelKind::Window) return "that return window functions";
   if (rel.kind == RelKind::ProjectSet) return "that return set-returning functions";
   return {};
}

} // namespace

FromItem bindTargetView(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& view,
                        std::string_view verb, ViewTarget& target) {
   FromItem item = bindView(state, scope, view, name.alias);
   // The operators of a simple view are a chain above the Get of the table. Each view in the chain must be simple.
   Rel* rel = item.rel.get();
   std::string found;
   while (rel->kind != RelKind::Get && !rel->inputs.empty()) {
      if (const std::string calls = complexCalls(*rel); !calls.empty()) found = calls;
      if (const auto* barrier = rel->getIf<op::Barrier>(); barrier && barrier->relation != invalidOid)
         target.barrier = rel;
      if (rel->kind == RelKind::Join || rel->kind == RelKind::SetOp) break;
      if (const auto* map = rel->getIf<op::Map>())
         for (const ComputedColumn& computed : map->computed)
            target.computed.emplace_back(computed.column, clone(*computed.expr));
      rel = rel->inputs[0].get();
   }
   const uint32_t needed = verb == "INSERT"   ? catalog::privilege::insert
                           : verb == "UPDATE" ? catalog::privilege::update
                                              : catalog::privilege::del;
   target.role = state.access.role;
   for (catalog::RelationPtr at = view; at;) {
      const auto script = ParsedScript::parse(at->definition);
      const auto& select = *as<SelectStmt>(script.statements().at(0).node);
      if (const std::string clause = complexClause(select); !clause.empty()) refuseView(*at, verb, clause);
      if (const ListOf<> all(select.fromClause); all.size() == 1 && isNode(all[0], T_RangeTableSample))
         refuseView(*at, verb, "containing TABLESAMPLE");
      target.views.push_back(at);
      const ListOf<> from(select.fromClause);
      const bool isOne = from.size() == 1 && isNode(from[0], T_RangeVar);
      catalog::RelationPtr next;
      if (isOne) {
         const auto& source = *as<RangeVar>(from[0]);
         const catalog::QualifiedName inner{
             {}, std::string(textOf(source.schemaname)), std::string(textOf(source.relname)), 0};
         next = catalog::findRelation(state.context.catalog, state.uncheckedPath(), inner);
      }
      const bool isView = next && next->relationKind == catalog::RelationKind::View;
      if (!isView && !found.empty()) refuseView(*at, verb, found);
      if (!isOne || (!isView && (rel->kind != RelKind::Get || !next || next->oid != rel->as<op::Get>().table.relation)))
         refuseView(*at, verb, severalTables);
      if (!isView) target.table = next;
      target.role = roleBehind(*at);
      RelationAccess& behind = state.access.of(next->oid, target.role);
      behind.privileges |= needed;
      // Which columns of a view in between are written is not followed: it takes the privilege on all of it.
      if (isView) {
         behind.inserted.push_back(0);
         behind.updated.push_back(0);
      }
      at = isView ? next : nullptr;
   }
   if (target.table->relationKind != catalog::RelationKind::Table) refuseView(*view, verb, severalTables);
   target.view = view;
   auto& get = rel->as<op::Get>();
   for (const GetColumn& column : get.columns)
      if (column.attribute > 0)
         target.old.push_back(column);
      else if (column.attribute == tableOidAttribute)
         target.tableOid = column.column;
   target.parts = get.table.parts;
   target.rowId = state.addColumn(scope, "rowid", {oid::int8, -1, invalidOid});
   get.columns.push_back({target.rowId, rowIdAttribute});
   const auto parts = target.parts && verb == "UPDATE" ? boundParts(state, target.table, true) : nullptr;
   if (parts && !parts->extra.empty()) throwNotSupported("UPDATE of a view of a table whose heirs have more columns");
   for (const ScopeColumn& column : item.items[0].columns)
      target.outputs.push_back(column.column);
   return item;
}

std::string whyNotUpdatable(const catalog::Snapshot& snapshot, const ::SelectStmt& query, const Rel& bound,
                            std::span<const ColumnId> shown) {
   std::string reason = complexClause(query);
   const Rel* rel = &bound;
   for (; rel->inputs.size() == 1; rel = rel->inputs[0].get())
      if (const std::string calls = complexCalls(*rel); reason.empty() && !calls.empty()) reason = calls;
   if (!reason.empty()) return reason;
   const ListOf<> from(query.fromClause);
   if (from.size() == 1 && isNode(from[0], T_RangeTableSample)) return "containing TABLESAMPLE";
   // While a view is defined, the views that it reads are Values.
   const auto* get = rel->kind == RelKind::Get ? rel->getIf<op::Get>() : nullptr;
   const auto* view = rel->getIf<op::Values>();
   if (const auto read = get ? snapshot.relation(get->table.relation) : nullptr)
      if (read->relationKind != catalog::RelationKind::Table) get = nullptr;
   if (from.size() != 1 || !isNode(from[0], T_RangeVar) || (!get && !view)) return severalTables;
   for (const ColumnId column : shown) {
      if (get && std::any_of(get->columns.begin(), get->columns.end(),
                             [&](const GetColumn& stored) { return stored.column == column; }))
         return {};
      if (view && std::find(view->columns.begin(), view->columns.end(), column) != view->columns.end()) return {};
   }
   return "that have no updatable columns";
}

const catalog::Column* columnBehind(const ViewTarget& target, const catalog::Column& column) {
   size_t index = 0;
   for (const catalog::Column& other : target.view->columns) {
      if (other.isDropped) continue;
      if (&other == &column) break;
      ++index;
   }
   ColumnId shown = target.outputs[index];
   for (const auto& [made, expr] : target.computed) // from the top: a copy of a column is that column
      if (made == shown && expr->kind == ExprKind::Column) shown = columnOf(*expr);
   for (const GetColumn& stored : target.old)
      if (stored.column == shown) return target.table->column(stored.attribute);
   return nullptr;
}

void refuseViewColumn(const ViewTarget& target, const catalog::Column& column, const char* verb) {
   throw SqlError(sqlstate::featureNotSupported, "cannot " + std::string(verb) + " column \"" + column.name +
                                                     "\" of view \"" + target.view->name + "\"")
       .detail("View columns that are not columns of their base relation are not updatable.");
}

RelPtr showView(BindState& state, Scope& scope, RelPtr rel, const ViewTarget& target, const std::vector<GetColumn>& row,
                NamespaceItem& item) {
   std::map<ColumnId, ColumnId> renamed;
   for (const GetColumn& old : target.old)
      for (const GetColumn& current : row)
         if (old.attribute == current.attribute) renamed[old.column] = current.column;
   // Compute the view's computed columns again over the new row, from the operator next to the table upwards.
   for (size_t i = target.computed.size(); i-- > 0;) {
      ExprPtr value = clone(*target.computed[i].second);
      ExprPtr replacement;
      substituteColumns(value, [&](ColumnId column) -> const Expr* {
         const auto it = renamed.find(column);
         if (it == renamed.end()) return nullptr;
         replacement = makeColumn(it->second, state.columns[it->second].type);
         return replacement.get();
      });
      const ColumnId column = state.addColumn(scope, state.columns[target.computed[i].first].name, value->type);
      renamed[target.computed[i].first] = column;
      std::vector<ComputedColumn> computed;
      computed.push_back({column, std::move(value)});
      rel = makeMap(std::move(rel), std::move(computed));
   }
   for (ScopeColumn& shown : item.columns)
      if (const auto it = renamed.find(shown.column); it != renamed.end()) shown.column = it->second;
   return rel;
}

} // namespace ouzel::sql
