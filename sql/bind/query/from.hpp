#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds FROM and adds its names to the scope. Without FROM: one row without columns.
RelPtr bindFrom(BindState& state, Scope& scope, const ::List* list);
/// A cross join. It is dependent if the right side reads columns of the left side.
RelPtr crossJoin(RelPtr left, RelPtr right);
/// Binds one item of FROM: a table, a view, a join, a subquery, a function.
FromItem bindFromItem(BindState& state, Scope& scope, const ::Node* node);
/// Throws 42712 if both sides of a join have an item of the same name.
void checkNameConflicts(const std::vector<NamespaceItem>& a, const std::vector<NamespaceItem>& b);
/// Gives an item the name and column names of its alias. Throws 42P10 if the alias names too many columns; `kind` says
/// what the item is.
void applyAlias(NamespaceItem& item, const ::Alias* alias, std::string_view kind = "table");
/// Which rows of a table are meant: with those of its partitions and heirs or without (ONLY); a target's scan reads the
/// columns that only heirs have, too.
enum class TableRows : uint8_t { All, Own, Target };
/// Binds a stored or virtual table as a FROM item.
FromItem bindBaseTable(BindState& state, Scope& scope, const catalog::RelationPtr& relation, const ::Alias* alias,
                       TableRows rows = TableRows::All);
/// Notes that the statement reads or writes the parts of a table.
void noteParts(BindState& state, const TableParts& parts);

/// True if `reader` has free columns that `source` makes. A join of the two is then dependent.
bool readsColumnsOf(const Rel& reader, const Rel& source);
/// Gives each output a column of its own: grouping sets, for one, tell two names of one column apart.
void makeOutputUnique(BindState& state, Scope& scope, BoundRel& query);

} // namespace ouzel::sql
