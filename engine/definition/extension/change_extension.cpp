#include "catalog/builtin/extensions.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/extension/extension.hpp"
#include "engine/query/object_kind.hpp"
#include "sql/parse/node_access.hpp"

// ALTER and DROP EXTENSION. Those that every database has stay.

namespace ouzel::engine {

using catalog::Extension;
using catalog::ExtensionPtr;
using sql::ListOf;
using sql::stringOf;

namespace {

ExtensionPtr requireExtension(SessionCore& core, const std::string& name) {
   if (ExtensionPtr found = core.transaction.catalog().findExtension(name)) return found;
   const auto* known = catalog::findBuiltinExtension(name);
   if (!known) throw SqlError(sqlstate::undefinedObject, "extension \"" + name + "\" does not exist");
   Extension builtin;
   builtin.oid = known->oid;
   builtin.name = name;
   builtin.schema = catalog::pgCatalogSchema;
   builtin.version = catalog::findExtensionInfo(name)->version;
   return std::make_shared<const Extension>(std::move(builtin));
}

/// Throws for a name that an object of the schema has.
void moveMember(SessionCore& core, const Extension::Member& member, Oid schema) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::Snapshot snapshot = editor.snapshot();
   if (member.kind == catalog::ObjectKind::Function) {
      catalog::FunctionDefinition changed = *snapshot.function(member.oid);
      changed.schema = schema;
      editor.replaceFunction(std::move(changed));
   }
   if (member.kind == catalog::ObjectKind::Operator) {
      catalog::OperatorDefinition changed = *snapshot.op(member.oid);
      changed.schema = schema;
      editor.replaceOperator(std::move(changed));
   }
   if (member.kind == catalog::ObjectKind::Relation) editor.setSchema(member.oid, schema);
}

} // namespace

void requireOwner(SessionCore& core, const Extension& extension) {
   if (!actsFor(core, extension.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of extension " + extension.name);
}

std::string alterExtension(CommandContext& context, const ::AlterExtensionStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER EXTENSION");
   const ExtensionPtr extension = requireExtension(core, statement.extname);
   requireOwner(core, *extension);
   std::string version(catalog::findExtensionInfo(extension->name)->version);
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options))
      if (std::string_view(option->defname) == "new_version") version = stringOf(option->arg);
   if (version != extension->version)
      throw SqlError(sqlstate::invalidParameterValue, "extension \"" + extension->name +
                                                          "\" has no update path from version \"" + extension->version +
                                                          "\" to version \"" + version + "\"");
   core.notice("version \"" + version + "\" of extension \"" + extension->name + "\" is already installed");
   return "ALTER EXTENSION";
}

std::string alterExtension(CommandContext& context, const ::AlterExtensionContentsStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER EXTENSION");
   requireOwner(core, *requireExtension(core, statement.extname));
   throwNotSupported("ALTER EXTENSION ... ADD and DROP");
}

std::string moveExtension(CommandContext& context, const ::AlterObjectSchemaStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER EXTENSION");
   const ExtensionPtr extension = requireExtension(core, std::string(stringOf(statement.object)));
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), statement.newschema);
   requireOwner(core, *extension);
   if (const auto target = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *target, catalog::privilege::create);
   if (!catalog::findExtensionInfo(extension->name)->isRelocatable)
      throw SqlError(sqlstate::featureNotSupported,
                     "extension \"" + extension->name + "\" does not support SET SCHEMA");
   if (schema == extension->schema) return "ALTER EXTENSION";
   requireOwnSchema(schema);
   for (const Extension::Member& member : extension->members)
      moveMember(core, member, schema);
   Extension changed = *extension;
   changed.schema = schema;
   core.transaction.editor().replaceExtension(std::move(changed));
   return "ALTER EXTENSION";
}

std::string dropExtensions(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP EXTENSION");
   catalog::DropTargets targets;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (statement.missing_ok && !catalog::findBuiltinExtension(name) &&
          !core.transaction.catalog().findExtension(name)) {
         core.notice("extension \"" + name + "\" does not exist, skipping");
         continue;
      }
      const ExtensionPtr extension = requireExtension(core, name);
      requireOwner(core, *extension);
      if (catalog::builtinExtension(extension->oid)) throwNotSupported("DROP EXTENSION " + name);
      targets.extensions.push_back(extension->oid);
      for (const Extension::Member& member : extension->members)
         if (member.kind == catalog::ObjectKind::Relation) core.transaction.lock(member.oid, LockMode::AccessExclusive);
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (targets.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(targets, behavior));
   return "DROP EXTENSION";
}

void reassignExtensions(SessionCore& core, Oid from, Oid to) {
   for (const ExtensionPtr& extension : core.transaction.catalog().extensions()) {
      if (extension->owner != from) continue;
      Extension changed = *extension;
      changed.owner = to;
      core.transaction.editor().replaceExtension(std::move(changed));
   }
}

} // namespace ouzel::engine
