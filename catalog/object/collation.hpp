#pragma once
#include <optional>
#include <string>
#include <vector>

#include "catalog/object/objects.hpp"
#include "catalog/object/search_path.hpp"

// The collations of CREATE COLLATION, and one view of them and of the built-in ones.

namespace ouzel::catalog {

/// CREATE COLLATION. Copies of a database have the collations of the original under the same OIDs, which columns name.
struct Collation : CatalogObject {
   Oid database = invalidOid, oid = invalidOid, schema = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   char provider = 'c'; ///< 'c' libc, 'i' ICU
   bool isDeterministic = true;
   int32_t encoding = -1;                   ///< pg_collation.collencoding; -1: any
   std::string collate, ctype;              ///< of libc: LC_COLLATE and LC_CTYPE
   std::string icuLocale;                   ///< of ICU
   std::optional<std::string> version = {}; ///< of the order, as the provider told it; none: the provider has none
   Collation() : CatalogObject(ObjectKind::Collation) {}
};

/// What a collation is, a built-in one or one of users; empty: there is none. The default collation is what the
/// database says. The views are valid while the snapshot lives.
std::optional<CollationInfo> collationInfo(const Snapshot& snapshot, Oid oid);

/// Null if the collation or its schema does not exist. The temporary schema is not searched. Throws 42501 for a named
/// schema that the path's role may not use.
std::optional<CollationInfo> findCollation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// Throws 42704 `collation "x" for encoding "UTF8" does not exist` or 3F000 at the name's position.
CollationInfo requireCollation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name);
/// True if the unqualified name finds this collation.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const CollationInfo& collation);
/// The name as SQL needs it: schema-qualified unless visible, quoted if necessary.
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const CollationInfo& collation);
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Collation& collation);

/// Whether the collation has texts as equal that are not the same.
bool isNondeterministic(const Snapshot& snapshot, Oid collation);
/// Whether the collation orders texts by something else than their bytes.
bool hasOwnOrder(const CollationInfo& collation);

/// The collation of column `i` of a partition key, if rows are compared with bounds by its keys and not by their bytes:
/// in ranges one with an order of its own, in lists and hashes a nondeterministic one.
std::optional<CollationInfo> boundCollation(const Snapshot& snapshot, const Relation& table, size_t i);
/// The types of what is compared with bounds: collation keys are texts, or arrays of texts.
std::vector<SqlType> boundTypes(const Snapshot& snapshot, const Relation& table);

} // namespace ouzel::catalog
