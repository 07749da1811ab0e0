#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// All of FROM; its names are in the scope from here on. One row without columns when there is no FROM.
RelPtr bindFrom(BindState& state, Scope& scope, const ::List* list);
/// A cross join, dependent when the right side reads columns of the left one.
RelPtr crossJoin(RelPtr left, RelPtr right);
/// One item of FROM: a table, a view, a join, a subquery, a function.
FromItem bindFromItem(BindState& state, Scope& scope, const ::Node* node);
/// 42712 when both sides of a join have an item of the same name.
void checkNameConflicts(const std::vector<NamespaceItem>& a, const std::vector<NamespaceItem>& b);
/// Gives an item the names of its alias. Throws 42P10 when it names too many columns.
void applyAlias(NamespaceItem& item, const ::Alias* alias, uint32_t position);
/// Notes the item for hints in errors.
void addEntry(Scope& scope, const NamespaceItem& item);
/// A stored or virtual table as a FROM item.
FromItem bindBaseTable(BindState& state, Scope& scope, const catalog::RelationPtr& relation, const ::Alias* alias,
                       uint32_t position);

/// Does `reader` have free columns that `source` makes? Then a join of the two is dependent.
bool readsColumnsOf(const Rel& reader, const Rel& source);

} // namespace ouzel::sql
