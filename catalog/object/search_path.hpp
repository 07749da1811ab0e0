#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"

// From names as SQL has them to objects, with PostgreSQL's rules and errors.

namespace ouzel::catalog {

/// The schemas of search_path that exist, in the order they are searched. Made for one snapshot.
struct SearchPath {
   std::vector<Oid> schemas;    ///< pg_temp and pg_catalog are in it even when the setting does not name them
   std::vector<Oid> explicitly; ///< those that the setting names: current_schemas(false)
   Oid creation = invalidOid;   ///< where unqualified CREATE puts things: current_schema(); invalidOid: nowhere
   Oid temporary = invalidOid;  ///< the session's pg_temp_n, if it has one

   /// Resolve the setting's elements; "$user" stands for a schema of the user's name. Unknown names are passed over.
   static SearchPath resolve(const Snapshot& snapshot, std::span<const std::string> setting, std::string_view user,
                             Oid temporarySchema = invalidOid);
};

/// A possibly qualified name; empty parts are absent. `position` is of its first character, from 1 (0: unknown).
struct QualifiedName {
   std::string database, schema, name;
   uint32_t position = 0;

   static QualifiedName of(std::string name) { return {{}, {}, std::move(name), 0}; }
   /// "s.t" without quoting, as error messages print it.
   std::string text() const;
};

/// Null if the relation or its schema does not exist. Throws 0A000 for another database's name.
RelationPtr findRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// Throws 42P01 `relation "x" does not exist` when there is none, also when its schema does not exist, as FROM does.
RelationPtr requireRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// Throws 3F000 `schema "x" does not exist`; knows pg_temp.
Oid requireSchema(const Snapshot& snapshot, const SearchPath& path, std::string_view name, uint32_t position = 0);
/// Where CREATE puts `name`. Throws 3F000 `no schema has been selected to create in` or for an unknown schema, 42501
/// for the system schemas.
Oid creationSchema(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// True if the unqualified name finds this very relation.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Relation& relation);
/// Schema-qualified unless visible, quoted where needed: regclass output.
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Relation& relation);

/// 42703 `column "x" of relation "t" does not exist` unless there is one.
const Column& requireColumn(const Relation& relation, std::string_view name, uint32_t position = 0);

/// Quote an identifier if it would not survive unquoted: upper case, odd characters, a reserved word.
std::string quoteIdentifier(std::string_view name);
/// Take apart "a.b", "\"A\".b" as regclass input and pg_get_serial_sequence do: unquoted parts fold to lower case.
/// Throws 42602 `invalid name syntax`.
std::vector<std::string> parseQualifiedName(std::string_view text);
QualifiedName toQualifiedName(std::vector<std::string> parts);

} // namespace ouzel::catalog
