#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/object/snapshot.hpp"

// PostgreSQL's system information functions over a snapshot; executor/function makes kernels of them. An empty optional
// is SQL's NULL. Errors are PostgreSQL's.

namespace ouzel::catalog {

/// The session's view of the catalog. The caller keeps all referenced objects for the duration of a call.
struct NameContext {
   const Snapshot& snapshot;
   const SearchPath& path;
   Oid role = bootstrapRole; ///< current_user
};

// Types (type_names.cpp).

/// format_type(oid, typmod): "integer", "numeric(15,2)", "character varying(25)[]". An empty typmod is SQL's NULL. With
/// typmod -1, types whose bare SQL name implies a length print PostgreSQL's name ("bpchar"). OID 0 prints "-", an
/// unknown OID "???".
std::string formatType(const NameContext& context, Oid type, std::optional<int32_t> typmod);
/// The type's base type in SQL that any session reads alike: names of users' types are qualified.
std::string sqlTypeName(const Snapshot& snapshot, const SqlType& type);
/// Input of regtype: SQL or catalog names, with modifiers and array brackets. Throws 42704 `type "x" does not exist`.
Oid parseTypeName(const NameContext& context, std::string_view text);
std::optional<Oid> toRegtype(const NameContext& context, std::string_view text);
/// Throws 42704 if the type that a text names is only a shell.
void requireNoShell(const NameContext& context, Oid type, std::string_view text);

// Input and output of OID alias types (reg_names.cpp). The output of an unknown OID is its number, that of 0 is "-".
// Input also takes numbers and "-". The to...() forms do not; they give NULL instead of the error "does not exist" and
// throw all other errors.

std::string regclassOut(const NameContext& context, Oid oid);
Oid regclassIn(const NameContext& context, std::string_view text);
/// The relation of this name. Throws 3F000 where a query would say that the relation does not exist.
RelationPtr relationNamed(const NameContext& context, std::string_view text);
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
std::optional<Oid> toRegoper(const NameContext& context, std::string_view text);
std::string regoperatorOut(const NameContext& context, Oid oid);
Oid regoperatorIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegoperator(const NameContext& context, std::string_view text);
std::string regnamespaceOut(const NameContext& context, Oid oid);
Oid regnamespaceIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegnamespace(const NameContext& context, std::string_view text);
std::string regroleOut(const NameContext& context, Oid oid);
Oid regroleIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegrole(const NameContext& context, std::string_view text);
std::string regcollationOut(const NameContext& context, Oid oid);
Oid regcollationIn(const NameContext& context, std::string_view text);
std::optional<Oid> toRegcollation(const NameContext& context, std::string_view text);
/// Input of regconfig and regdictionary.
Oid regTextSearchIn(const NameContext& context, Oid regType, std::string_view text);
/// Output by type OID (oid::regclass, ...), for the generic text form of values.
std::string regOut(const NameContext& context, Oid regType, Oid oid);
Oid regIn(const NameContext& context, Oid regType, std::string_view text);

// Visibility: pg_table_is_visible, pg_type_is_visible, ...; NULL for an unknown OID.

std::optional<bool> isTableVisible(const NameContext& context, Oid relation);
std::optional<bool> isTypeVisible(const NameContext& context, Oid type);
std::optional<bool> isFunctionVisible(const NameContext& context, Oid function);
std::optional<bool> isOperatorVisible(const NameContext& context, Oid op);
std::optional<bool> isCollationVisible(const NameContext& context, Oid collation);
/// Operator classes and families, text search objects, conversions, statistics: all live in pg_catalog.
std::optional<bool> isBuiltinVisible(const NameContext& context, std::string_view catalog, Oid oid);

// Names and sessions.

/// pg_get_userbyid: "unknown (OID=1)" for an unknown OID.
std::string userName(const Snapshot& snapshot, Oid role);
std::optional<std::string> currentSchema(const NameContext& context);
std::vector<std::string> currentSchemas(const NameContext& context, bool includeImplicit);
/// version(): "PostgreSQL 15.x (Ouzel ...) ...".
std::string versionText();

// Comments.

std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object, std::string_view catalog);
std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object); ///< the deprecated one-argument form
std::optional<std::string> colDescription(const Snapshot& snapshot, Oid relation, int32_t attribute);
std::optional<std::string> shobjDescription(const Snapshot& snapshot, Oid object, std::string_view catalog);

// Definitions (definitions.cpp).

/// The text of a stored expression or query with names for the relations that it names by OID: 't'::regclass instead of
/// '16384'::regclass.
std::string withRelationNames(const NameContext& context, std::string_view sql);
/// The text of a default as pg_attrdef.adbin has it: it says which column's type the default is cast to. `node`: what
/// SystemState::nodeOfDefault() says, with which PostgreSQL's value begins, too.
std::string defaultText(const Column& column, std::string_view node = {});
/// The expression in such a text, and the column; of other texts the text itself, and null.
std::pair<std::string_view, const Column*> expressionOf(std::string_view text, const Relation* relation);
/// The query of a view as the catalog keeps it, with names for the relations that it names by OID.
std::optional<std::string> viewDefinition(const NameContext& context, Oid view);
/// Shows an expression of a relation; isCall: it is written as name(...).
struct ShownExpression {
   std::string text;
   bool isCall = false;
};
using ShowExpression = std::function<ShownExpression(std::string_view stored, const Relation& relation)>;
std::optional<std::string> constraintDefinition(const NameContext& context, Oid constraint, const ShowExpression& show);
/// A key column of an index, from 0, as the catalog keeps it: a column's name, or an expression in parentheses unless
/// it is a call.
std::string indexKeyText(const Relation& table, const IndexDefinition& index, size_t i);
/// pg_get_indexdef: for column 0 the whole CREATE INDEX, else the column or expression of that key.
std::optional<std::string> indexDefinition(const NameContext& context, Oid index, int32_t column, bool pretty,
                                           const ShowExpression& show);
/// `show`: prints the defaults of users' functions; null: without defaults.
std::optional<std::string> functionArguments(const NameContext& context, Oid function, const ShowExpression& show);
/// pg_get_function_arg_default: the default of an argument, the first of which has number 1; null: it has none.
std::optional<std::string> argumentDefault(const NameContext& context, Oid function, int32_t number,
                                           const ShowExpression& show);
std::optional<std::string> functionResult(const NameContext& context, Oid function);
/// The body of a function that was written as SQL, with the user's words; null: there is none.
std::optional<std::string> writtenBody(const Snapshot& snapshot, Oid function);
/// Of a function of a user; null: there is none. `body`: what was written as SQL; null: it is a string.
std::optional<std::string> functionDefinition(const NameContext& context, Oid function, const ShowExpression& show,
                                              const std::optional<std::string>& body);
/// pg_get_serial_sequence: `table` is parsed as an SQL name, `column` is taken literally.
std::optional<std::string> serialSequence(const NameContext& context, std::string_view table, std::string_view column);
/// pg_relation_is_updatable: bit mask of 1 << CmdType (28: insert, update, delete).

// Partitions (partition_text.cpp). Empty for what is none.

/// pg_get_partkeydef: "RANGE (a, b)".
/// A column of the key: its name, or its expression as that of an index.
std::string partitionColumnText(const Relation& table, size_t i);
std::string partitionKeyText(const NameContext& context, const Relation& table);
/// "FOR VALUES IN (1, 2)", "DEFAULT".
std::string partitionBoundText(const Snapshot& snapshot, const Relation& partition);
/// The condition that the rows of a partition satisfy to be in it and not in another one of `parent`; empty: all are.
std::string partitionConditionText(const Snapshot& snapshot, const Relation& parent, const Relation& partition);
/// The condition that all rows of a partition satisfy, those of the partitioned tables above it included.
std::string partitionConstraintText(const Snapshot& snapshot, const Relation& partition);
/// The topmost partitioned table above a partition; the table itself if it is none.
Oid partitionRoot(const Snapshot& snapshot, Oid partition);

// Privileges (privileges.cpp). `privileges` is SQL's list: "SELECT, INSERT WITH GRANT OPTION". The functions give true
// if the role holds at least one privilege of the list.

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
std::optional<bool> hasServerPrivilege(const Snapshot& snapshot, Oid role, Oid server, std::string_view privileges);
std::optional<bool> hasWrapperPrivilege(const Snapshot& snapshot, Oid role, Oid wrapper, std::string_view privileges);
/// pg_has_role(role, of, 'USAGE' | 'MEMBER').
bool hasRole(const Snapshot& snapshot, Oid role, Oid of, std::string_view privileges);

} // namespace ouzel::catalog
