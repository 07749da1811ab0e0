#pragma once
#include <string>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "engine/query/command_context.hpp"

// CREATE, ALTER and DROP of FOREIGN DATA WRAPPER, SERVER and USER MAPPING. The checks come in PostgreSQL's order.
// Servers of the wrapper s3 are parts of an object store that roles may use without being able to use all files
// (engine/query/external_files.cpp); those of all other wrappers are entries of the catalog and no more.

struct AlterFdwStmt;
struct AlterForeignServerStmt;
struct AlterUserMappingStmt;
struct CreateFdwStmt;
struct CreateForeignServerStmt;
struct CreateUserMappingStmt;
struct DropStmt;
struct DropUserMappingStmt;

namespace ouzel::engine {

// wrapper.cpp
std::string createWrapper(CommandContext& context, const ::CreateFdwStmt& statement);
std::string alterWrapper(CommandContext& context, const ::AlterFdwStmt& statement);
std::string dropWrappers(CommandContext& context, const ::DropStmt& statement);
void renameWrapper(SessionCore& core, std::string_view name, std::string newName);
void changeWrapperOwner(SessionCore& core, std::string_view name, Oid owner);
void commentOnWrapper(SessionCore& core, std::string_view name, const std::string& text);
/// REASSIGN OWNED. Throws 42501 unless the new owner is a superuser.
void reassignWrappers(SessionCore& core, Oid from, Oid to);
/// Throws 42501 `permission denied for foreign-data wrapper x` unless the role has USAGE on it.
void requireUsage(SessionCore& core, const catalog::ForeignWrapper& wrapper, Oid role);

// server.cpp
std::string createServer(CommandContext& context, const ::CreateForeignServerStmt& statement);
std::string alterServer(CommandContext& context, const ::AlterForeignServerStmt& statement);
std::string dropServers(CommandContext& context, const ::DropStmt& statement);
void renameServer(SessionCore& core, std::string_view name, std::string newName);
void changeServerOwner(SessionCore& core, std::string_view name, Oid owner);
void commentOnServer(SessionCore& core, std::string_view name, const std::string& text);
/// REASSIGN OWNED.
void reassignServers(SessionCore& core, Oid from, Oid to);
/// Throws 42501 `must be owner of foreign server x`.
void requireOwner(SessionCore& core, const catalog::ForeignServer& server);
/// Throws 42501 `permission denied for foreign server x` unless the current role has USAGE on it.
void requireUsage(SessionCore& core, const catalog::ForeignServer& server);

// user_mapping.cpp
std::string createUserMapping(CommandContext& context, const ::CreateUserMappingStmt& statement);
std::string alterUserMapping(CommandContext& context, const ::AlterUserMappingStmt& statement);
std::string dropUserMapping(CommandContext& context, const ::DropUserMappingStmt& statement);
/// DROP OWNED: the role's mappings on all servers.
void dropMappingsOf(SessionCore& core, Oid role);

} // namespace ouzel::engine
