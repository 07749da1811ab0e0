#include <set>

#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_shdepend: which objects of all databases need which roles, as owners, in their privileges, and in policies. Roles
// that every cluster has, which nobody can drop, have no rows.

namespace ouzel::catalog {

namespace {

using namespace class_oid;

class SharedDependencyRows {
public:
   explicit SharedDependencyRows(RowBuilder& row) : row_(row) {}

   void run(const Snapshot& snapshot) {
      for (const ObjectPtr& object : snapshot.allObjects())
         switch (object->kind) {
         case ObjectKind::Database: add(static_cast<const Database&>(*object)); break;
         case ObjectKind::Relation: add(static_cast<const Relation&>(*object)); break;
         case ObjectKind::Server: add(static_cast<const ForeignServer&>(*object)); break;
         case ObjectKind::Schema: addAs<Schema>(pgNamespace, *object); break;
         case ObjectKind::ForeignWrapper: addAs<ForeignWrapper>(pgForeignDataWrapper, *object); break;
         case ObjectKind::Function: addAs<Function>(pgProc, *object); break;
         case ObjectKind::LargeObject: addAs<LargeObject>(pgLargeObject, *object); break;
         case ObjectKind::Statistics: addAs<Statistics>(pgStatisticExt, *object); break;
         case ObjectKind::Collation: addAs<Collation>(pgCollation, *object); break;
         case ObjectKind::Operator: addAs<Operator>(pgOperator, *object); break;
         case ObjectKind::Extension: addAs<Extension>(pgExtension, *object); break;
         case ObjectKind::TextSearchConfiguration:
         case ObjectKind::TextSearchDictionary: addAs<TextSearchObject>(textSearchClass(object->kind), *object); break;
         case ObjectKind::DefaultAcl: {
            const auto& defaults = static_cast<const DefaultAcl&>(*object);
            addOwned({defaults.database, pgDefaultAcl, defaults.oid}, defaults.role, defaults.acl);
            break;
         }
         case ObjectKind::SystemAcl: {
            const auto& privileges = static_cast<const SystemAcl&>(*object);
            addPrivileges({privileges.database, privileges.classOid, privileges.object}, bootstrapRole, privileges.acl);
            break;
         }
         case ObjectKind::TextSearchParser:
         case ObjectKind::TextSearchTemplate:
         case ObjectKind::LargeObjectPages:
         case ObjectKind::Cast:
         case ObjectKind::PreparedTransaction:
         case ObjectKind::Role:
         case ObjectKind::Comment:
         case ObjectKind::Settings: break;
         }
   }

private:
   struct Place {
      Oid database; ///< invalidOid: the object is the cluster's
      Oid classOid, object;
      int16_t attribute = 0;
   };

   template <typename T>
   void addAs(Oid classOid, const CatalogObject& object) {
      const auto& owned = static_cast<const T&>(object);
      const Place place{owned.database, classOid, owned.oid};
      if constexpr (requires { owned.acl; })
         addOwned(place, owned.owner, owned.acl);
      else
         addRole(place, owned.owner, 'o');
   }

   void add(const Database& database) {
      addOwned({invalidOid, pgDatabase, database.oid}, database.owner, database.acl);
      for (const EventTrigger& trigger : database.eventTriggers)
         addRole({database.oid, pgEventTrigger, trigger.oid}, trigger.owner, 'o');
      for (const Language& language : database.languages)
         addOwned({database.oid, pgLanguage, language.oid}, language.owner, language.acl);
      for (const Publication& publication : database.publications)
         addRole({database.oid, pgPublication, publication.oid}, publication.owner, 'o');
   }

   void add(const Relation& relation) {
      if (relation.index) return; // goes with its table
      const bool isType = isUserType(relation);
      addOwned({relation.database, isType ? pgType : pgClass, isType ? relation.rowType : relation.oid}, relation.owner,
               relation.acl);
      for (const Column& column : relation.columns)
         addPrivileges({relation.database, pgClass, relation.oid, column.attribute}, relation.owner, column.acl);
      for (const Policy& policy : relation.policies)
         for (const Oid role : policy.roles)
            addRole({relation.database, pgPolicy, policy.oid}, role, 'r');
   }

   void add(const ForeignServer& server) {
      addOwned({server.database, pgForeignServer, server.oid}, server.owner, server.acl);
      for (const ForeignServer::Mapping& mapping : server.mappings)
         addRole({server.database, pgUserMapping, mapping.oid}, mapping.role, 'o');
   }

   void addOwned(const Place& place, Oid owner, const Acl& acl) {
      addRole(place, owner, 'o');
      addPrivileges(place, owner, acl);
   }

   void addPrivileges(const Place& place, Oid owner, const Acl& acl) {
      if (!acl) return;
      std::set<Oid> roles;
      for (const AclItem& item : *acl)
         roles.insert({item.grantee, item.grantor});
      roles.erase(owner);
      for (const Oid role : roles)
         addRole(place, role, 'a');
   }

   void addRole(const Place& place, Oid role, char kind) {
      if (role < firstUserOid) return; // also PUBLIC
      row_.oid(place.database).oid(place.classOid).oid(place.object).int4(place.attribute);
      row_.oid(pgAuthid).oid(role).letter(kind).emit();
   }

   RowBuilder& row_;
};

void sharedDependRows(const SystemContext& context, RowBuilder& row) {
   SharedDependencyRows(row).run(context.snapshot);
}

constexpr NamedProducer tables[] = {{"pg_shdepend", sharedDependRows}};

} // namespace

std::span<const NamedProducer> sharedDependencyProducers() {
   return tables;
}

} // namespace ouzel::catalog
