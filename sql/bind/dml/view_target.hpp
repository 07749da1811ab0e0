#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The table behind a view that is changed.
struct ViewTarget {
   catalog::RelationPtr view, table;                   ///< null: the target is a table
   std::vector<GetColumn> old;                         ///< the table's columns as read
   std::vector<ColumnId> outputs;                      ///< by view column: one of `old`, or computed
   std::vector<std::pair<ColumnId, ExprPtr>> computed; ///< by the view, uppermost first
   ColumnId rowId = noColumn;
};

/// The view's rows with the row id of the table behind it. Throws 55000 unless the view is simple. dml_view.cpp.
FromItem bindTargetView(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& view,
                        std::string_view verb, ViewTarget& target);
/// The table's column that a view column is; null if it is computed.
const catalog::Column* columnBehind(const ViewTarget& target, const catalog::Column& column);
/// 0A000: the view computes the column, so it cannot be written.
[[noreturn]] void refuseViewColumn(const ViewTarget& target, const catalog::Column& column, const char* verb);
/// The view's item over the new row of the table.
RelPtr showView(BindState& state, Scope& scope, RelPtr rel, const ViewTarget& target, const std::vector<GetColumn>& row,
                NamespaceItem& item);

} // namespace ouzel::sql
