#include "engine/definition/definition.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TYPE without a definition: a shell, which a later CREATE TYPE, DOMAIN, TABLE or VIEW of the name defines
// (CatalogEditor::shellOf).

namespace ouzel::engine {

std::string createShell(CommandContext& context, const ::DefineStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TYPE");
   if (!actorOf(core).isSuperuser)
      throw SqlError(sqlstate::insufficientPrivilege, "must be superuser to create a base type");
   const NewRelation target = newType(context, statement.defnames);
   const auto existing = core.transaction.catalog().findRelation(target.schema, target.name.name);
   if (!sql::ListOf<>(statement.definition).empty()) {
      if (!existing)
         throw SqlError(sqlstate::duplicateObject, "type \"" + target.name.name + "\" does not exist") // so PostgreSQL
             .hint("Create the type as a shell type, then create its I/O functions, then do a full CREATE TYPE.");
      throwNotSupported("CREATE TYPE of a base type");
   }
   if (existing && existing->rowType)
      throw SqlError(sqlstate::duplicateObject, "type \"" + target.name.name + "\" already exists");
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.persistence = target.persistence();
   draft.relationKind = catalog::RelationKind::Shell;
   core.transaction.editor().createRelation(std::move(draft));
   return "CREATE TYPE";
}

void requireDefined(const catalog::Relation& type, const ::Node* name) {
   if (type.relationKind == catalog::RelationKind::Shell)
      throw SqlError(sqlstate::undefinedObject, "type \"" + typeNameOf(name).text() + "\" is only a shell");
}

} // namespace ouzel::engine
