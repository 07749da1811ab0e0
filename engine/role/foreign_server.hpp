#pragma once
#include <string>

#include "engine/query/command_context.hpp"

// CREATE, ALTER and DROP of SERVER and USER MAPPING: parts of an object store that roles may use without being able to
// use all files (engine/query/external_files.cpp). The foreign-data wrapper is "s3".

struct AlterForeignServerStmt;
struct AlterUserMappingStmt;
struct CreateForeignServerStmt;
struct CreateUserMappingStmt;
struct DropStmt;
struct DropUserMappingStmt;

namespace ouzel::engine {

std::string createServer(CommandContext& context, const ::CreateForeignServerStmt& statement);
std::string alterServer(CommandContext& context, const ::AlterForeignServerStmt& statement);
std::string dropServers(CommandContext& context, const ::DropStmt& statement);
std::string createUserMapping(CommandContext& context, const ::CreateUserMappingStmt& statement);
std::string alterUserMapping(CommandContext& context, const ::AlterUserMappingStmt& statement);
std::string dropUserMapping(CommandContext& context, const ::DropUserMappingStmt& statement);

/// Throws 42704 if there is no server of this name.
catalog::ServerPtr requireServer(SessionCore& core, std::string_view name);
/// Throws 42501 `must be owner of foreign server x`.
void requireOwner(SessionCore& core, const catalog::ForeignServer& server);
void renameServer(SessionCore& core, std::string_view name, std::string newName);
/// OWNER TO.
void changeServerOwner(SessionCore& core, std::string_view name, Oid owner);
/// REASSIGN OWNED: gives the role's servers to another.
void reassignServers(SessionCore& core, Oid from, Oid to);
/// DROP OWNED: drops the role's servers and user mappings. Throws 2BP01 if others have mappings on its servers, unless
/// it cascades.
void dropServersOf(SessionCore& core, Oid role, bool cascades);

} // namespace ouzel::engine
