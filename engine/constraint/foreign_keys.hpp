#pragma once
#include <utility>
#include <vector>

#include "engine/constraint/referenced_rows.hpp"
#include "engine/core/session_core.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/plan/plan.hpp"

// FOREIGN KEY. When a statement has written all its rows, new keys of child tables are looked up in their parent
// tables, and for deleted or changed parent keys the referential actions run.
//
// Up to some thousand keys of children are looked up one by one. The parent's row is locked with the strength KeyShare
// until the transaction ends: who would delete it or change its key waits, and finds the new child then. With more keys
// the parent table is locked against writers, and one join over the whole table does the check. Who deletes a parent or
// changes its key has marked the row, for which a new child waits, and needs no other lock.

namespace ouzel::engine {

/// Check the rows that commands from `sinceCommand` on have written: throws 23503, or runs the actions of ON DELETE and
/// ON UPDATE. `plan` is the statement's, null when it only inserts. Deferrable checks may be left to the end of the
/// transaction. REQUIRES: the command has ended.
void checkForeignKeys(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan* plan,
                      uint32_t sinceCommand);
/// The same for one foreign key whose check was deferred.
void checkDeferredForeignKey(SessionCore& core, const catalog::RelationPtr& table,
                             const catalog::Constraint& constraint, uint32_t sinceCommand);
/// Check all rows of a table against one of its foreign keys: for a constraint that is being made or validated.
void checkForeignKeyOfTable(SessionCore& core, const catalog::RelationPtr& table,
                            const catalog::Constraint& constraint);
/// True when rows must be written in the order they were read, on one thread: ON UPDATE CASCADE pairs old and new keys.
bool needsRowOrder(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan& plan);

} // namespace ouzel::engine
