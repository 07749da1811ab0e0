#pragma once
#include <string>

#include "catalog/object/collation.hpp"
#include "engine/query/command_context.hpp"

// CREATE, ALTER and DROP COLLATION.

struct AlterCollationStmt;
struct DefineStmt;
struct DropStmt;
struct List;

namespace ouzel::engine {

// create_collation.cpp
std::string createCollation(CommandContext& context, const ::DefineStmt& statement);

// change_collation.cpp
/// The collation of users that has the name, a list of strings; null: a built-in one or none has it.
catalog::CollationPtr findUserCollation(SessionCore& core, const ::List* name);
/// ALTER COLLATION ... REFRESH VERSION.
std::string refreshCollation(CommandContext& context, const ::AlterCollationStmt& statement);
std::string dropCollations(CommandContext& context, const ::DropStmt& statement);
// Each throws 42501 unless who acts owns the collation. What names it in its text follows.
void renameCollation(SessionCore& core, const catalog::Collation& collation, const char* name);
void moveCollation(SessionCore& core, const catalog::Collation& collation, const char* schema);
void changeCollationOwner(SessionCore& core, const catalog::Collation& collation, Oid owner);
void commentOnCollation(SessionCore& core, const ::List* name, const std::string& text);
/// REASSIGN OWNED.
void reassignCollations(SessionCore& core, Oid from, Oid to);
/// Locks what needs the collation, until the end of the transaction.
void lockUsers(SessionCore& core, const catalog::Collation& collation);

} // namespace ouzel::engine
