#include "catalog/object/text_search/text_search.hpp"

#include <algorithm>
#include <charconv>

#include "catalog/builtin/text_table.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

struct KindInfo {
   ObjectKind kind;
   const char* word;
   Oid classOid;
   const char* table;
   const char* prefix; ///< of the names of columns
};
constexpr KindInfo kinds[] = {
    {ObjectKind::TextSearchConfiguration, "text search configuration", 3602, "pg_ts_config", "cfg"},
    {ObjectKind::TextSearchDictionary, "text search dictionary", 3600, "pg_ts_dict", "dict"},
    {ObjectKind::TextSearchParser, "text search parser", 3601, "pg_ts_parser", "prs"},
    {ObjectKind::TextSearchTemplate, "text search template", 3764, "pg_ts_template", "tmpl"},
};
const KindInfo& infoOf(ObjectKind kind) {
   for (const KindInfo& info : kinds)
      if (info.kind == kind) return info;
   CHECK(false);
}

Oid numberAt(const TextTable& table, uint32_t row, const std::string& column) {
   Oid number = 0;
   if (const auto field = table.at(row, table.column(column)))
      std::from_chars(field->data(), field->data() + field->size(), number);
   return number;
}

std::vector<std::string> functionColumns(ObjectKind kind) {
   if (kind == ObjectKind::TextSearchParser) return {"prsstart", "prstoken", "prsend", "prsheadline", "prslextype"};
   if (kind == ObjectKind::TextSearchTemplate) return {"tmplinit", "tmpllexize"};
   return {};
}

void readMappings(std::vector<std::shared_ptr<TextSearchObject>>& configurations) {
   const TextTable* table = builtins().rows("pg_ts_config_map");
   for (uint32_t row = 0; table && row < table->rowCount(); ++row) {
      const Oid configuration = numberAt(*table, row, "mapcfg");
      const auto token = static_cast<int32_t>(numberAt(*table, row, "maptokentype"));
      for (const auto& object : configurations) {
         if (object->oid != configuration) continue;
         if (object->mappings.empty() || object->mappings.back().token != token)
            object->mappings.push_back({token, {}});
         object->mappings.back().dictionaries.push_back(numberAt(*table, row, "mapdict"));
      }
   }
}

std::vector<TextSearchPtr> readBuiltins(const KindInfo& info) {
   std::vector<std::shared_ptr<TextSearchObject>> objects;
   const TextTable* table = builtins().rows(info.table);
   const std::string prefix = info.prefix;
   for (uint32_t row = 0; table && row < table->rowCount(); ++row) {
      auto object = std::make_shared<TextSearchObject>(info.kind);
      object->oid = numberAt(*table, row, "oid");
      object->schema = numberAt(*table, row, prefix + "namespace");
      object->name = *table->at(row, table->column(prefix + "name"));
      if (info.kind == ObjectKind::TextSearchConfiguration) object->base = numberAt(*table, row, "cfgparser");
      if (info.kind == ObjectKind::TextSearchDictionary) {
         object->base = numberAt(*table, row, "dicttemplate");
         if (const auto options = table->at(row, table->column("dictinitoption"))) object->options = *options;
      }
      for (const std::string& column : functionColumns(info.kind))
         object->functions.push_back(numberAt(*table, row, column));
      objects.push_back(std::move(object));
   }
   if (info.kind == ObjectKind::TextSearchConfiguration) readMappings(objects);
   return {objects.begin(), objects.end()};
}

TextSearchPtr findIn(const Snapshot& snapshot, ObjectKind kind, Oid schema, std::string_view name) {
   if (schema == pgCatalogSchema)
      for (const TextSearchPtr& object : builtinTextSearch(kind))
         if (object->name == name) return object;
   return snapshot.findTextSearch(kind, schema, name);
}

} // namespace

const std::vector<Oid>* TextSearchObject::dictionariesOf(int32_t token) const {
   for (const TextSearchMapping& mapping : mappings)
      if (mapping.token == token) return &mapping.dictionaries;
   return nullptr;
}

std::string_view textSearchWord(ObjectKind kind) {
   return infoOf(kind).word;
}
Oid textSearchClass(ObjectKind kind) {
   return infoOf(kind).classOid;
}

std::string_view textSearchTable(ObjectKind kind) {
   return infoOf(kind).table;
}
std::optional<ObjectKind> textSearchKindOf(Oid classOid) {
   for (const KindInfo& info : kinds)
      if (info.classOid == classOid) return info.kind;
   return std::nullopt;
}

const std::vector<TextSearchPtr>& builtinTextSearch(ObjectKind kind) {
   static const std::vector<TextSearchPtr> all[] = {readBuiltins(kinds[0]), readBuiltins(kinds[1]),
                                                    readBuiltins(kinds[2]), readBuiltins(kinds[3])};
   return all[&infoOf(kind) - kinds];
}

void verifyTextSearch(const Snapshot& snapshot, std::vector<std::string>& found) {
   for (const ObjectKind kind : textSearchKinds)
      for (const TextSearchPtr& object : snapshot.textSearchObjects(kind)) {
         const bool isConfiguration = kind == ObjectKind::TextSearchConfiguration;
         const ObjectKind base = isConfiguration ? ObjectKind::TextSearchParser : ObjectKind::TextSearchTemplate;
         const auto lacks = [&](ObjectKind part, Oid oid) { return !textSearchObject(snapshot, part, oid); };
         const char* problem = snapshot.schema(object->schema) ? nullptr : "its schema is missing";
         if (object->base != invalidOid && lacks(base, object->base)) problem = "its parser or template is missing";
         for (const TextSearchMapping& mapping : object->mappings)
            for (const Oid dictionary : mapping.dictionaries)
               if (lacks(ObjectKind::TextSearchDictionary, dictionary)) problem = "a dictionary of it is missing";
         if (problem)
            found.push_back(std::string(textSearchWord(kind)) + " " + quoteIdentifier(object->name) + ": " + problem);
      }
}

TextSearchPtr textSearchObject(const Snapshot& snapshot, ObjectKind kind, Oid oid) {
   if (oid >= firstUserOid) return snapshot.textSearch(kind, oid);
   for (const TextSearchPtr& object : builtinTextSearch(kind))
      if (object->oid == oid) return object;
   return nullptr;
}

TextSearchPtr findTextSearch(const Snapshot& snapshot, const SearchPath& path, ObjectKind kind,
                             const QualifiedName& name) {
   if (!name.schema.empty()) {
      const SchemaPtr schema = snapshot.findSchema(name.schema);
      if (!schema) return nullptr;
      requirePrivilege(snapshot, path, *schema, privilege::usage, name.position);
      return findIn(snapshot, kind, schema->oid, name.name);
   }
   for (const Oid schema : path.schemas)
      if (schema != path.temporary)
         if (TextSearchPtr found = findIn(snapshot, kind, schema, name.name)) return found;
   return nullptr;
}

TextSearchPtr requireTextSearch(const Snapshot& snapshot, const SearchPath& path, ObjectKind kind,
                                const QualifiedName& name) {
   if (!name.schema.empty()) requireSchema(snapshot, path, name.schema, name.position);
   if (TextSearchPtr found = findTextSearch(snapshot, path, kind, name)) return found;
   throw SqlError(sqlstate::undefinedObject,
                  std::string(textSearchWord(kind)) + " \"" + name.text() + "\" does not exist")
       .at(name.position);
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const TextSearchObject& object) {
   const TextSearchPtr found = findTextSearch(snapshot, path, object.kind, QualifiedName::of(object.name));
   return found && found->oid == object.oid;
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const TextSearchObject& object) {
   const SchemaPtr schema = isVisible(snapshot, path, object) ? nullptr : snapshot.schema(object.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(object.name);
}

} // namespace ouzel::catalog
