#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/query/command_context.hpp"

// Statements that define objects: CREATE, ALTER, DROP, COMMENT, TRUNCATE. One function for each kind of statement; it
// returns the command tag.

struct AlterDomainStmt;
struct AlterEnumStmt;
struct AlterObjectSchemaStmt;
struct AlterOwnerStmt;
struct AlterTableCmd;
struct AlterTableStmt;
struct CommentStmt;
struct CompositeTypeStmt;
struct Constraint;
struct CreateDomainStmt;
struct CreateEnumStmt;
struct CreateRangeStmt;
struct CreateStmt;
struct DefineStmt;
struct DropStmt;
struct IndexStmt;
struct Node;
struct RenameStmt;
struct TruncateStmt;
struct ViewStmt;

namespace ouzel::engine {

// define.cpp: CREATE
std::string createTable(CommandContext& context, const ::CreateStmt& statement);
std::string createView(CommandContext& context, const ::ViewStmt& statement);
// composite_type.cpp
std::string createCompositeType(CommandContext& context, const ::CompositeTypeStmt& statement);
/// A sub-command of ALTER TYPE for a composite type.
void alterCompositeType(CommandContext& context, Oid type, const ::AlterTableCmd& command);
// enum_type.cpp
std::string createEnum(CommandContext& context, const ::CreateEnumStmt& statement);
std::string alterEnum(CommandContext& context, const ::AlterEnumStmt& statement);
// shell_type.cpp: CREATE TYPE that is none of the other forms
std::string createShell(CommandContext& context, const ::DefineStmt& statement);
// range_type.cpp
std::string createRange(CommandContext& context, const ::CreateRangeStmt& statement);
// domain.cpp
std::string createDomain(CommandContext& context, const ::CreateDomainStmt& statement);
std::string alterDomain(CommandContext& context, const ::AlterDomainStmt& statement);
// create_index.cpp
std::string createIndex(CommandContext& context, const ::IndexStmt& statement);
// drop.cpp: DROP, TRUNCATE
std::string dropObjects(CommandContext& context, const ::DropStmt& statement);
/// Frees the storage of what was dropped, and tells the client what fell with it.
void announceAndFree(SessionCore& core, const catalog::Dropped& dropped);
/// DISCARD TEMP: drops the temporary objects of the session. Says nothing of what depends on them.
void dropTemporaryObjects(SessionCore& core);
/// Tells the client what fell with the dropped object.
void announceCascade(SessionCore& core, const catalog::Dropped& dropped);
std::string truncateTables(CommandContext& context, const ::TruncateStmt& statement);
/// Gives the table a new, empty storage. REQUIRES: it is locked.
void emptyTable(SessionCore& core, Oid table);
// alter_table.cpp, rename.cpp
std::string alterTable(CommandContext& context, const ::AlterTableStmt& statement);
std::string renameObject(CommandContext& context, const ::RenameStmt& statement);
std::string alterSchema(CommandContext& context, const ::AlterObjectSchemaStmt& statement);
std::string commentOn(CommandContext& context, const ::CommentStmt& statement);
// alter_target.cpp: ALTER SCHEMA ... OWNER TO
std::string alterOwner(CommandContext& context, const ::AlterOwnerStmt& statement);
// change_system_object.cpp
/// ALTER and DROP of objects that only the system has, in statements of their own kind: ALTER DOMAIN, DROP TABLESPACE.
/// Empty if the statement is another one, or what it wants is not built.
std::optional<std::string> changeSystemObject(CommandContext& context, const ::Node* statement);

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
void requireComparable(SessionCore& core, const catalog::Relation& child, const catalog::Relation& parent,
                       const catalog::Constraint& constraint);
/// The table's name for internal SQL that reads its own rows: "public"."t"; ONLY "public"."t" if others inherit from
/// it.
std::string quotedTable(const catalog::Snapshot& snapshot, const catalog::Relation& relation);

} // namespace ouzel::engine
