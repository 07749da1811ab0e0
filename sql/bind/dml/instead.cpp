#include "sql/bind/dml/instead.hpp"

#include <algorithm>

#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/insert.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/query/from.hpp"

namespace ouzel::sql {

namespace bit = catalog::trigger_bit;

namespace {

const ::RangeVar& targetOf(const ::Node& statement) {
   switch (statement.type) {
   case T_InsertStmt: return *as<InsertStmt>(&statement)->relation;
   case T_UpdateStmt: return *as<UpdateStmt>(&statement)->relation;
   default: return *as<DeleteStmt>(&statement)->relation;
   }
}

const ::List* returningOf(const ::Node& statement) {
   switch (statement.type) {
   case T_InsertStmt: return as<InsertStmt>(&statement)->returningList;
   case T_UpdateStmt: return as<UpdateStmt>(&statement)->returningList;
   default: return as<DeleteStmt>(&statement)->returningList;
   }
}

/// In RETURNING the view's name means the new row.
void showNewRow(NamespaceItem& item, const std::vector<GetColumn>& before, const std::vector<GetColumn>& after) {
   for (ScopeColumn& shown : item.columns) {
      const auto old = std::find_if(before.begin(), before.end(),
                                    [&](const GetColumn& column) { return column.column == shown.column; });
      if (old == before.end()) continue;
      for (const GetColumn& column : after)
         if (column.attribute == old->attribute) shown.column = column.column;
   }
}

} // namespace

BoundRel bindInstead(BindState& state, Scope& scope, const ::Node& statement, const catalog::RelationPtr& view) {
   const ::RangeVar& name = targetOf(statement);
   auto dml = makeDml(state, *view, &name);
   dml->isInstead = true;
   RelKind kind = RelKind::Insert;
   RelPtr rel;
   std::vector<GetColumn> before;
   if (isNode(&statement, T_InsertStmt)) {
      const auto& insert = *as<InsertStmt>(&statement);
      if (insert.onConflictClause) throwNotSupported("ON CONFLICT of a view with INSTEAD OF triggers");
      rel = bindInsertedRows(state, scope, insert, view, nullptr, dml->target);
      rel = fireRowTriggers(state, scope, std::move(rel), *view, nullptr, {bit::insert, nullptr, &dml->target});
      scope.items.clear();
      scope.entries.clear();
      NamespaceItem item = itemOf(*view, dml->target);
      applyAlias(item, name.alias);
      addEntry(scope, item);
      scope.items.push_back(std::move(item));
   } else {
      const bool isUpdate = isNode(&statement, T_UpdateStmt);
      kind = isUpdate ? RelKind::Update : RelKind::Delete;
      rel = bindUpdatedRows(state, scope, statement, view, nullptr, before, dml->target);
      const std::vector<GetColumn> shown = before;
      rel = fireRowTriggers(state, scope, std::move(rel), *view, nullptr,
                            {isUpdate ? bit::update : bit::del, &before, isUpdate ? &dml->target : nullptr});
      if (isUpdate) showNewRow(scope.items.front(), shown, dml->target);
   }
   TargetPolicies policies;
   policies.setStored(std::move(before));
   return finishDml(state, scope, kind, std::move(rel), std::move(dml), returningOf(statement), policies);
}

} // namespace ouzel::sql
