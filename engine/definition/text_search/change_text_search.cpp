#include <algorithm>

#include "catalog/object/text_search/dictionary_options.hpp"
#include "common/text/ascii.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/query/object_kind.hpp"
#include "executor/function/text_search/ts_parser.hpp"

// ALTER and DROP TEXT SEARCH ...

namespace ouzel::engine {

using catalog::ObjectKind;
using catalog::TextSearchMapping;
using catalog::TextSearchObject;
using catalog::TextSearchPtr;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

/// Parsers and templates belong to nobody: superusers change them.
bool hasOwner(ObjectKind kind) {
   return kind == ObjectKind::TextSearchConfiguration || kind == ObjectKind::TextSearchDictionary;
}

void requireOwner(SessionCore& core, const TextSearchObject& object) {
   const std::string word(catalog::textSearchWord(object.kind));
   if (!hasOwner(object.kind)) return requireSuperuser(core, "must be superuser to change " + word + "s");
   if (!actsFor(core, object.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of " + word + " " + object.name);
}

/// The object that an ALTER changes.
TextSearchPtr requireChangeable(SessionCore& core, ::ObjectType type, const ::List* name) {
   TextSearchPtr found = catalog::requireTextSearch(core.transaction.catalog(), core.searchPath(),
                                                    *textSearchKind(type), textSearchName(name));
   requireOwner(core, *found);
   if (found->oid < firstUserOid) throwNotSupported(std::string(tagOf(Verb::Alter, type)) + " of a built-in object");
   return found;
}

/// Changes the newest version of an object.
template <typename Change>
void change(SessionCore& core, const TextSearchObject& object, Change&& change) {
   TextSearchObject changed = *core.transaction.editor().snapshot().textSearch(object.kind, object.oid);
   change(changed);
   core.transaction.editor().replaceTextSearch(std::move(changed));
}

/// The catalog's table, its index and the columns of a name, as the error of PostgreSQL's index has them.
struct NameIndex {
   ObjectKind kind;
   const char *table, *prefix;
};
constexpr NameIndex nameIndexes[] = {{ObjectKind::TextSearchConfiguration, "pg_ts_config", "cfg"},
                                     {ObjectKind::TextSearchDictionary, "pg_ts_dict", "dict"},
                                     {ObjectKind::TextSearchParser, "pg_ts_parser", "prs"},
                                     {ObjectKind::TextSearchTemplate, "pg_ts_template", "tmpl"}};

[[noreturn]] void throwDuplicate(const std::string& table, const std::string& index, const std::string& key) {
   throw SqlError(sqlstate::uniqueViolation, "duplicate key value violates unique constraint \"" + index + '"')
       .detail("Key " + key + " already exists.")
       .table("pg_catalog", table)
       .constraint(index);
}

// ---- mappings of configurations ----

/// The numbers of token types that a list names, each once.
std::vector<int32_t> tokensOf(const ::List* list) {
   std::vector<int32_t> tokens;
   for (const ::Node* node : ListOf<>(list)) {
      const std::string name(stringOf(node));
      const int32_t token = executor::tsTokenNamed(name);
      if (token == 0) throw SqlError(sqlstate::invalidParameterValue, "token type \"" + name + "\" does not exist");
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
   }
   return tokens;
}

std::vector<Oid> dictionariesOf(SessionCore& core, const ::List* list) {
   std::vector<Oid> oids;
   for (const ::Node* node : ListOf<>(list))
      oids.push_back(catalog::requireTextSearch(core.transaction.catalog(), core.searchPath(),
                                                ObjectKind::TextSearchDictionary, textSearchName(as<::List>(node)))
                         ->oid);
   return oids;
}

std::vector<TextSearchMapping>::iterator find(TextSearchObject& configuration, int32_t token) {
   return std::find_if(configuration.mappings.begin(), configuration.mappings.end(),
                       [&](const TextSearchMapping& mapping) { return mapping.token == token; });
}

void dropMappings(SessionCore& core, TextSearchObject& changed, const std::vector<int32_t>& tokens, bool missingOk) {
   for (const int32_t token : tokens) {
      const auto found = find(changed, token);
      if (found != changed.mappings.end()) {
         changed.mappings.erase(found);
         continue;
      }
      const std::string message =
          "mapping for token type \"" + std::string(executor::tsTokenName(token)) + "\" does not exist";
      if (!missingOk) throw SqlError(sqlstate::undefinedObject, message);
      core.notice(message + ", skipping");
   }
}

void replaceDictionary(TextSearchObject& changed, const std::vector<int32_t>& tokens, Oid from, Oid to) {
   for (TextSearchMapping& mapping : changed.mappings)
      if (tokens.empty() || std::find(tokens.begin(), tokens.end(), mapping.token) != tokens.end())
         std::replace(mapping.dictionaries.begin(), mapping.dictionaries.end(), from, to);
}

void setMappings(TextSearchObject& changed, const std::vector<int32_t>& tokens, const std::vector<Oid>& dictionaries,
                 bool isOverride) {
   for (const int32_t token : tokens) {
      const auto found = find(changed, token);
      if (found != changed.mappings.end() && !isOverride)
         throwDuplicate("pg_ts_config_map", "pg_ts_config_map_index",
                        "(mapcfg, maptokentype, mapseqno)=(" + std::to_string(changed.oid) + ", " +
                            std::to_string(token) + ", 1)");
      if (found != changed.mappings.end())
         found->dictionaries = dictionaries;
      else
         changed.mappings.push_back({token, dictionaries});
   }
   std::sort(changed.mappings.begin(), changed.mappings.end(),
             [](const TextSearchMapping& a, const TextSearchMapping& b) { return a.token < b.token; });
}

} // namespace

std::optional<ObjectKind> textSearchKind(::ObjectType type) {
   switch (type) {
   case OBJECT_TSCONFIGURATION: return ObjectKind::TextSearchConfiguration;
   case OBJECT_TSDICTIONARY: return ObjectKind::TextSearchDictionary;
   case OBJECT_TSPARSER: return ObjectKind::TextSearchParser;
   case OBJECT_TSTEMPLATE: return ObjectKind::TextSearchTemplate;
   default: return std::nullopt;
   }
}

catalog::QualifiedName textSearchName(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

void requireFreeTextSearchName(SessionCore& core, ObjectKind kind, Oid schema, const std::string& name) {
   if (!core.transaction.catalog().findTextSearch(kind, schema, name)) return;
   for (const NameIndex& index : nameIndexes) {
      if (index.kind != kind) continue;
      const std::string table = index.table, prefix = index.prefix;
      throwDuplicate(table, table + "_" + prefix + "name_index",
                     "(" + prefix + "name, " + prefix + "namespace)=(" + name + ", " + std::to_string(schema) + ")");
   }
}

std::string alterDictionary(CommandContext& context, const ::AlterTSDictionaryStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "ALTER TEXT SEARCH DICTIONARY";
   requireWritable(core, tag);
   const TextSearchPtr found = requireChangeable(core, OBJECT_TSDICTIONARY, statement.dictname);
   change(core, *found, [&](TextSearchObject& changed) {
      auto options = catalog::readDictionaryOptions(changed.options.value_or(""));
      for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
         const std::string name = option->defname;
         std::erase_if(options, [&](const catalog::DictionaryOption& old) { return old.name == name; });
         if (option->arg) options.push_back({name, textOfOption(*option)});
      }
      changed.options.reset();
      if (!options.empty()) changed.options = catalog::writeDictionaryOptions(options);
      checkDictionary(core, changed);
   });
   return tag;
}

std::string alterConfiguration(CommandContext& context, const ::AlterTSConfigurationStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "ALTER TEXT SEARCH CONFIGURATION";
   requireWritable(core, tag);
   const TextSearchPtr found = requireChangeable(core, OBJECT_TSCONFIGURATION, statement.cfgname);
   const std::vector<int32_t> tokens = tokensOf(statement.tokentype);
   const std::vector<Oid> dictionaries = dictionariesOf(core, statement.dicts);
   change(core, *found, [&](TextSearchObject& changed) {
      if (!statement.dicts)
         dropMappings(core, changed, tokens, statement.missing_ok);
      else if (statement.replace)
         replaceDictionary(changed, tokens, dictionaries.at(0), dictionaries.at(1));
      else
         setMappings(changed, tokens, dictionaries, statement.override);
   });
   return tag;
}

std::string dropTextSearch(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   std::string tag(tagOf(Verb::Drop, statement.removeType));
   requireWritable(core, tag);
   const ObjectKind kind = *textSearchKind(statement.removeType);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   catalog::DropTargets dropped;
   for (const ::Node* node : ListOf<>(statement.objects)) {
      const catalog::QualifiedName name = textSearchName(as<::List>(node));
      const TextSearchPtr found = catalog::findTextSearch(snapshot, core.searchPath(), kind, name);
      if (!found && statement.missing_ok) {
         const bool isSchemaMissing = !name.schema.empty() && !snapshot.findSchema(name.schema);
         core.notice((isSchemaMissing ? "schema \"" + name.schema + '"'
                                      : std::string(catalog::textSearchWord(kind)) + " \"" + name.text() + '"') +
                     " does not exist, skipping");
         continue;
      }
      if (!found) catalog::requireTextSearch(snapshot, core.searchPath(), kind, name);
      const auto schema = snapshot.schema(found->schema);
      if (!schema || !actsFor(core, schema->owner)) requireOwner(core, *found);
      if (found->oid < firstUserOid) return dropSystemObjects(context, statement); // refuses
      dropped.textSearch.push_back(found);
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (dropped.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(dropped, behavior));
   return tag;
}

void renameTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const char* newName) {
   const TextSearchPtr found = requireChangeable(core, type, name);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto schema = snapshot.schema(found->schema);
   if (schema) requirePrivilege(core, *schema, catalog::privilege::create);
   if (snapshot.findTextSearch(found->kind, found->schema, newName))
      throw SqlError(sqlstate::duplicateObject, std::string(catalog::textSearchWord(found->kind)) + " \"" +
                                                    std::string(newName) + "\" already exists in schema \"" +
                                                    (schema ? schema->name : "") + '"');
   change(core, *found, [&](TextSearchObject& changed) { changed.name = newName; });
}

void moveTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const char* schemaName) {
   const TextSearchPtr found = requireChangeable(core, type, name);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const Oid schema = catalog::requireSchema(snapshot, core.searchPath(), schemaName);
   const auto target = snapshot.schema(schema);
   if (target) requirePrivilege(core, *target, catalog::privilege::create);
   if (schema == found->schema) return;
   if (schema < firstUserOid && schema != catalog::publicSchema)
      throwNotSupported("objects of full text search in a system schema");
   if (snapshot.findTextSearch(found->kind, schema, found->name))
      throw SqlError(sqlstate::duplicateObject, std::string(catalog::textSearchWord(found->kind)) + " \"" +
                                                    found->name + "\" already exists in schema \"" +
                                                    (target ? target->name : "") + '"');
   change(core, *found, [&](TextSearchObject& changed) { changed.schema = schema; });
}

void changeTextSearchOwner(SessionCore& core, ::ObjectType type, const ::List* name, Oid owner) {
   const TextSearchPtr found = requireChangeable(core, type, name);
   if (found->owner == owner) return;
   requireNewOwner(core, owner, found->schema);
   change(core, *found, [&](TextSearchObject& changed) { changed.owner = owner; });
}

void commentOnTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const std::string& text) {
   const TextSearchPtr found = catalog::requireTextSearch(core.transaction.catalog(), core.searchPath(),
                                                          *textSearchKind(type), textSearchName(name));
   requireOwner(core, *found);
   core.transaction.editor().setComment(catalog::textSearchClass(found->kind), found->oid, 0, text);
}

void reassignTextSearch(SessionCore& core, Oid from, Oid to) {
   for (const ObjectKind kind : {ObjectKind::TextSearchConfiguration, ObjectKind::TextSearchDictionary})
      for (const TextSearchPtr& object : core.transaction.catalog().textSearchObjects(kind))
         if (object->owner == from) change(core, *object, [&](TextSearchObject& changed) { changed.owner = to; });
}

} // namespace ouzel::engine
