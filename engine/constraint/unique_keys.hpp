#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/algebra/rel.hpp"

// PRIMARY KEY, UNIQUE and CREATE UNIQUE INDEX. A statement's new rows are checked when it has written all of them. Keys
// that are computed are computed for the new rows here, of other indexes, too: an expression may raise an error.
//
// Two transactions may not insert the same key at once: a transaction that checks a new key locks the key's hash until
// it ends. A second transaction with that key waits, and gets 23505 if the first commits. A statement that writes very
// many rows locks the table against other writers instead.

namespace ouzel::engine {

/// The error of a key that another transaction committed after the statement's snapshot: a new snapshot shows its row.
class LateViolation : public SqlError {
public:
   explicit LateViolation(SqlError error) : SqlError(std::move(error)) {}
};

bool hasUniqueKeys(const catalog::Snapshot& snapshot, Oid relation);
/// Whether it has unique keys, or keys whose computation may be an error.
bool hasCheckedIndexes(const catalog::Snapshot& snapshot, Oid relation);
/// The lock that a statement needs on the table that it writes: one that excludes other writers when it will write many
/// keys.
LockMode lockForWriting(const catalog::Snapshot& snapshot, Oid relation, const sql::Rel& statement);
/// Throws 23505, LateViolation where known, when a row inserted by commands from `sinceCommand` on has a key that
/// another row has. Keys over none of the `assigned` attributes are left out (no attributes: all keys are checked).
/// XX002 when a constraint has lost its index.
void checkUniqueKeys(SessionCore& core, Oid relation, uint32_t sinceCommand, std::span<const int16_t> assigned = {});
/// The same for one key whose check was deferred.
void checkDeferredUniqueKey(SessionCore& core, const catalog::RelationPtr& table, const catalog::Constraint& constraint,
                            uint32_t sinceCommand);
/// Check all rows of the table; `isNew`: for an index that is being made, which changes the message.
void checkUniqueKeysOfTable(SessionCore& core, Oid relation, bool isNew = false);

} // namespace ouzel::engine
