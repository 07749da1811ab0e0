#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/algebra/rel.hpp"

// PRIMARY KEY, UNIQUE and CREATE UNIQUE INDEX. A statement's new rows are checked when it has written all of them.
//
// Two transactions may not insert the same key at once: who checks a new key first locks its hash until the transaction
// ends, so a second one waits for the first to commit (23505) or not. A statement that writes very many rows locks the
// table against other writers instead.

namespace ouzel::engine {

bool hasUniqueKeys(const catalog::Snapshot& snapshot, Oid relation);
/// The lock a statement needs on the table it writes: on every writer's account when it will write many keys.
LockMode lockForWriting(const catalog::Snapshot& snapshot, Oid relation, const sql::Rel& statement);
/// Throws 23505 when a row inserted by commands from `sinceCommand` on has a key that another row has. Keys over none
/// of the `assigned` attributes are left out (no attributes: all keys are checked).
void checkUniqueKeys(SessionCore& core, Oid relation, uint32_t sinceCommand, std::span<const int16_t> assigned = {});
/// The same of one key that was deferred.
void checkDeferredUniqueKey(SessionCore& core, const catalog::RelationPtr& table, const catalog::Constraint& constraint,
                            uint32_t sinceCommand);
/// The same for all rows; `isNew`: for a key that is being made.
void checkUniqueKeysOfTable(SessionCore& core, Oid relation, bool isNew = false);

} // namespace ouzel::engine
