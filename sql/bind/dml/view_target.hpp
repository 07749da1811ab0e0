#pragma once
#include <span>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The target of a statement that writes a view: the view, and the table behind it.
struct ViewTarget {
   catalog::RelationPtr view, table;                   ///< null: the target is a table
   std::vector<catalog::RelationPtr> views;            ///< from `view` to the one that selects from the table
   std::vector<GetColumn> old;                         ///< the table's columns as the statement reads them
   std::vector<ColumnId> outputs;                      ///< for each view column: one of `old` or of `computed`
   std::vector<std::pair<ColumnId, ExprPtr>> computed; ///< computed by the view, uppermost operator first
   ColumnId rowId = noColumn, tableOid = noColumn;     ///< as of Dml
   std::shared_ptr<const TableParts> parts{};          ///< of the table
   Rel* barrier = nullptr; ///< over the table's scan, if policies count; lives as long as the bound item
   Oid role = invalidOid;  ///< in whose name the table is written, as in RelationAccess
};

/// Binds the view's rows with the row ids of the table behind it. Throws 55000 unless the view is simple.
FromItem bindTargetView(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& view,
                        std::string_view verb, ViewTarget& target);
/// Why a view with this query is not automatically updatable, as in "Views containing DISTINCT ...", in PostgreSQL's
/// words; empty: it is. `bound`: the query, with the columns that the view shows.
std::string whyNotUpdatable(const catalog::Snapshot& snapshot, const ::SelectStmt& query, const Rel& bound,
                            std::span<const ColumnId> shown);
/// The table column behind a view column; null if the view computes the column.
const catalog::Column* columnBehind(const ViewTarget& target, const catalog::Column& column);
/// Throws 0A000 for a column that the view computes, which cannot be written.
[[noreturn]] void refuseViewColumn(const ViewTarget& target, const catalog::Column& column, const char* verb);
/// From here on, the view's item refers to the new row of the table in `row`; recomputes the view's computed columns.
RelPtr showView(BindState& state, Scope& scope, RelPtr rel, const ViewTarget& target, const std::vector<GetColumn>& row,
                NamespaceItem& item);

} // namespace ouzel::sql
