#include "catalog/object/collation.hpp"

#include "catalog/object/heirs.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

CollationInfo infoOf(const Collation& collation) {
   return {collation.oid,       collation.name,  collation.schema, collation.provider, collation.isDeterministic,
           collation.icuLocale, collation.ctype, collation.owner};
}

std::optional<CollationInfo> findIn(const Snapshot& snapshot, Oid schema, std::string_view name) {
   for (const CollationInfo& builtin : builtins().collations())
      if (builtin.schema == schema && builtin.name == name) return builtin;
   if (const CollationPtr found = snapshot.findCollation(schema, name)) return infoOf(*found);
   return std::nullopt;
}

void requireOwnDatabase(const Snapshot& snapshot, const QualifiedName& name) {
   const DatabasePtr own = snapshot.database(snapshot.database());
   if (!name.database.empty() && own && own->name != name.database)
      throw SqlError(sqlstate::featureNotSupported, "cross-database references are not implemented: " + name.text())
          .at(name.position);
}

[[noreturn]] void throwMissing(const QualifiedName& name) {
   throw SqlError(sqlstate::undefinedObject, "collation \"" + name.text() + "\" for encoding \"UTF8\" does not exist")
       .at(name.position);
}

} // namespace

std::optional<CollationInfo> collationInfo(const Snapshot& snapshot, Oid oid) {
   if (oid >= firstUserOid) {
      const CollationPtr found = snapshot.collation(oid);
      return found ? std::optional(infoOf(*found)) : std::nullopt;
   }
   const CollationInfo* builtin = builtins().collation(oid);
   if (builtin == nullptr) return std::nullopt;
   CollationInfo info = *builtin;
   if (oid != defaultCollation) return info;
   if (const DatabasePtr database = snapshot.database(snapshot.database())) {
      info.provider = database->localeProvider;
      info.icuLocale = database->icuLocale;
      info.ctype = database->ctype;
   }
   return info;
}

std::optional<CollationInfo> findCollation(const Snapshot& snapshot, const SearchPath& path,
                                           const QualifiedName& name) {
   requireOwnDatabase(snapshot, name);
   if (!name.schema.empty()) {
      if (name.schema == "pg_temp") return std::nullopt;
      const SchemaPtr schema = snapshot.findSchema(name.schema);
      if (!schema) return std::nullopt;
      requirePrivilege(snapshot, path, *schema, privilege::usage, name.position);
      return findIn(snapshot, schema->oid, name.name);
   }
   for (const Oid schema : path.schemas)
      if (schema != path.temporary)
         if (auto found = findIn(snapshot, schema, name.name)) return found;
   return std::nullopt;
}

CollationInfo requireCollation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   requireOwnDatabase(snapshot, name);
   if (!name.schema.empty()) requireSchema(snapshot, path, name.schema, name.position);
   if (const auto found = findCollation(snapshot, path, name)) return *found;
   throwMissing(name);
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const CollationInfo& collation) {
   const auto found = findCollation(snapshot, path, QualifiedName::of(std::string(collation.name)));
   return found && found->oid == collation.oid;
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const CollationInfo& collation) {
   const SchemaPtr schema = isVisible(snapshot, path, collation) ? nullptr : snapshot.schema(collation.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(collation.name);
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Collation& collation) {
   return displayName(snapshot, path, infoOf(collation));
}

bool isNondeterministic(const Snapshot& snapshot, Oid collation) {
   if (collation < firstUserOid) return false; // the built-in ones are all deterministic
   const CollationPtr found = snapshot.collation(collation);
   return found && !found->isDeterministic;
}

bool hasOwnOrder(const CollationInfo& collation) {
   return collation.provider == 'i';
}

std::optional<CollationInfo> boundCollation(const Snapshot& snapshot, const Relation& table, size_t i) {
   const PartitionKey& key = *table.partitionKey;
   if (i >= key.collations.size() || key.collations[i] == invalidOid) return std::nullopt;
   auto found = collationInfo(snapshot, key.collations[i]);
   if (!found || !hasOwnOrder(*found)) return std::nullopt;
   const bool isCompared = key.strategy == PartitionStrategy::Range || !found->isDeterministic;
   return isCompared ? found : std::nullopt;
}

std::vector<SqlType> boundTypes(const Snapshot& snapshot, const Relation& table) {
   std::vector<SqlType> types = partitionKeyTypes(table);
   for (size_t i = 0; i < types.size(); ++i)
      if (boundCollation(snapshot, table, i))
         types[i] = {builtins().isArray(types[i].oid) ? oid::textArray : oid::text, -1, invalidOid};
   return types;
}

} // namespace ouzel::catalog
