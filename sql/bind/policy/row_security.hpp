#pragma once
#include <vector>

#include "sql/bind/state/bind_state.hpp"

// Row-level security: the policies of tables become predicates of the scans that read them, and checks of the rows that
// statements write (target_policies.hpp). They hold for the role in whose name a table is used, and are part of the
// plan.
//
//    SELECT ... FROM t      Barrier                     above, nothing learns of rows that the policies hide
//                              Select (policies)
//                                 Get t

namespace ouzel::sql {

/// A table in FROM: keeps the rows that the role in whose name it is read may see. `row`: the scan's columns.
RelPtr restrictRead(BindState& state, const Scope& scope, const catalog::Relation& table, RelPtr scan,
                    const std::vector<GetColumn>& row);
/// FOR UPDATE and its kin: only rows that the role of the barrier may change, too. `scan`: the Get below it.
void restrictLocked(BindState& state, const Scope& scope, Rel& barrier, const op::Get& scan);

} // namespace ouzel::sql
