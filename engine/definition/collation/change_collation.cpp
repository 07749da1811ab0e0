#include "catalog/object/collation_text.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/definition.hpp"
#include "executor/function/text/collation_version.hpp"
#include "sql/parse/node_access.hpp"

// ALTER and DROP COLLATION.

namespace ouzel::engine {

using catalog::Collation;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

catalog::QualifiedName nameOf(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

void requireOwner(SessionCore& core, const Collation& collation) {
   if (!actsFor(core, collation.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of collation " + collation.name);
}

/// Throws 42710 for a name that another collation has in the schema.
void requireFreeName(SessionCore& core, const Collation& collation, Oid schema, const std::string& name) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!snapshot.findCollation(schema, name)) return;
   throw SqlError(sqlstate::duplicateObject, "collation \"" + name + "\"" +
                                                 (collation.encoding >= 0 ? " for encoding \"UTF8\"" : "") +
                                                 " already exists in schema \"" + snapshot.schema(schema)->name + "\"");
}

/// Changes the newest version of the collation.
template <typename Change>
void change(SessionCore& core, Oid oid, Change&& change) {
   Collation changed = *core.transaction.editor().snapshot().collation(oid);
   change(changed);
   core.transaction.editor().replaceCollation(std::move(changed));
}

/// What a DROP names; nothing, with a notice, if there is none and none is needed.
std::optional<catalog::CollationInfo> requireDropped(SessionCore& core, const ::List* list, bool missingOk) {
   const catalog::QualifiedName name = nameOf(list);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (const auto found = catalog::findCollation(snapshot, core.searchPath(), name)) return found;
   const bool isSchemaMissing = !name.schema.empty() && !snapshot.findSchema(name.schema);
   const std::string message =
       isSchemaMissing ? "schema \"" + name.schema + "\" does not exist" : "collation \"" + name.text() + "\"";
   if (!missingOk)
      throw SqlError(isSchemaMissing ? sqlstate::invalidSchemaName : sqlstate::undefinedObject,
                     message + (isSchemaMissing ? "" : " for encoding \"UTF8\" does not exist"));
   core.notice(message + (isSchemaMissing ? "" : " does not exist") + ", skipping");
   return std::nullopt;
}

} // namespace

void lockUsers(SessionCore& core, const Collation& collation) {
   const auto schema = core.transaction.catalog().schema(collation.schema);
   for (const catalog::RelationPtr& relation : core.transaction.catalog().relations())
      if (catalog::usesCollation(*relation, collation, schema ? schema->name : ""))
         core.transaction.lock(relation->oid, LockMode::AccessExclusive);
}

catalog::CollationPtr findUserCollation(SessionCore& core, const ::List* list) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto found = catalog::findCollation(snapshot, core.searchPath(), nameOf(list));
   return found ? snapshot.collation(found->oid) : nullptr;
}

std::string refreshCollation(CommandContext& context, const ::AlterCollationStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "ALTER COLLATION";
   requireWritable(core, tag);
   const auto found =
       catalog::requireCollation(core.transaction.catalog(), core.searchPath(), nameOf(statement.collname));
   if (!actsFor(core, found.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of collation " + std::string(found.name));
   if (found.oid == defaultCollation)
      throw SqlError(sqlstate::featureNotSupported, "cannot refresh version of default collation")
          .hint("Use ALTER DATABASE ... REFRESH COLLATION VERSION instead.");
   const catalog::CollationPtr own = core.transaction.catalog().collation(found.oid);
   if (!own || own->provider != 'i') { // the build has the versions of the built-in ones
      core.notice("version has not changed");
      return tag;
   }
   const std::string actual = executor::collationVersion(own->icuLocale);
   if (own->version == actual) {
      core.notice("version has not changed");
      return tag;
   }
   core.notice("changing version from " + own->version.value_or("") + " to " + actual);
   change(core, own->oid, [&](Collation& changed) { changed.version = actual; });
   return tag;
}

std::string dropCollations(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP COLLATION");
   std::vector<catalog::CollationPtr> named;
   std::optional<catalog::CollationInfo> builtin;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto found = requireDropped(core, as<::List>(object), statement.missing_ok);
      if (found && found->oid < firstUserOid && !builtin) builtin = found;
      if (found && found->oid >= firstUserOid) named.push_back(core.transaction.catalog().collation(found->oid));
   }
   if (builtin) refuseToDrop(OBJECT_COLLATION, *builtin);
   catalog::DropTargets dropped;
   for (const catalog::CollationPtr& found : named) {
      const auto schema = core.transaction.catalog().schema(found->schema);
      if (!schema || !actsFor(core, schema->owner)) requireOwner(core, *found);
      lockUsers(core, *found);
      dropped.collations.push_back(found->oid);
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (dropped.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(dropped, behavior));
   return "DROP COLLATION";
}

void renameCollation(SessionCore& core, const Collation& collation, const char* name) {
   requireOwner(core, collation);
   if (const auto schema = core.transaction.catalog().schema(collation.schema))
      requirePrivilege(core, *schema, catalog::privilege::create);
   requireFreeName(core, collation, collation.schema, name);
   lockUsers(core, collation);
   change(core, collation.oid, [&](Collation& changed) { changed.name = name; });
}

void moveCollation(SessionCore& core, const Collation& collation, const char* schemaName) {
   requireOwner(core, collation);
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), schemaName);
   const auto target = core.transaction.catalog().schema(schema);
   if (target) requirePrivilege(core, *target, catalog::privilege::create);
   if (target && target->name.starts_with("pg_temp_"))
      throw SqlError(sqlstate::featureNotSupported, "cannot move objects into or out of temporary schemas");
   if (schema == collation.schema) return;
   if (schema < firstUserOid && schema != catalog::publicSchema) throwNotSupported("a collation in a system schema");
   requireFreeName(core, collation, schema, collation.name);
   lockUsers(core, collation);
   change(core, collation.oid, [&](Collation& changed) { changed.schema = schema; });
}

void changeCollationOwner(SessionCore& core, const Collation& collation, Oid owner) {
   requireOwner(core, collation);
   if (collation.owner == owner) return;
   requireNewOwner(core, owner, collation.schema);
   change(core, collation.oid, [&](Collation& changed) { changed.owner = owner; });
}

void commentOnCollation(SessionCore& core, const ::List* name, const std::string& text) {
   const auto found = catalog::requireCollation(core.transaction.catalog(), core.searchPath(), nameOf(name));
   if (!actsFor(core, found.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of collation " + std::string(found.name));
   core.transaction.editor().setComment(catalog::class_oid::pgCollation, found.oid, 0, text);
}

void reassignCollations(SessionCore& core, Oid from, Oid to) {
   for (const auto& collation : core.transaction.catalog().collations())
      if (collation->owner == from) change(core, collation->oid, [&](Collation& changed) { changed.owner = to; });
}

} // namespace ouzel::engine
