#include "engine/role/grant.hpp"

#include <algorithm>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/touched_relations.hpp"
#include "engine/role/actor.hpp"
#include "engine/role/large_object.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// GRANT and REVOKE of privileges on objects. Grants of roles are in role_members.cpp.

namespace ouzel::engine {

using catalog::AclKind;
using sql::as;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

namespace p = catalog::privilege;

struct Word {
   std::string_view word;
   uint32_t bit;
};
constexpr Word words[] = {
    {"insert", p::insert},         {"select", p::select},   {"update", p::update},   {"delete", p::del},
    {"truncate", p::truncate},     {"trigger", p::trigger}, {"execute", p::execute}, {"usage", p::usage},
    {"references", p::references}, {"create", p::create},   {"temp", p::createTemp}, {"temporary", p::createTemp},
    {"connect", p::connect},
};

Oid granteeOf(SessionCore& core, const ::RoleSpec& role) {
   if (role.roletype == ROLESPEC_PUBLIC) return invalidOid;
   return existingRole(core, role)->oid;
}

} // namespace

uint32_t privilegeBit(std::string_view word) {
   const auto found =
       std::find_if(std::begin(words), std::end(words), [&](const Word& one) { return one.word == word; });
   if (found == std::end(words))
      throw SqlError(sqlstate::syntaxError, "unrecognized privilege type \"" + std::string(word) + "\"");
   return found->bit;
}

std::vector<Oid> granteesOf(SessionCore& core, const ::List* roles) {
   std::vector<Oid> grantees;
   for (const ::RoleSpec* role : ListOf<::RoleSpec>(roles))
      grantees.push_back(granteeOf(core, *role));
   return grantees;
}

namespace {

/// What a statement grants, to whom.
struct Grant {
   bool isGrant = true, grantOption = false, cascades = false;
   bool isAll = false; ///< ALL PRIVILEGES
   uint32_t privileges = 0;
   std::vector<std::pair<uint32_t, std::vector<std::string>>> ofColumns; ///< privileges of some columns
   std::vector<Oid> grantees;
};

/// An object with a list: what GRANT needs of it, and how to put the new list in its place.
struct Target {
   AclKind kind;
   std::string name, described; ///< "t", "table t"
   Oid owner;
   catalog::Acl acl;
   catalog::Acl around; ///< of a column: the items of its table, whose grant options count too
};

Grant grantOf(SessionCore& core, const ::GrantStmt& statement) {
   Grant grant;
   grant.isGrant = statement.is_grant;
   grant.grantOption = statement.grant_option;
   grant.cascades = statement.behavior == DROP_CASCADE;
   grant.isAll = !statement.privileges;
   if (statement.grantor && granteeOf(core, *statement.grantor) != core.role())
      throw SqlError(sqlstate::featureNotSupported, "grantor must be current user");
   grant.grantees = granteesOf(core, statement.grantees);
   for (const ::AccessPriv* privilege : ListOf<::AccessPriv>(statement.privileges)) {
      // ALL (a, b): all that columns have.
      const uint32_t bit = privilege->priv_name ? privilegeBit(privilege->priv_name) : 0;
      if (!privilege->cols) {
         grant.privileges |= bit;
         continue;
      }
      std::vector<std::string> columns;
      for (const ::Node* column : ListOf<>(privilege->cols))
         columns.emplace_back(stringOf(column));
      grant.ofColumns.emplace_back(bit ? bit : catalog::aclRules(AclKind::Column).all, std::move(columns));
   }
   return grant;
}

[[noreturn]] void refuseType(uint32_t privileges, std::string_view kind) {
   throw SqlError(sqlstate::invalidGrantOperation, "invalid privilege type " +
                                                       std::string(catalog::privilegeName(privileges & -privileges)) +
                                                       " for " + std::string(kind));
}

/// The list afterwards. Warns of what the role could not grant or revoke; throws 42501 if it may do nothing here.
std::vector<catalog::AclItem> changed(SessionCore& core, const Target& target, const Grant& grant, uint32_t privileges,
                                      bool isAll) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const std::vector<catalog::AclItem> items = catalog::itemsOf(target.acl, target.kind, target.owner);
   std::vector<catalog::AclItem> counting = items;
   if (target.around) counting.insert(counting.end(), target.around->begin(), target.around->end());
   const catalog::Grantor grantor = catalog::bestGrantor(snapshot, core.role(), target.owner, counting, privileges);
   if (grantor.privileges == 0) {
      const bool holdsAny = std::any_of(counting.begin(), counting.end(), [&](const catalog::AclItem& item) {
         return item.grantee == invalidOid || catalog::ownsObject(snapshot, core.role(), item.grantee);
      });
      if (!holdsAny) throw SqlError(sqlstate::insufficientPrivilege, "permission denied for " + target.described);
   }
   if (grantor.privileges != privileges && !(isAll && grantor.privileges != 0)) {
      const std::string which = grantor.privileges == 0 ? "no privileges " : "not all privileges ";
      const std::string what = grant.isGrant ? "were granted" : "could be revoked";
      core.warn(grant.isGrant ? sqlstate::warningPrivilegeNotGranted : sqlstate::warningPrivilegeNotRevoked,
                which + what + " for \"" + target.name + "\"");
   }
   catalog::AclChange change;
   change.isGrant = grant.isGrant;
   change.grantOption = grant.grantOption;
   change.cascades = grant.cascades;
   change.grantees = grant.grantees;
   change.privileges = grantor.privileges;
   change.grantor = grantor.role;
   change.owner = target.owner;
   return catalog::applied(snapshot, items, change);
}

// ---- relations ----

/// Grants on columns, whose lists add to that of their table.
void grantOnColumn(SessionCore& core, catalog::Relation& relation, catalog::Column& column, const Grant& grant,
                   uint32_t privileges, bool isAll) {
   Target target{AclKind::Column, column.name, "column \"" + column.name + "\" of relation \"" + relation.name + "\"",
                 relation.owner,  column.acl,  catalog::itemsOf(relation.acl, AclKind::Table, relation.owner)};
   std::vector<catalog::AclItem> items = changed(core, target, grant, privileges, isAll);
   if (items.empty())
      column.acl.reset(); // as PostgreSQL: no list, rather than an empty one
   else
      column.acl = std::move(items);
}

void grantOnRelation(SessionCore& core, ::ObjectType type, const Grant& grant, const catalog::RelationPtr& relation) {
   const auto refuse = [&](const std::string& what) {
      throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is " + what);
   };
   if (core.touched) core.touched->note(core, *relation, grant.isGrant ? "GRANT" : "REVOKE");
   if (relation->index) refuse("an index");
   if (relation->relationKind == catalog::RelationKind::Composite) refuse("a composite type");
   if (type == OBJECT_SEQUENCE && !relation->sequence) refuse("not a sequence");
   if (relation->isBuiltin()) throwNotSupported("GRANT and REVOKE on system catalogs");
   // GRANT ... ON TABLE of a sequence is an old way to say ON SEQUENCE.
   const AclKind kind = relation->sequence ? AclKind::Sequence : AclKind::Table;
   const uint32_t all = catalog::aclRules(kind).all;
   uint32_t privileges = grant.isAll ? all : grant.privileges;
   if (relation->sequence && type == OBJECT_TABLE && (privileges & ~all) != 0) {
      core.warn(sqlstate::warning,
                "sequence \"" + relation->name + "\" only supports USAGE, SELECT, and UPDATE privileges");
      privileges &= all;
   }
   catalog::Relation draft = *relation;
   if (privileges != 0) {
      if ((privileges & ~all) != 0) refuseType(privileges & ~all, relation->sequence ? "sequence" : "table");
      const Target target{kind,
                          relation->name,
                          std::string(catalog::relationKindName(*relation)) + " " + relation->name,
                          relation->owner,
                          relation->acl,
                          {}};
      draft.acl = changed(core, target, grant, privileges, grant.isAll);
      // What a table loses its columns lose too.
      const uint32_t lost = grant.isGrant ? 0 : privileges & catalog::aclRules(AclKind::Column).all;
      if (lost != 0)
         for (catalog::Column& column : draft.columns)
            if (!column.isDropped && column.acl) grantOnColumn(core, draft, column, grant, lost, true);
   }
   for (const auto& [bits, names] : grant.ofColumns) {
      if ((bits & ~catalog::aclRules(AclKind::Column).all) != 0)
         refuseType(bits & ~catalog::aclRules(AclKind::Column).all, "column");
      if (relation->sequence) refuseType(bits, "sequence");
      for (const std::string& name : names) {
         const int16_t attribute = catalog::requireColumn(draft, name).attribute;
         grantOnColumn(core, draft, draft.columns[static_cast<size_t>(attribute - 1)], grant, bits, false);
      }
   }
   core.transaction.editor().replaceRelation(std::move(draft));
}

void grantOnRelations(CommandContext& context, const ::GrantStmt& statement, const Grant& grant) {
   SessionCore& core = context.core;
   const uint32_t known = catalog::aclRules(AclKind::Table).all | catalog::aclRules(AclKind::Sequence).all;
   const bool isSequence = statement.objtype == OBJECT_SEQUENCE;
   if (const uint32_t unknown = grant.privileges & ~(isSequence ? catalog::aclRules(AclKind::Sequence).all : known))
      refuseType(unknown, isSequence ? "sequence" : "relation");
   const catalog::SearchPath path = core.searchPath();
   std::vector<Oid> relations;
   if (statement.targtype == ACL_TARGET_ALL_IN_SCHEMA) {
      for (const ::Node* name : ListOf<>(statement.objects)) {
         const Oid schema = catalog::requireSchema(core.transaction.catalog(), path, stringOf(name));
         for (const catalog::RelationPtr& relation : core.transaction.catalog().relations()) {
            const char relkind = relation->relkind();
            const bool isWanted = isSequence ? relkind == 'S' : relkind == 'r' || relkind == 'v' || relkind == 'm';
            if (relation->schema == schema && isWanted) relations.push_back(relation->oid);
         }
      }
   } else {
      for (const ::RangeVar* name : ListOf<::RangeVar>(statement.objects))
         relations.push_back(requireTarget(context, path, *name)->oid);
   }
   for (const Oid relation : relations)
      grantOnRelation(core, statement.objtype, grant, core.transaction.editor().snapshot().relation(relation));
}

// ---- schemas, databases and types ----

uint32_t checkedFor(AclKind kind, const Grant& grant) {
   if (!grant.ofColumns.empty())
      throw SqlError(sqlstate::invalidGrantOperation, "column privileges are only valid for relations");
   const catalog::AclRules& rules = catalog::aclRules(kind);
   if ((grant.privileges & ~rules.all) != 0) refuseType(grant.privileges & ~rules.all, rules.name);
   return grant.isAll ? rules.all : grant.privileges;
}

template <typename Object>
std::vector<catalog::AclItem> changedOf(SessionCore& core, AclKind kind, const Object& object, const Grant& grant) {
   const uint32_t privileges = checkedFor(kind, grant);
   const Target target{kind,         object.name, std::string(catalog::aclRules(kind).name) + " " + object.name,
                       object.owner, object.acl,  {}};
   return changed(core, target, grant, privileges, grant.isAll);
}

void grantOnSchema(SessionCore& core, const catalog::Schema& schema, const Grant& grant) {
   catalog::Schema draft = schema;
   draft.acl = changedOf(core, AclKind::Schema, schema, grant);
   core.transaction.editor().replaceSchema(std::move(draft));
}

void grantOnSchema(SessionCore& core, std::string_view name, const Grant& grant) {
   const auto found = core.transaction.catalog().findSchema(name);
   if (!found) throw SqlError(sqlstate::invalidSchemaName, "schema \"" + std::string(name) + "\" does not exist");
   grantOnSchema(core, *found, grant);
}

void grantOnDatabase(SessionCore& core, const catalog::Database& database, const Grant& grant) {
   catalog::Database draft = database;
   draft.acl = changedOf(core, AclKind::Database, database, grant);
   core.transaction.editor().replaceDatabase(std::move(draft));
}

void grantOnDatabase(SessionCore& core, std::string_view name, const Grant& grant) {
   const auto found = core.transaction.catalog().findDatabase(name);
   if (!found) throw SqlError(sqlstate::undefinedDatabase, "database \"" + std::string(name) + "\" does not exist");
   grantOnDatabase(core, *found, grant);
}

void grantOnServer(SessionCore& core, const catalog::ForeignServer& server, const Grant& grant) {
   catalog::ForeignServer draft = server;
   draft.acl = changedOf(core, AclKind::Server, server, grant);
   core.transaction.editor().replaceServer(std::move(draft));
}

void grantOnWrapper(SessionCore& core, const catalog::ForeignWrapper& wrapper, const Grant& grant) {
   if (wrapper.isBuiltin()) throwNotSupported("GRANT and REVOKE on the foreign-data wrapper s3");
   catalog::ForeignWrapper draft = wrapper;
   draft.acl = changedOf(core, AclKind::ForeignWrapper, wrapper, grant);
   core.transaction.editor().replaceWrapper(std::move(draft));
}

void grantOnLargeObject(SessionCore& core, const catalog::LargeObject& object, const Grant& grant) {
   const uint32_t privileges = checkedFor(AclKind::LargeObject, grant);
   // Its name is what PostgreSQL calls it, so that errors say "large object" twice.
   const std::string name = "large object " + std::to_string(object.oid);
   const Target target{AclKind::LargeObject, name, "large object " + name, object.owner, object.acl, {}};
   catalog::LargeObject draft = object;
   draft.acl = changed(core, target, grant, privileges, grant.isAll);
   core.transaction.editor().replaceLargeObject(std::move(draft));
}

/// The type of a name. Throws 42809 and 0LP01 for types without a list of their own.
catalog::RelationPtr typeToGrant(SessionCore& core, ::ObjectType kind, const ::Node* name) {
   ::TypeName type{};
   type.type = T_TypeName;
   type.names = const_cast<::List*>(as<::List>(name));
   type.typemod = type.location = -1;
   const catalog::SearchPath path = core.searchPath();
   const Oid oid = sql::resolveTypeName(type, core.bindContext(path, nullptr)).named();
   const bool isUsers = oid >= firstUserOid;
   if (isUsers ? (oid & userArrayBit) != 0 : catalog::builtins().isArray(oid))
      throw SqlError(sqlstate::invalidGrantOperation, "cannot set privileges of array types")
          .hint("Set the privileges of the element type instead.");
   const auto found = isUsers ? core.transaction.catalog().relationOfType(oid) : nullptr;
   if (kind == OBJECT_DOMAIN && (!found || found->relationKind != catalog::RelationKind::Domain))
      throw SqlError(sqlstate::wrongObjectType,
                     "\"" + std::string(stringOf(ListOf<>(type.names).back())) + "\" is not a domain");
   if (!found || !catalog::isUserType(*found))
      throwNotSupported("GRANT and REVOKE on system types and row types of tables");
   return found;
}

/// A type that is a relation here: its list is that of the type.
void grantOnType(SessionCore& core, const catalog::Relation& type, const Grant& grant) {
   catalog::Relation draft = type;
   draft.acl = changedOf(core, AclKind::Type, type, grant);
   core.transaction.editor().replaceRelation(std::move(draft));
}

void grantOnFunction(SessionCore& core, const catalog::Function& function, const Grant& grant) {
   catalog::FunctionDefinition draft = function;
   draft.acl = changedOf(core, AclKind::Function, function, grant);
   core.transaction.editor().replaceFunction(std::move(draft));
}

void grantOnSystemObject(SessionCore& core, Oid classOid, Oid oid, const std::string& name, const Grant& grant) {
   const AclKind kind = classOid == catalog::class_oid::pgProc ? AclKind::Function : AclKind::Language;
   const uint32_t privileges = checkedFor(kind, grant);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const Target target{kind,
                       name,
                       std::string(catalog::aclRules(kind).name) + " " + name,
                       catalog::bootstrapRole,
                       catalog::systemAcl(snapshot, classOid, oid),
                       {}};
   catalog::SystemAcl changedAcl;
   changedAcl.database = snapshot.database();
   changedAcl.classOid = classOid;
   changedAcl.object = oid;
   changedAcl.acl = changed(core, target, grant, privileges, grant.isAll);
   core.transaction.editor().setSystemAcl(std::move(changedAcl));
}

void grantOnLanguage(SessionCore& core, const catalog::Language& language, const Grant& grant) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   catalog::Database draft = *snapshot.database(snapshot.database());
   for (catalog::Language& one : draft.languages)
      if (one.oid == language.oid) one.acl = changedOf(core, AclKind::Language, language, grant);
   core.transaction.editor().replaceDatabase(std::move(draft));
}

void grantOnLanguage(SessionCore& core, std::string_view name, const Grant& grant) {
   const catalog::Language* made = catalog::findUserLanguage(core.transaction.catalog(), name);
   const Oid language = made ? made->oid : catalog::findLanguage(name);
   if (language == invalidOid)
      throw SqlError(sqlstate::undefinedObject, "language \"" + std::string(name) + "\" does not exist");
   if (made ? !made->isTrusted : language == catalog::language_oid::internal || language == catalog::language_oid::c)
      throw SqlError(sqlstate::wrongObjectType, "language \"" + std::string(name) + "\" is not trusted")
          .detail("GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted "
                  "languages.");
   if (made)
      grantOnLanguage(core, *made, grant);
   else
      grantOnSystemObject(core, catalog::class_oid::pgLanguage, language, std::string(name), grant);
}

// ---- DROP OWNED ----

bool names(const catalog::Acl& acl, Oid role) {
   return acl && std::any_of(acl->begin(), acl->end(), [&](const catalog::AclItem& item) {
             return item.grantee == role || item.grantor == role;
          });
}

bool names(const catalog::Relation& relation, Oid role) {
   return names(relation.acl, role) ||
          std::any_of(relation.columns.begin(), relation.columns.end(),
                      [&](const catalog::Column& column) { return names(column.acl, role); });
}

} // namespace

void revokeEverything(SessionCore& core, Oid role) {
   Grant grant;
   grant.isGrant = false;
   grant.isAll = grant.cascades = true;
   grant.grantees = {role};
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& relation : snapshot.relations()) {
      if (relation->isBuiltin() || relation->owner == role || !names(*relation, role)) continue;
      if (catalog::isUserType(*relation))
         grantOnType(core, *relation, grant);
      else
         grantOnRelation(core, OBJECT_TABLE, grant, relation);
   }
   for (const auto& schema : snapshot.schemas())
      if (schema->owner != role && names(schema->acl, role)) grantOnSchema(core, *schema, grant);
   for (const catalog::ForeignWrapperPtr& wrapper : snapshot.wrappers())
      if (wrapper->owner != role && names(wrapper->acl, role)) grantOnWrapper(core, *wrapper, grant);
   for (const catalog::ServerPtr& server : snapshot.servers())
      if (server->owner != role && names(server->acl, role)) grantOnServer(core, *server, grant);
   for (const catalog::FunctionPtr& function : snapshot.functions())
      if (function->owner != role && names(function->acl, role)) grantOnFunction(core, *function, grant);
   for (const catalog::LargeObjectPtr& object : snapshot.largeObjects())
      if (object->owner != role && names(object->acl, role)) grantOnLargeObject(core, *object, grant);
   for (const auto& privileges : snapshot.systemAcls())
      if (names(privileges->acl, role)) grantOnSystemObject(core, privileges->classOid, privileges->object, {}, grant);
   for (const auto& database : snapshot.databases())
      if (database->owner != role && names(database->acl, role)) grantOnDatabase(core, *database, grant);
   for (const catalog::Language& language : snapshot.database(snapshot.database())->languages)
      if (language.owner != role && names(language.acl, role)) grantOnLanguage(core, language, grant);
}

std::string grantOnFunctions(CommandContext& context, const ::GrantStmt& statement, const std::vector<Oid>& functions) {
   SessionCore& core = context.core;
   const Grant grant = grantOf(core, statement);
   checkedFor(AclKind::Function, grant);
   for (const Oid function : functions)
      if (const auto own = core.transaction.editor().snapshot().function(function))
         grantOnFunction(core, *own, grant);
      else if (const catalog::FunctionInfo* builtin = catalog::builtins().function(function))
         grantOnSystemObject(core, catalog::class_oid::pgProc, function, std::string(builtin->name), grant);
   return statement.is_grant ? "GRANT" : "REVOKE";
}

std::string grantPrivileges(CommandContext& context, const ::GrantStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = statement.is_grant ? "GRANT" : "REVOKE";
   requireWritable(core, tag);
   const Grant grant = grantOf(core, statement);
   switch (statement.objtype) {
   case OBJECT_TABLE:
   case OBJECT_SEQUENCE: grantOnRelations(context, statement, grant); return tag;
   case OBJECT_SCHEMA:
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnSchema(core, stringOf(name), grant);
      return tag;
   case OBJECT_TYPE:
   case OBJECT_DOMAIN: {
      const uint32_t known = catalog::aclRules(AclKind::Type).all;
      if (grant.ofColumns.empty() && (grant.privileges & ~known) != 0)
         refuseType(grant.privileges & ~known, statement.objtype == OBJECT_TYPE ? "type" : "domain");
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnType(core, *typeToGrant(core, statement.objtype, name), grant);
      return tag;
   }
   case OBJECT_FOREIGN_SERVER:
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnServer(core, *catalog::requireServer(core.transaction.catalog(), stringOf(name)), grant);
      return tag;
   case OBJECT_FDW:
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnWrapper(core, *catalog::requireWrapper(core.transaction.catalog(), stringOf(name)), grant);
      return tag;
   case OBJECT_LARGEOBJECT: {
      checkedFor(AclKind::LargeObject, grant);
      for (const ::Node* oid : ListOf<>(statement.objects))
         grantOnLargeObject(core, *requireLargeObject(core, oid), grant);
      return tag;
   }
   case OBJECT_LANGUAGE:
      checkedFor(AclKind::Language, grant);
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnLanguage(core, stringOf(name), grant);
      return tag;
   case OBJECT_DATABASE:
      for (const ::Node* name : ListOf<>(statement.objects))
         grantOnDatabase(core, stringOf(name), grant);
      return tag;
   default: throwNotSupported(tag + " on this kind of object");
   }
}

} // namespace ouzel::engine
