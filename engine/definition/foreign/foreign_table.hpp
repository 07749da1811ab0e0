#pragma once
#include <string>

#include "engine/query/command_context.hpp"

// Foreign tables: CREATE FOREIGN TABLE and IMPORT FOREIGN SCHEMA, what ALTER changes of their options, and what they
// cannot have. They are relations of kind Table that have ForeignTable and no storage.

struct AlterTableCmd;
struct Constraint;
struct CreateForeignTableStmt;
struct ImportForeignSchemaStmt;

namespace ouzel::engine {

std::string createForeignTable(CommandContext& context, const ::CreateForeignTableStmt& statement);
/// import_schema.cpp
std::string importForeignSchema(CommandContext& context, const ::ImportForeignSchemaStmt& statement);

/// Throws 0A000 for a key, a foreign key or an exclusion constraint, at its position.
void requireForeignConstraint(CommandContext& context, const ::Constraint& constraint);
/// Throws 42809 for a sub-command of ALTER TABLE that foreign tables do not have, or one that only they have; 0A000 for
/// constraints that they cannot have.
void requireForeignAction(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
/// OPTIONS (...).
void changeTableOptions(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// ALTER COLUMN ... OPTIONS (...), and OPTIONS of a new column. Throws 42703.
void changeColumnOptions(SessionCore& core, Oid table, const std::string& column, const ::List* options);

} // namespace ouzel::engine
