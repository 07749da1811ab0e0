#pragma once
#include <span>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/row_on_its_way.hpp"

namespace ouzel::sql {

/// Whether a table, or a part of it, has a BEFORE ROW trigger that the event fires.
bool hasRowTriggers(const BindState& state, const catalog::Relation& table, const TableParts* parts, uint32_t event,
                    std::span<const int16_t> assigned);
/// Puts the BEFORE ROW triggers of a table, or the INSTEAD OF triggers of a view, over `rel`. Rows that one of them
/// takes away are gone.
RelPtr fireRowTriggers(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                       const TableParts* parts, const RowOnItsWay& row);
/// The same for the new rows in dml.target of a statement that inserts.
RelPtr fireForInsert(BindState& state, Scope& scope, RelPtr rel, const catalog::RelationPtr& table, Dml& dml);
/// The same for the new rows of an UPDATE that belong to another part than the old ones: a row moves by DELETE and
/// INSERT. One that a BEFORE INSERT trigger takes away stays where it is.
RelPtr fireForMoves(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                    const std::vector<GetColumn>& stored, Dml& dml);
/// Whether a view has INSTEAD OF triggers for the event.
bool hasInsteadTriggers(const BindState& state, const catalog::Relation& view, uint32_t event);
/// Notes in `dml`, which is complete, what the triggers of its target need, and that BEFORE UPDATE triggers may change
/// any column. `stored`: the columns of old rows.
void noteTriggers(BindState& state, const Scope& scope, RelKind kind, Dml& dml, const std::vector<GetColumn>& stored);

} // namespace ouzel::sql
