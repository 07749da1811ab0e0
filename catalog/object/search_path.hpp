#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"

// Resolves SQL names to objects, with PostgreSQL's rules and errors.

namespace ouzel::catalog {

/// The existing schemas of search_path, in the order of the search. Valid for the snapshot that it was made for.
struct SearchPath {
   std::vector<Oid> schemas;    ///< contains pg_temp and pg_catalog even if the setting does not name them
   std::vector<Oid> explicitly; ///< the schemas that the setting names: current_schemas(false)
   Oid creation = invalidOid;   ///< schema for CREATE without a schema: current_schema(); invalidOid: none
   Oid temporary = invalidOid;  ///< the session's pg_temp_n; invalidOid: none
   /// Who looks: names in schemas that the role may not use are refused. invalidOid: nobody, and nothing is refused.
   Oid role = invalidOid;

   /// Resolves the setting's elements. "$user" stands for the schema with the user's name. Unknown names are skipped,
   /// and so are schemas that the user, if there is one of this name, may not use.
   static SearchPath resolve(const Snapshot& snapshot, std::span<const std::string> setting, std::string_view user,
                             Oid temporarySchema = invalidOid);
};

/// A name with optional qualifiers; missing parts are empty. `position` is that of its first character, from 1; 0:
/// unknown.
struct QualifiedName {
   std::string database, schema, name;
   uint32_t position = 0;

   static QualifiedName of(std::string name) { return {{}, {}, std::move(name), 0}; }
   /// "s.t" without quoting, as error messages print it.
   std::string text() const;
};

/// Null if the relation or its schema does not exist. Throws 0A000 for another database's name, 42501 for a named
/// schema that the path's role may not use; the functions below that look for something do, too.
RelationPtr findRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// The same for the name of a type: a relation, whose row type has its name, or a domain.
RelationPtr findNamedType(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// Throws 42P01 `relation "x" does not exist` if the relation or its schema does not exist, as FROM does.
RelationPtr requireRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// The schema of this name; pg_temp means the session's temporary schema. Throws 3F000 `schema "x" does not exist`.
Oid requireSchema(const Snapshot& snapshot, const SearchPath& path, std::string_view name, uint32_t position = 0);
/// The schema in which CREATE creates `name`. Throws 3F000 `no schema has been selected to create in` or for an unknown
/// schema, 42501 for the system schemas.
Oid creationSchema(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// Throws 42501 `permission denied for schema x` if the path's role lacks the privileges on the schema.
void requirePrivilege(const Snapshot& snapshot, const SearchPath& path, const Schema& schema, uint32_t wanted,
                      uint32_t position = 0);
/// True if the unqualified name of the relation finds this relation.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Relation& relation);
/// The relation's name as regclass prints it: schema-qualified unless visible, quoted if necessary.
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Relation& relation);

/// The same of extended statistics, which have names of their own. The temporary schema is not searched for them.
StatisticsPtr findStatistics(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Statistics& statistics);
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Statistics& statistics);

/// The column of this name. Throws 42703 `column "x" of relation "t" does not exist`.
const Column& requireColumn(const Relation& relation, std::string_view name, uint32_t position = 0);

/// The identifier, in quotes if SQL would read it differently without: upper case, special characters, reserved words.
std::string quoteIdentifier(std::string_view name);
/// Splits "a.b", "\"A\".b" as the input of regclass and pg_get_serial_sequence do: unquoted parts fold to lower case.
/// Throws 42602 `invalid name syntax`.
std::vector<std::string> parseQualifiedName(std::string_view text);
QualifiedName toQualifiedName(std::vector<std::string> parts);

} // namespace ouzel::catalog
