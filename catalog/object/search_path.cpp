#include "catalog/object/search_path.hpp"

#include <algorithm>
#include <set>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/acl.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view temporaryAlias = "pg_temp";

void checkDatabase(const Snapshot& snapshot, const QualifiedName& name) {
   if (name.database.empty()) return;
   const DatabasePtr current = snapshot.database(snapshot.database());
   if (current && current->name == name.database) return;
   throw SqlError(sqlstate::featureNotSupported,
                  "cross-database references are not implemented: \"" + name.text() + "\"")
       .at(name.position);
}

/// Key words that need quotes as names: all but unreserved key words.
const std::set<std::string_view>& quotedKeywords() {
   static const std::set<std::string_view> words = [] {
      std::set<std::string_view> result;
      const TextTable& table = *builtins().rows("keywords");
      const uint32_t word = table.column("word"), category = table.column("catcode");
      for (uint32_t row = 0; row < table.rowCount(); ++row)
         if (*table.at(row, category) != "U") result.insert(*table.at(row, word));
      return result;
   }();
   return words;
}

bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}
[[noreturn]] void throwInvalidName() {
   throw SqlError(sqlstate::invalidName, "invalid name syntax");
}

/// The part of a dotted name that starts at `at`; moves `at` to the end of the part.
std::string parsePart(std::string_view text, size_t& at) {
   std::string part;
   if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
         if (at >= text.size()) throwInvalidName();
         if (text[at] == '"') {
            if (at + 1 >= text.size() || text[at + 1] != '"') break;
            ++at;
         }
         part.push_back(text[at]);
      }
      ++at;
      return part;
   }
   while (at < text.size() && text[at] != '.' && !isSpace(text[at]))
      part.push_back(asciiLower(text[at++]));
   if (part.empty()) throwInvalidName();
   return part;
}

} // namespace

SearchPath SearchPath::resolve(const Snapshot& snapshot, std::span<const std::string> setting, std::string_view user,
                               Oid temporarySchema) {
   SearchPath path;
   path.temporary = temporarySchema;
   const RolePtr role = user.empty() ? nullptr : snapshot.findRole(user);
   if (!user.empty()) path.role = role ? role->oid : nobodyRole;
   bool namesTemporary = false;
   for (const std::string& element : setting) {
      if (element == temporaryAlias) {
         namesTemporary = true;
         if (temporarySchema != invalidOid) path.explicitly.push_back(temporarySchema);
         continue;
      }
      const SchemaPtr schema = snapshot.findSchema(element == "$user" ? user : std::string_view(element));
      if (!schema || std::find(path.explicitly.begin(), path.explicitly.end(), schema->oid) != path.explicitly.end())
         continue;
      if (path.role != invalidOid && !mayUse(snapshot, path.role, *schema, privilege::usage)) continue;
      path.explicitly.push_back(schema->oid);
      if (path.creation == invalidOid) path.creation = schema->oid;
   }
   path.schemas = path.explicitly;
   if (std::find(path.schemas.begin(), path.schemas.end(), pgCatalogSchema) == path.schemas.end())
      path.schemas.insert(path.schemas.begin(), pgCatalogSchema);
   if (temporarySchema != invalidOid && !namesTemporary) path.schemas.insert(path.schemas.begin(), temporarySchema);
   return path;
}

void requirePrivilege(const Snapshot& snapshot, const SearchPath& path, const Schema& schema, uint32_t wanted,
                      uint32_t position) {
   if (path.role == invalidOid || schema.oid == path.temporary || mayUse(snapshot, path.role, schema, wanted)) return;
   throw SqlError(sqlstate::insufficientPrivilege, "permission denied for schema " + schema.name).at(position);
}

std::string QualifiedName::text() const {
   std::string result;
   if (!database.empty()) result += database + ".";
   if (!schema.empty()) result += schema + ".";
   return result + name;
}

namespace {

template <typename Wants>
RelationPtr findOnPath(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name,
                       const Wants& wants) {
   checkDatabase(snapshot, name);
   const auto findIn = [&](Oid schema) {
      RelationPtr found = snapshot.findRelation(schema, name.name);
      return found && wants(*found) ? found : nullptr;
   };
   if (!name.schema.empty()) {
      if (name.schema == temporaryAlias) return path.temporary != invalidOid ? findIn(path.temporary) : nullptr;
      const SchemaPtr schema = snapshot.findSchema(name.schema);
      if (!schema) return nullptr;
      requirePrivilege(snapshot, path, *schema, privilege::usage, name.position);
      return findIn(schema->oid);
   }
   for (const Oid schema : path.schemas)
      if (RelationPtr relation = findIn(schema)) return relation;
   return nullptr;
}

} // namespace

RelationPtr findRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   return findOnPath(snapshot, path, name, [](const Relation& relation) { return !relation.isOnlyType(); });
}

RelationPtr findNamedType(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   return findOnPath(snapshot, path, name, [](const Relation& relation) { return relation.rowType != invalidOid; });
}

RelationPtr requireRelation(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   if (RelationPtr relation = findRelation(snapshot, path, name)) return relation;
   QualifiedName shown = name;
   shown.database.clear();
   throw SqlError(sqlstate::undefinedTable, "relation \"" + shown.text() + "\" does not exist").at(name.position);
}

Oid requireSchema(const Snapshot& snapshot, const SearchPath& path, std::string_view name, uint32_t position) {
   if (name == temporaryAlias && path.temporary != invalidOid) return path.temporary;
   if (const SchemaPtr schema = snapshot.findSchema(name)) return schema->oid;
   throw SqlError(sqlstate::undefinedSchema, "schema \"" + std::string(name) + "\" does not exist").at(position);
}

Oid creationSchema(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   checkDatabase(snapshot, name);
   Oid schema = path.creation;
   if (!name.schema.empty())
      schema = requireSchema(snapshot, path, name.schema, name.position);
   else if (schema == invalidOid)
      throw SqlError(sqlstate::undefinedSchema, "no schema has been selected to create in").at(name.position);
   if (const SchemaPtr found = snapshot.schema(schema); found && schema != pgCatalogSchema)
      requirePrivilege(snapshot, path, *found, privilege::create, name.position);
   if (schema == pgCatalogSchema)
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to create \"pg_catalog." + name.name + "\"")
          .detail("System catalog modifications are currently disallowed.");
   return schema;
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Relation& relation) {
   for (const Oid schema : path.schemas) {
      if (schema == relation.schema) return true;
      if (snapshot.findRelation(schema, relation.name)) return false;
   }
   return false;
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Relation& relation) {
   if (isVisible(snapshot, path, relation)) return quoteIdentifier(relation.name);
   const SchemaPtr schema = snapshot.schema(relation.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(relation.name);
}

const Column& requireColumn(const Relation& relation, std::string_view name, uint32_t position) {
   if (const Column* column = relation.findColumn(name)) return *column;
   throw SqlError(sqlstate::undefinedColumn,
                  "column \"" + std::string(name) + "\" of relation \"" + relation.name + "\" does not exist")
       .at(position);
}

std::string quoteIdentifier(std::string_view name) {
   bool isSafe = !name.empty() && ((name[0] >= 'a' && name[0] <= 'z') || name[0] == '_');
   for (const char c : name)
      isSafe = isSafe && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
   if (isSafe && !quotedKeywords().contains(name)) return std::string(name);
   std::string quoted = "\"";
   for (const char c : name) {
      if (c == '"') quoted.push_back('"');
      quoted.push_back(c);
   }
   return quoted + "\"";
}

std::vector<std::string> parseQualifiedName(std::string_view text) {
   while (!text.empty() && isSpace(text.front()))
      text.remove_prefix(1);
   while (!text.empty() && isSpace(text.back()))
      text.remove_suffix(1);
   std::vector<std::string> parts;
   size_t at = 0;
   while (true) {
      while (at < text.size() && isSpace(text[at]))
         ++at;
      parts.push_back(parsePart(text, at));
      while (at < text.size() && isSpace(text[at]))
         ++at;
      if (at == text.size()) return parts;
      if (text[at] != '.') throwInvalidName();
      ++at;
   }
}

QualifiedName toQualifiedName(std::vector<std::string> parts) {
   QualifiedName name;
   switch (parts.size()) {
   case 3: name.database = std::move(parts[0]); [[fallthrough]];
   case 2: name.schema = std::move(parts[parts.size() - 2]); [[fallthrough]];
   case 1: name.name = std::move(parts.back()); return name;
   default: break;
   }
   std::string text;
   for (const std::string& part : parts)
      text += (text.empty() ? "" : ".") + part;
   throw SqlError(sqlstate::syntaxError, "improper relation name (too many dotted names): " + text);
}

} // namespace ouzel::catalog
