#include "catalog/object/comments.hpp"

#include <algorithm>
#include <string>

#include "catalog/builtin/extensions.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/extension.hpp"

namespace ouzel::catalog {

namespace {

struct Entry {
   Oid classOid, object;
   int32_t attribute;
   std::string_view text;
   auto key() const { return std::make_tuple(classOid, object, attribute); }
};

template <typename T>
T number(TextTable::Field field) {
   return static_cast<T>(std::stol(std::string(field.value())));
}

std::vector<Entry> loadComments() {
   std::vector<Entry> entries;
   const TextTable& table = *builtins().rows("pg_description");
   const uint32_t object = table.column("objoid"), classOid = table.column("classoid"),
                  attribute = table.column("objsubid"), text = table.column("description");
   for (uint32_t row = 0; row < table.rowCount(); ++row)
      entries.push_back({number<Oid>(table.at(row, classOid)), number<Oid>(table.at(row, object)),
                         number<int32_t>(table.at(row, attribute)), *table.at(row, text)});
   const TextTable& ours = *builtins().rows("ouzel_proc");
   for (uint32_t row = 0; row < ours.rowCount(); ++row)
      entries.push_back({class_oid::pgProc, number<Oid>(ours.at(row, ours.column("oid"))), 0,
                         ours.at(row, ours.column("description")).value_or("")});
   entries.push_back({class_oid::pgExtension, s3Extension, 0, findExtensionInfo("s3")->comment});
   std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
   return entries;
}

} // namespace

std::optional<std::string_view> builtinComment(Oid classOid, Oid object, int32_t attribute) {
   static const std::vector<Entry> entries = loadComments();
   const Entry wanted{classOid, object, attribute, {}};
   const auto found = std::lower_bound(entries.begin(), entries.end(), wanted,
                                       [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
   if (found == entries.end() || found->key() != wanted.key()) return std::nullopt;
   return found->text;
}

std::vector<SchemaPtr> initialSchemas(Oid database) {
   std::vector<SchemaPtr> schemas;
   const TextTable& table = *builtins().rows("pg_namespace");
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      auto schema = std::make_shared<Schema>();
      schema->database = database;
      schema->oid = number<Oid>(table.at(row, table.column("oid")));
      schema->name = *table.at(row, table.column("nspname"));
      schema->owner = number<Oid>(table.at(row, table.column("nspowner")));
      if (schema->oid != pgCatalogSchema && schema->oid != publicSchema) schema->owner = bootstrapRole;
      // The owner has all privileges; PUBLIC has USAGE.
      schema->acl = {{schema->owner, schema->owner, privilege::usage | privilege::create, 0},
                     {invalidOid, schema->owner, privilege::usage, 0}};
      schemas.push_back(std::move(schema));
   }
   return schemas;
}

} // namespace ouzel::catalog
