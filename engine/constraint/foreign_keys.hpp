#pragma once
#include <utility>
#include <vector>

#include "engine/core/session_core.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/plan/plan.hpp"

// FOREIGN KEY: what a statement wrote is compared with the tables its foreign keys join, when it has written all, and
// referential actions follow.
//
// Few keys are looked up one by one; who has found a referenced key holds a shared lock on its hash until the
// transaction ends, and who deletes or changes one needs it alone. Past some thousand keys either side locks the other
// table against writers, and one join over the whole table checks.

namespace ouzel::engine {

/// Foreign keys that reference a relation: the table that has it, the constraint. Valid until the catalog changes.
const std::vector<std::pair<Oid, Oid>>& referencesTo(SessionCore& core, Oid relation);

/// Check what commands from `sinceCommand` on have written: 23503, or the actions that ON DELETE and ON UPDATE ask for.
/// `plan`: of the statement, null when it only inserts. Deferred checks are left to the end of the transaction.
/// REQUIRES: that command has ended.
void checkForeignKeys(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan* plan,
                      uint32_t sinceCommand);
/// The same for one that was deferred.
void checkDeferredForeignKey(SessionCore& core, const catalog::RelationPtr& table,
                             const catalog::Constraint& constraint, uint32_t sinceCommand);
/// All rows of a table against one of its foreign keys: for one that is being made or validated.
void checkForeignKeyOfTable(SessionCore& core, const catalog::RelationPtr& table,
                            const catalog::Constraint& constraint);
/// True when rows must be written in the order they were read, on one thread: ON UPDATE CASCADE pairs old and new keys.
bool needsRowOrder(SessionCore& core, const std::vector<sql::WrittenRelation>& written, const sql::plan::Plan& plan);

} // namespace ouzel::engine
