#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/object/snapshot.hpp"

// The logic of PostgreSQL's system information functions over a snapshot. executor/function wraps them as kernels.
// Nothing means SQL NULL. Errors are PostgreSQL's.

namespace ouzel::catalog {

/// Whose question it is. Everything outlives the call.
struct NameContext {
   const Snapshot& snapshot;
   const SearchPath& path;
   Oid role = bootstrapRole; ///< current_user
};

// Types (type_names.cpp).

/// format_type(oid, typmod): "integer", "numeric(15,2)", "character varying(25)[]". No typmod is SQL's NULL: where the
/// standard gives a bare name a meaning of its own, -1 prints PostgreSQL's ("bpchar"). 0 is "-", unknown ones "???".
std::string formatType(const NameContext& context, Oid type, std::optional<int32_t> typmod);
/// What regtype input takes: SQL or catalog names, modifiers and array brackets. Throws 42704 `type "x" does not
/// exist`.
Oid parseTypeName(const NameContext& context, std::string_view text);
std::optional<Oid> toRegtype(const NameContext& context, std::string_view text);

// OID alias types, input and output (reg_names.cpp). Output of an unknown OID is its number, of 0 is "-". Input takes
// numbers too. The to...() forms give nothing instead of "does not exist" (other errors stay).

std::string regclassOut(const NameContext& context, Oid oid);
Oid regclassIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegclass(const NameContext& context, std::string_view text);
std::string regtypeOut(const NameContext& context, Oid oid);
Oid regtypeIn(const NameContext& context, std::string_view text);
std::string regprocOut(const NameContext& context, Oid oid);
Oid regprocIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegproc(const NameContext& context, std::string_view text);
std::string regprocedureOut(const NameContext& context, Oid oid);
Oid regprocedureIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegprocedure(const NameContext& context, std::string_view text);
std::string regoperOut(const NameContext& context, Oid oid);
Oid regoperIn(const NameContext& context, std::string_view text);
std::string regoperatorOut(const NameContext& context, Oid oid);
Oid regoperatorIn(const NameContext& context, std::string_view text);
std::string regnamespaceOut(const NameContext& context, Oid oid);
Oid regnamespaceIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegnamespace(const NameContext& context, std::string_view text);
std::string regroleOut(const NameContext& context, Oid oid);
Oid regroleIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegrole(const NameContext& context, std::string_view text);
/// Output by type OID (oid::regclass, ...), for the generic text form of values.
std::string regOut(const NameContext& context, Oid regType, Oid oid);
Oid regIn(const NameContext& context, Oid regType, std::string_view text);

// Visibility: pg_table_is_visible and its kin; nothing for an unknown OID.

std::optional<bool> isTableVisible(const NameContext& context, Oid relation);
std::optional<bool> isTypeVisible(const NameContext& context, Oid type);
std::optional<bool> isFunctionVisible(const NameContext& context, Oid function);
std::optional<bool> isOperatorVisible(const NameContext& context, Oid op);
std::optional<bool> isCollationVisible(const NameContext& context, Oid collation);
/// Operator classes and families, text search objects, conversions, statistics: all live in pg_catalog.
std::optional<bool> isBuiltinVisible(const NameContext& context, std::string_view catalog, Oid oid);

// Names and sessions.

/// pg_get_userbyid: "unknown (OID=1)" for an unknown one.
std::string userName(const Snapshot& snapshot, Oid role);
std::optional<std::string> currentSchema(const NameContext& context);
std::vector<std::string> currentSchemas(const NameContext& context, bool includeImplicit);
/// version(): "PostgreSQL 15.x (Ouzel ...) ...".
std::string versionText();
/// pg_encoding_to_char: "" for an unknown one; pg_char_to_encoding: -1.
std::string_view encodingName(int32_t encoding);
int32_t encodingNumber(std::string_view name);

// Comments.

std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object, std::string_view catalog);
std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object); ///< the deprecated one-argument form
std::optional<std::string> colDescription(const Snapshot& snapshot, Oid relation, int32_t attribute);
std::optional<std::string> shobjDescription(const Snapshot& snapshot, Oid object, std::string_view catalog);

// Definitions (definitions.cpp).

std::optional<std::string> viewDefinition(const NameContext& context, Oid view);
std::optional<std::string> constraintDefinition(const NameContext& context, Oid constraint, bool pretty);
/// column 0: the whole CREATE INDEX; else the expression of that column.
std::optional<std::string> indexDefinition(const NameContext& context, Oid index, int32_t column, bool pretty);
std::optional<std::string> functionArguments(const NameContext& context, Oid function, bool withDefaults = true);
std::optional<std::string> functionResult(const NameContext& context, Oid function);
/// pg_get_serial_sequence(table name as SQL text, column name as it is).
std::optional<std::string> serialSequence(const NameContext& context, std::string_view table, std::string_view column);
/// pg_relation_is_updatable: bit mask of 1 << CmdType (28: insert, update, delete).
int32_t updatableEvents(const Snapshot& snapshot, Oid relation);
bool isColumnUpdatable(const Snapshot& snapshot, Oid relation, int16_t attribute);

// Privileges (privileges.cpp). `privileges` is SQL's list: "SELECT, INSERT WITH GRANT OPTION"; true if any is held.

/// By name ("public" is PUBLIC, invalidOid). Throws 42704 `role "x" does not exist`.
Oid requireRole(const Snapshot& snapshot, std::string_view name);
std::optional<bool> hasTablePrivilege(const Snapshot& snapshot, Oid role, Oid relation, std::string_view privileges);
std::optional<bool> hasSequencePrivilege(const Snapshot& snapshot, Oid role, Oid relation, std::string_view privileges);
std::optional<bool> hasColumnPrivilege(const Snapshot& snapshot, Oid role, Oid relation, int16_t attribute,
                                       std::string_view privileges);
std::optional<bool> hasAnyColumnPrivilege(const Snapshot& snapshot, Oid role, Oid relation,
                                          std::string_view privileges);
std::optional<bool> hasSchemaPrivilege(const Snapshot& snapshot, Oid role, Oid schema, std::string_view privileges);
std::optional<bool> hasDatabasePrivilege(const Snapshot& snapshot, Oid role, Oid database, std::string_view privileges);
std::optional<bool> hasFunctionPrivilege(const Snapshot& snapshot, Oid role, Oid function, std::string_view privileges);
std::optional<bool> hasTypePrivilege(const Snapshot& snapshot, Oid role, Oid type, std::string_view privileges);
std::optional<bool> hasLanguagePrivilege(const Snapshot& snapshot, Oid role, Oid language, std::string_view privileges);
std::optional<bool> hasTablespacePrivilege(const Snapshot& snapshot, Oid role, Oid tablespace,
                                           std::string_view privileges);
/// pg_has_role(role, of, 'USAGE' | 'MEMBER').
bool hasRole(const Snapshot& snapshot, Oid role, Oid of, std::string_view privileges);

/// Whether `role` holds all bits of `wanted` on an object, for the engine's own checks. Superusers hold everything.
bool holds(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, uint32_t publicDefault, uint32_t wanted);
/// Owner, member of the owner, or superuser.
bool ownsObject(const Snapshot& snapshot, Oid role, Oid owner);

} // namespace ouzel::catalog
