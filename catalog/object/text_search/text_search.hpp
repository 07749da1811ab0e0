#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"
#include "catalog/object/search_path.hpp"

// Configurations, dictionaries, parsers and templates of full text search: those of pg_catalog and those of users.

namespace ouzel::catalog {

/// The dictionaries that a configuration asks for the tokens of one type, in order.
struct TextSearchMapping {
   int32_t token = 0;
   std::vector<Oid> dictionaries;
   bool operator==(const TextSearchMapping&) const = default;
};

/// The kind says which of the four it is. Copies of a database have them under the same OIDs.
struct TextSearchObject : CatalogObject {
   Oid database = invalidOid, oid = invalidOid, schema = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;               ///< of a configuration and a dictionary
   Oid base = invalidOid;                   ///< a configuration's parser, a dictionary's template
   std::optional<std::string> options = {}; ///< a dictionary's, as CREATE has them: "language = 'german'"
   std::vector<TextSearchMapping> mappings; ///< of a configuration, by token
   std::vector<Oid> functions;              ///< of a parser and a template, in the order of their system table
   explicit TextSearchObject(ObjectKind objectKind) : CatalogObject(objectKind) {}

   const std::vector<Oid>* dictionariesOf(int32_t token) const;
};

/// "text search configuration", ...
std::string_view textSearchWord(ObjectKind kind);
/// The system table, by which comments and dependencies name the class of the object.
Oid textSearchClass(ObjectKind kind);
std::string_view textSearchTable(ObjectKind kind); ///< "pg_ts_config", ...
/// The kind of a class's objects; nothing: the class is another one.
std::optional<ObjectKind> textSearchKindOf(Oid classOid);
/// The built-in objects of a kind, in OID order.
const std::vector<TextSearchPtr>& builtinTextSearch(ObjectKind kind);

/// Adds a line for each object of users whose schema, parser, template or dictionary is missing (see findDamage()).
void verifyTextSearch(const Snapshot& snapshot, std::vector<std::string>& found);
inline constexpr std::array textSearchKinds{ObjectKind::TextSearchConfiguration, ObjectKind::TextSearchDictionary,
                                            ObjectKind::TextSearchParser, ObjectKind::TextSearchTemplate};

/// Null: there is none.
TextSearchPtr textSearchObject(const Snapshot& snapshot, ObjectKind kind, Oid oid);
/// Null if the object or its schema does not exist. The temporary schema is not searched.
TextSearchPtr findTextSearch(const Snapshot& snapshot, const SearchPath& path, ObjectKind kind,
                             const QualifiedName& name);
/// Throws 42704 `text search configuration "x" does not exist`, or 3F000.
TextSearchPtr requireTextSearch(const Snapshot& snapshot, const SearchPath& path, ObjectKind kind,
                                const QualifiedName& name);
/// True if the unqualified name finds this object.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const TextSearchObject& object);
/// The name as SQL needs it: schema-qualified unless visible, quoted if necessary.
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const TextSearchObject& object);

} // namespace ouzel::catalog
