#include <algorithm>
#include <set>

#include "catalog/builtin/extensions.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/membership.hpp"
#include "engine/core/local_setting.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/extension/extension.hpp"
#include "sql/parse/node_access.hpp"

// CREATE EXTENSION: runs the extension's script, and keeps what it made as the extension's members.

namespace ouzel::engine {

using catalog::Extension;
using catalog::ExtensionInfo;
using sql::ListOf;
using sql::stringOf;

namespace {

void requireValidName(const std::string& name) {
   const auto refuse = [&](const char* detail) {
      throw SqlError(sqlstate::invalidParameterValue, "invalid extension name: \"" + name + "\"").detail(detail);
   };
   if (name.find("--") != std::string::npos) refuse("Extension names must not contain \"--\".");
   if (name.front() == '-' || name.back() == '-') refuse("Extension names must not begin or end with \"-\".");
   if (name.find('/') != std::string::npos) refuse("Extension names must not contain directory separator characters.");
}

const ExtensionInfo& requireInfo(const std::string& name) {
   if (const ExtensionInfo* info = catalog::findExtensionInfo(name)) return *info;
   std::string all;
   for (const ExtensionInfo& info : catalog::extensionInfos())
      all += (all.empty() ? "" : ", ") + std::string(info.name);
   throw SqlError(sqlstate::featureNotSupported, "extension \"" + name + "\" is not available")
       .hint("The extensions that there are: " + all + ".");
}

/// What the statement asks for beside the name. CASCADE is accepted: no extension here needs another.
struct Wishes {
   const char *schema = nullptr, *version = nullptr;
};

Wishes wishesOf(CommandContext& context, const ::CreateExtensionStmt& statement) {
   Wishes wishes;
   std::set<std::string_view> seen;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
      const std::string_view name = option->defname;
      if (!seen.insert(name).second)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(option->location));
      if (name == "schema") wishes.schema = stringOf(option->arg).data();
      if (name == "new_version") wishes.version = stringOf(option->arg).data();
   }
   return wishes;
}

} // namespace

void requireOwnSchema(Oid schema) {
   if (schema < firstUserOid && schema != catalog::publicSchema) throwNotSupported("an extension in a system schema");
}

namespace {

Oid schemaOf(SessionCore& core, const ExtensionInfo& info, const Wishes& wishes) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto named = [&](std::string_view name) {
      const auto schema = snapshot.findSchema(name);
      if (!schema) throw SqlError(sqlstate::invalidSchemaName, "schema \"" + std::string(name) + "\" does not exist");
      return schema->oid;
   };
   if (wishes.schema && !info.schema.empty() && info.schema != wishes.schema)
      throw SqlError(sqlstate::featureNotSupported, "extension \"" + std::string(info.name) +
                                                        "\" must be installed in schema \"" + std::string(info.schema) +
                                                        "\"");
   if (wishes.schema) {
      const Oid schema = named(wishes.schema);
      requireOwnSchema(schema);
      return schema;
   }
   if (!info.schema.empty()) return named(info.schema);
   const Oid schema = core.searchPath().creation;
   if (schema == invalidOid) throw SqlError(sqlstate::undefinedSchema, "no schema has been selected to create in");
   return schema; // whether the role may create there is no question: the script is the superuser's
}

void requireMayCreate(SessionCore& core, const ExtensionInfo& info) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (snapshot.role(core.role())->isSuperuser) return;
   const catalog::DatabasePtr database = snapshot.database(snapshot.database());
   if (info.isTrusted && catalog::mayUse(snapshot, core.role(), *database, catalog::privilege::create)) return;
   throw SqlError(sqlstate::insufficientPrivilege,
                  "permission denied to create extension \"" + std::string(info.name) + "\"")
       .hint(info.isTrusted ? "Must have CREATE privilege on current database to create this extension."
                            : "Must be superuser to create this extension.");
}

std::set<catalog::ObjectKey> changedKeys(const catalog::CatalogEditor& editor) {
   std::set<catalog::ObjectKey> keys;
   for (const catalog::Change& change : editor.changes())
      keys.insert(change.key);
   return keys;
}

std::vector<Extension::Member> madeSince(const catalog::CatalogEditor& editor,
                                         const std::set<catalog::ObjectKey>& before) {
   using catalog::ObjectKind;
   std::vector<Extension::Member> made;
   for (const catalog::Change& change : editor.changes()) {
      if (change.before || !change.after || before.contains(change.key)) continue;
      switch (change.key.kind) {
      case ObjectKind::ForeignWrapper:
      case ObjectKind::Relation: made.push_back({change.key.kind, change.key.a}); break;
      case ObjectKind::Function:
      case ObjectKind::Operator:
      case ObjectKind::Cast:
      case ObjectKind::TextSearchConfiguration:
      case ObjectKind::TextSearchDictionary:
      case ObjectKind::TextSearchParser:
      case ObjectKind::TextSearchTemplate: made.push_back({change.key.kind, change.key.b}); break;
      default: break;
      }
   }
   return made;
}

/// While it lives, functions may be kernels.
class Making {
public:
   Making(SessionCore& core, const ExtensionInfo& info) : core_(core) { core.madeExtension = &info; }
   ~Making() { core_.madeExtension = nullptr; }
   Making(const Making&) = delete;

private:
   SessionCore& core_;
};

/// As PostgreSQL, a trusted extension belongs to who makes it, but its objects to the superuser whose script it is.
void runScript(SessionCore& core, const ExtensionInfo& info, const std::string& schema, const ScriptRunner& run) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   std::optional<LocalSetting> role;
   if (!snapshot.role(core.role())->isSuperuser)
      role.emplace(core, "role", snapshot.role(catalog::bootstrapRole)->name);
   LocalSetting searchPath(core, "search_path", catalog::quoteIdentifier(schema));
   const Making making(core, info);
   const auto script = sql::ParsedScript::parse(std::string(info.script));
   for (const sql::ParsedStatement& statement : script.statements())
      run(script, statement);
   searchPath.restore();
   if (role) role->restore();
}

} // namespace

std::string createExtension(CommandContext& context, const ::CreateExtensionStmt& statement, const ScriptRunner& run) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE EXTENSION");
   const std::string name = statement.extname;
   requireValidName(name);
   if (catalog::findBuiltinExtension(name) || core.transaction.catalog().findExtension(name)) {
      if (!statement.if_not_exists)
         throw SqlError(sqlstate::duplicateObject, "extension \"" + name + "\" already exists");
      core.notice("extension \"" + name + "\" already exists, skipping", {}, sqlstate::duplicateObject);
      return "CREATE EXTENSION";
   }
   const Wishes wishes = wishesOf(context, statement);
   const ExtensionInfo& info = requireInfo(name);
   if (wishes.version && info.version != wishes.version)
      throw SqlError(sqlstate::invalidParameterValue,
                     "extension \"" + name + "\" has no installation script nor update path for version \"" +
                         wishes.version + "\"");
   const Oid schema = schemaOf(core, info, wishes);
   requireMayCreate(core, info);
   catalog::CatalogEditor& editor = core.transaction.editor();
   Extension extension;
   extension.name = name;
   extension.owner = core.role();
   extension.schema = schema;
   extension.version = info.version;
   const Oid oid = editor.createExtension(std::move(extension));
   editor.setComment(catalog::class_oid::pgExtension, oid, 0, std::string(info.comment));
   const std::set<catalog::ObjectKey> before = changedKeys(editor);
   runScript(core, info, core.transaction.catalog().schema(schema)->name, run);
   Extension made = *editor.snapshot().extension(oid);
   made.members = madeSince(editor, before);
   editor.replaceExtension(std::move(made));
   return "CREATE EXTENSION";
}

} // namespace ouzel::engine
