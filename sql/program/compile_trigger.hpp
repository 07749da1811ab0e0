#pragma once
#include <string>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/row_on_its_way.hpp"
#include "sql/program/program.hpp"

namespace ouzel::sql::program {

/// Puts over `rel` what the function of a BEFORE ROW trigger does, if it does no more than compute values for NEW from
/// OLD, NEW, TG_... and variables, or leave rows out: computed columns, which become those of `row.after`, and
/// conditions. `fires`: a column that says for which rows the trigger fires; noColumn: for all. False: the function has
/// to be called, and `rel` and `row` are as before; `why` says what needs it.
bool compileTrigger(BindState& state, Scope& scope, const Program& program, const catalog::Relation& table,
                    const catalog::Trigger& trigger, const RowOnItsWay& row, ColumnId fires, RelPtr& rel,
                    std::string& why);

/// Whether it is RETURN NULL.
bool returnsNull(const Return& node);

} // namespace ouzel::sql::program
