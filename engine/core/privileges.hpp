#pragma once
#include <vector>

#include "catalog/object/acl.hpp"
#include "engine/core/session_core.hpp"
#include "sql/algebra/access.hpp"

// Who may do what: checks of the session's current role against owners and access control lists. Each throws 42501 in
// PostgreSQL's words. Queries of the server in its own name (SessionCore::AsServer) pass
// requireAccess(); what their expressions call does not.

namespace ouzel::engine {

/// Checks what a bound statement does with relations: by the current role, or by the owner of the view that names them.
void requireAccess(SessionCore& core, const std::vector<sql::RelationAccess>& accesses);
/// `permission denied for function x`, of a built-in function or one of a user.
void requireExecute(const catalog::Snapshot& snapshot, Oid role, Oid function);
/// `permission denied for language x`.
void requireLanguage(SessionCore& core, Oid language);
/// `permission denied for table x`.
void requirePrivilege(SessionCore& core, const catalog::Relation& relation, uint32_t wanted);
/// `must be owner of table x`.
void requireOwner(SessionCore& core, const catalog::Relation& relation);
/// `must be owner of schema x`.
void requireOwner(SessionCore& core, const catalog::Schema& schema);
/// `must be owner of database x`.
void requireOwner(SessionCore& core, const catalog::Database& database);
/// Who may drop a relation: its owner, or that of its schema.
void requireDroppable(SessionCore& core, const catalog::Relation& relation);
/// `permission denied for schema x`.
void requirePrivilege(SessionCore& core, const catalog::Schema& schema, uint32_t wanted);
/// `permission denied for database x`, of the session's database.
void requireDatabasePrivilege(SessionCore& core, uint32_t wanted);
/// `must be superuser`, or another message.
void requireSuperuser(SessionCore& core, const std::string& message);
/// A role becomes the current one for a part of a statement; "none": the session's user. Whether the user may become it
/// is not asked.
void actAs(SessionCore& core, const std::string& role);
/// SET ROLE and SET SESSION AUTHORIZATION. A new session user gives up the role. False: it is another setting. Throws
/// 22023 for a role that does not exist, and 42501 within functions that are SECURITY DEFINER.
bool setRole(SessionCore& core, std::string_view setting, const std::string& name, bool isLocal);
/// Tells the client whether who acts is a superuser.
void noteRole(SessionCore& core);
/// `permission denied to set parameter "x"`.
void requireSettable(SessionCore& core, std::string_view setting);
/// Whether the current role may see settings that show where the server keeps its files.
bool mayExamineSettings(SessionCore& core);
/// The value of a setting as SHOW gives it. Throws 42704, and 42501 `must be superuser or have privileges of
/// pg_read_all_settings to examine "x"`.
std::string examineSetting(SessionCore& core, std::string_view name);
/// Whether the current role may see or stop what belongs to `owner`.
bool actsFor(SessionCore& core, Oid owner);

} // namespace ouzel::engine
