#pragma once
#include <string>
#include <vector>

#include "engine/query/command_context.hpp"

// Utility statements: all statements that are not queries. One function for each kind of statement; it returns the
// command tag.

struct AlterObjectSchemaStmt;
struct AlterOwnerStmt;
struct AlterRoleStmt;
struct AlterTableStmt;
struct CommentStmt;
struct Constraint;
struct ConstraintsSetStmt;
struct CopyStmt;
struct CreateRoleStmt;
struct CreateSchemaStmt;
struct CreateStmt;
struct CreateTableAsStmt;
struct DropRoleStmt;
struct DropStmt;
struct ExplainStmt;
struct IndexStmt;
struct LockStmt;
struct RenameStmt;
struct TransactionStmt;
struct TruncateStmt;
struct VacuumStmt;
struct VariableSetStmt;
struct VariableShowStmt;
struct ViewStmt;

namespace ouzel::engine {

// define.cpp: CREATE
std::string createTable(CommandContext& context, const ::CreateStmt& statement);
std::string createTableAs(CommandContext& context, const ::CreateTableAsStmt& statement);
std::string createView(CommandContext& context, const ::ViewStmt& statement);
std::string createSchema(CommandContext& context, const ::CreateSchemaStmt& statement);
// create_index.cpp
std::string createIndex(CommandContext& context, const ::IndexStmt& statement);
// drop.cpp: DROP, TRUNCATE
std::string dropObjects(CommandContext& context, const ::DropStmt& statement);
/// Tells the client what fell with the dropped object.
void announceCascade(SessionCore& core, const catalog::Dropped& dropped);
std::string truncateTables(CommandContext& context, const ::TruncateStmt& statement);
// alter_table.cpp, rename.cpp
std::string alterTable(CommandContext& context, const ::AlterTableStmt& statement);
std::string renameObject(CommandContext& context, const ::RenameStmt& statement);
std::string alterSchema(CommandContext& context, const ::AlterObjectSchemaStmt& statement);
std::string commentOn(CommandContext& context, const ::CommentStmt& statement);
// alter_target.cpp: ALTER SCHEMA ... OWNER TO
std::string alterOwner(CommandContext& context, const ::AlterOwnerStmt& statement);
// role.cpp
std::string createRole(CommandContext& context, const ::CreateRoleStmt& statement);
std::string alterRole(CommandContext& context, const ::AlterRoleStmt& statement);
std::string dropRole(CommandContext& context, const ::DropRoleStmt& statement);
// variable.cpp: SET, RESET, SHOW
std::string setVariable(CommandContext& context, const ::VariableSetStmt& statement);
std::string showVariable(CommandContext& context, const ::VariableShowStmt& statement);
std::vector<ResultColumn> showColumns(const ::VariableShowStmt& statement);
// variable.cpp also: BEGIN, COMMIT, ROLLBACK, SAVEPOINT
std::string transactionControl(CommandContext& context, const ::TransactionStmt& statement);
// set_constraints.cpp
std::string setConstraints(CommandContext& context, const ::ConstraintsSetStmt& statement);
// explain.cpp
std::string explain(CommandContext& context, const ::ExplainStmt& statement);
std::vector<ResultColumn> explainColumns(const ::ExplainStmt& statement);
// copy.cpp
std::string copy(CommandContext& context, const ::CopyStmt& statement);
// lock_table.cpp
std::string lockTables(CommandContext& context, const ::LockStmt& statement);
// maintenance.cpp: VACUUM, ANALYZE, CHECKPOINT
std::string vacuum(CommandContext& context, const ::VacuumStmt& statement);
std::string checkpoint(CommandContext& context);

// in_use.cpp
/// Throws 55006 if an open cursor of the session reads the table, or checks of its rows are deferred: `command` would
/// take the rows away. `command`: "DROP TABLE".
void requireNotInUse(SessionCore& core, const catalog::Relation& table, std::string_view command);

// foreign_key.cpp
/// Add the constraint to an existing table; `columns` are the child's. The table's rows are checked unless NOT VALID.
void addForeignKey(CommandContext& context, Oid child, const ::Constraint& definition,
                   const std::vector<std::string>& columns);
/// ALTER TABLE ... VALIDATE CONSTRAINT
void validateConstraint(CommandContext& context, Oid table, const std::string& name);
/// Throws 23514 if a row of the table breaks the check.
void requireCheckHolds(SessionCore& core, const catalog::Relation& table, const catalog::Constraint& check);
/// Throws 42804 unless the index of the referenced key can be searched for values of the referencing columns.
void requireComparable(const catalog::Relation& child, const catalog::Relation& parent,
                       const catalog::Constraint& constraint);
/// The table's name for internal SQL: "public"."t".
std::string quotedTable(const catalog::Snapshot& snapshot, const catalog::Relation& relation);

/// Rows of text for the client: SHOW, EXPLAIN. Each row has one field per column.
void emitTextRows(ResultSink& sink, const std::vector<ResultColumn>& columns,
                  const std::vector<std::vector<std::string>>& rows);
ResultColumn textColumn(std::string name);

/// The name of a command's target. It has no position: PostgreSQL reports none when the target does not exist.
catalog::QualifiedName commandTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name);

} // namespace ouzel::engine
