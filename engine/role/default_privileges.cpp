#include "engine/role/default_privileges.hpp"

#include <algorithm>

#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/default_acl.hpp"
#include "engine/core/privileges.hpp"
#include "engine/role/actor.hpp"
#include "engine/role/grant.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::AclKind;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

AclKind kindOf(::ObjectType type) {
   switch (type) {
   case OBJECT_TABLE: return AclKind::Table;
   case OBJECT_SEQUENCE: return AclKind::Sequence;
   case OBJECT_FUNCTION:
   case OBJECT_ROUTINE: return AclKind::Function;
   case OBJECT_TYPE: return AclKind::Type;
   case OBJECT_SCHEMA: return AclKind::Schema;
   default: throwNotSupported("ALTER DEFAULT PRIVILEGES on this kind of object");
   }
}

uint32_t privilegesOf(const ::GrantStmt& action, AclKind kind) {
   const uint32_t all = catalog::aclRules(kind).all;
   if (!action.privileges) return all;
   uint32_t bits = 0;
   for (const ::AccessPriv* named : ListOf<::AccessPriv>(action.privileges)) {
      if (named->cols) throw SqlError(sqlstate::invalidGrantOperation, "default privileges cannot be set for columns");
      const uint32_t bit = privilegeBit(named->priv_name);
      if ((bit & ~all) != 0)
         throw SqlError(sqlstate::invalidGrantOperation,
                        "invalid privilege type " + std::string(catalog::privilegeName(bit)) + " for " +
                            (kind == AclKind::Table ? "relation" : std::string(catalog::aclRules(kind).name)));
      bits |= bit;
   }
   return bits;
}

/// Puts an entry in the place of `known`, which may be null; one that says nothing is not kept.
void put(catalog::CatalogEditor& editor, const std::shared_ptr<const catalog::DefaultAcl>& known,
         catalog::DefaultAcl entry) {
   const bool saysNothing = catalog::isBuiltinDefault(entry.acl, entry.role, entry.schema, catalog::kindOf(entry));
   if (!saysNothing)
      editor.setDefaultAcl(std::move(entry));
   else if (known)
      editor.removeDefaultAcl(*known);
}

/// Changes the entry of one role for one schema, or for all.
void change(SessionCore& core, Oid role, Oid schema, AclKind kind, catalog::AclChange change) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::Snapshot snapshot = editor.snapshot();
   const auto known = catalog::findDefaultAcl(snapshot, role, schema, kind);
   change.grantor = change.owner = role;
   catalog::DefaultAcl entry;
   if (known) entry.oid = known->oid;
   entry.database = snapshot.database();
   entry.role = role;
   entry.schema = schema;
   entry.objects = catalog::defaultAclLetter(kind);
   entry.acl = catalog::applied(snapshot, known ? known->acl : catalog::builtinDefault(role, schema, kind), change);
   put(editor, known, std::move(entry));
}

} // namespace

std::string alterDefaultPrivileges(CommandContext& context, const ::AlterDefaultPrivilegesStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER DEFAULT PRIVILEGES");
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const ::List *forRoles = nullptr, *inSchemas = nullptr;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
      const ::List*& list = std::string_view(option->defname) == "schemas" ? inSchemas : forRoles;
      if (list)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(option->location));
      list = as<::List>(option->arg);
   }
   const ::GrantStmt& action = *statement.action;
   const AclKind kind = kindOf(action.objtype);
   catalog::AclChange granted;
   granted.isGrant = action.is_grant;
   granted.grantOption = action.grant_option;
   granted.cascades = action.behavior == DROP_CASCADE;
   granted.grantees = granteesOf(core, action.grantees);
   granted.privileges = privilegesOf(action, kind);
   std::vector<Oid> roles, schemas;
   for (const ::RoleSpec* named : ListOf<::RoleSpec>(forRoles)) {
      const catalog::RolePtr role = existingRole(core, *named);
      requireRight(catalog::isSuperuser(snapshot, core.role()) || catalog::isMemberOf(snapshot, core.role(), role->oid),
                   "must be member of role \"" + role->name + "\"");
      roles.push_back(role->oid);
   }
   if (!forRoles) roles.push_back(core.role());
   if (inSchemas && kind == AclKind::Schema)
      throw SqlError(sqlstate::invalidGrantOperation, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS");
   for (const ::Node* name : ListOf<>(inSchemas))
      schemas.push_back(catalog::requireSchema(snapshot, core.searchPath(), stringOf(name)));
   if (!inSchemas) schemas.push_back(invalidOid);
   for (const Oid role : roles)
      for (const Oid schema : schemas)
         change(core, role, schema, kind, granted);
   return "ALTER DEFAULT PRIVILEGES";
}

void removeDefaultPrivileges(SessionCore& core, Oid role) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::Snapshot snapshot = editor.snapshot();
   for (const auto& entry : snapshot.defaultAcls()) {
      if (entry->role == role) {
         editor.removeDefaultAcl(*entry);
         continue;
      }
      catalog::DefaultAcl changed = *entry;
      const size_t removed =
          std::erase_if(changed.acl, [role](const catalog::AclItem& item) { return item.grantee == role; });
      if (removed > 0) put(editor, entry, std::move(changed));
   }
}

} // namespace ouzel::engine
