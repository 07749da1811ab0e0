#include <algorithm>
#include <map>
#include <tuple>

#include "catalog/editor/editor.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// Roles and the settings of roles and databases. DROP ROLE looks for what depends on the role.

namespace ouzel::catalog {

namespace {

/// The objects that a role owns or has privileges for, as DROP ROLE tells them: those of the database from which the
/// snapshot is seen by name, in the order of their OIDs, those of other databases by number.
class DependentsOfRole {
public:
   DependentsOfRole(const Snapshot& snapshot, const SearchPath& path, Oid role)
      : snapshot_(snapshot), path_(path), role_(role) {
      for (const ObjectPtr& object : snapshot.allObjects())
         switch (object->kind) {
         case ObjectKind::Database: add(static_cast<const Database&>(*object)); break;
         case ObjectKind::Schema: add(static_cast<const Schema&>(*object)); break;
         case ObjectKind::Relation: add(static_cast<const Relation&>(*object)); break;
         case ObjectKind::DefaultAcl: add(static_cast<const DefaultAcl&>(*object)); break;
         case ObjectKind::SystemAcl: add(static_cast<const SystemAcl&>(*object)); break;
         case ObjectKind::Server: add(static_cast<const ForeignServer&>(*object)); break;
         case ObjectKind::ForeignWrapper: add(static_cast<const ForeignWrapper&>(*object)); break;
         case ObjectKind::Statistics: add(static_cast<const Statistics&>(*object)); break;
         case ObjectKind::Collation: add(static_cast<const Collation&>(*object)); break;
         case ObjectKind::TextSearchConfiguration:
         case ObjectKind::TextSearchDictionary:
         case ObjectKind::TextSearchParser:
         case ObjectKind::TextSearchTemplate: add(static_cast<const TextSearchObject&>(*object)); break;
         case ObjectKind::Function: add(static_cast<const Function&>(*object)); break;
         case ObjectKind::Operator: add(static_cast<const Operator&>(*object)); break;
         case ObjectKind::Extension: add(static_cast<const Extension&>(*object)); break;
         case ObjectKind::LargeObject: add(static_cast<const LargeObject&>(*object)); break;
         case ObjectKind::LargeObjectPages:
         case ObjectKind::Cast:
         case ObjectKind::PreparedTransaction:
         case ObjectKind::Role:
         case ObjectKind::Comment:
         case ObjectKind::Settings: break;
         }
   }

   /// Empty: nothing depends on the role.
   std::string lines() {
      std::sort(found_.begin(), found_.end());
      std::string text;
      const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
      for (const auto& [oid, attribute, line] : found_)
         add(line);
      for (const auto& [database, count] : elsewhere_) {
         const DatabasePtr other = snapshot_.database(database);
         add(std::to_string(count) + (count == 1 ? " object" : " objects") + " in database " +
             (other ? other->name : std::to_string(database)));
      }
      return text;
   }

private:
   void add(const Database& database) {
      note(invalidOid, database.oid, 0, database.owner, database.acl,
           [&] { return "database " + quoteIdentifier(database.name); });
      for (const EventTrigger& trigger : database.eventTriggers)
         note(database.oid, trigger.oid, 0, trigger.owner, {},
              [&] { return "event trigger " + quoteIdentifier(trigger.name); });
      for (const Language& language : database.languages)
         note(database.oid, language.oid, 0, language.owner, language.acl,
              [&] { return "language " + quoteIdentifier(language.name); });
      for (const Publication& publication : database.publications)
         note(database.oid, publication.oid, 0, publication.owner, {},
              [&] { return "publication " + quoteIdentifier(publication.name); });
   }
   void add(const Schema& schema) {
      note(schema.database, schema.oid, 0, schema.owner, schema.acl,
           [&] { return "schema " + quoteIdentifier(schema.name); });
   }
   void add(const Relation& relation) {
      if (relation.index) return; // goes with its table
      const auto name = [&] {
         return (isUserType(relation) ? "type" : std::string(relationKindName(relation))) + " " +
                displayName(snapshot_, path_, relation);
      };
      note(relation.database, relation.oid, 0, relation.owner, relation.acl, name);
      for (const Column& column : relation.columns)
         note(relation.database, relation.oid, column.attribute, invalidOid, column.acl,
              [&] { return "column " + quoteIdentifier(column.name) + " of " + name(); });
      for (const Policy& policy : relation.policies)
         if (std::find(policy.roles.begin(), policy.roles.end(), role_) != policy.roles.end())
            noteLine(relation.database, policy.oid, 0,
                     [&] { return "target of policy " + policy.name + " on " + name(); });
   }
   void add(const ForeignWrapper& wrapper) {
      note(wrapper.database, wrapper.oid, 0, wrapper.owner, wrapper.acl,
           [&] { return "foreign-data wrapper " + wrapper.name; });
   }
   void add(const ForeignServer& server) {
      note(server.database, server.oid, 0, server.owner, server.acl, [&] { return "server " + server.name; });
      if (const auto* mapping = server.mappingOf(role_))
         noteLine(server.database, mapping->oid, 0,
                  [&] { return "owner of " + describeMapping(snapshot_, server, role_); });
   }
   void add(const Statistics& statistics) {
      note(statistics.database, statistics.oid, 0, statistics.owner, {},
           [&] { return "statistics object " + displayName(snapshot_, path_, statistics); });
   }
   void add(const Collation& collation) {
      note(collation.database, collation.oid, 0, collation.owner, {},
           [&] { return "collation " + displayName(snapshot_, path_, collation); });
   }
   void add(const TextSearchObject& object) {
      if (object.kind == ObjectKind::TextSearchParser || object.kind == ObjectKind::TextSearchTemplate) return;
      note(object.database, object.oid, 0, object.owner, {},
           [&] { return std::string(textSearchWord(object.kind)) + " " + displayName(snapshot_, path_, object); });
   }
   void add(const Function& function) {
      note(function.database, function.oid, 0, function.owner, function.acl, [&] {
         const bool isProcedure = function.functionKind == FunctionKind::Procedure;
         return (isProcedure ? "procedure " : "function ") + signatureOf(snapshot_, path_, function);
      });
   }
   void add(const Operator& op) {
      note(op.database, op.oid, 0, op.owner, {}, [&] { return "operator " + signatureOf(snapshot_, path_, op); });
   }
   void add(const Extension& extension) {
      note(extension.database, extension.oid, 0, extension.owner, {}, [&] { return "extension " + extension.name; });
   }
   void add(const LargeObject& object) {
      note(object.database, object.oid, 0, object.owner, object.acl,
           [&] { return "large object " + std::to_string(object.oid); });
   }
   void add(const SystemAcl& privileges) {
      note(privileges.database, privileges.object, 0, invalidOid, privileges.acl,
           [&] { return systemObjectText(snapshot_, path_, privileges.classOid, privileges.object); });
   }
   void add(const DefaultAcl& defaults) {
      const auto name = [&] {
         const RolePtr owner = snapshot_.role(defaults.role);
         const SchemaPtr schema = snapshot_.schema(defaults.schema);
         constexpr std::pair<char, std::string_view> kinds[] = {
             {'r', "relations"}, {'S', "sequences"}, {'f', "functions"}, {'T', "types"}, {'n', "schemas"}};
         std::string text = "default privileges on new ";
         for (const auto& [letter, plural] : kinds)
            if (letter == defaults.objects) text += plural;
         text += " belonging to role " + (owner ? owner->name : std::to_string(defaults.role));
         return schema ? text + " in schema " + schema->name : text;
      };
      note(defaults.database, defaults.oid, 0, defaults.role, defaults.acl, name);
   }

   /// `database`: invalidOid for an object of the cluster.
   template <typename Name>
   void note(Oid database, Oid oid, int16_t attribute, Oid owner, const Acl& acl, const Name& name) {
      const bool isOwner = owner == role_;
      const bool isListed = acl && std::any_of(acl->begin(), acl->end(), [&](const AclItem& item) {
                               return item.grantee == role_ || item.grantor == role_;
                            });
      if (!isOwner && !isListed) return;
      noteLine(database, oid, attribute, [&] { return (isOwner ? "owner of " : "privileges for ") + name(); });
   }
   template <typename Line>
   void noteLine(Oid database, Oid oid, int16_t attribute, const Line& line) {
      if (database != invalidOid && database != snapshot_.database())
         ++elsewhere_[database];
      else
         found_.emplace_back(oid, attribute, line());
   }

   const Snapshot& snapshot_;
   const SearchPath& path_;
   const Oid role_;
   std::vector<std::tuple<Oid, int16_t, std::string>> found_; ///< OID, column, line
   std::map<Oid, size_t> elsewhere_;                          ///< numbers of objects by database
};

void requireFreeName(const Snapshot& snapshot, const Role& role) {
   const RolePtr holder = snapshot.findRole(role.name);
   if (holder && holder->oid != role.oid)
      throw SqlError(sqlstate::duplicateObject, "role \"" + role.name + "\" already exists");
}

} // namespace

std::string dependentsOfRole(const Snapshot& snapshot, Oid role, const SearchPath& path) {
   return DependentsOfRole(snapshot, path, role).lines();
}

Oid CatalogEditor::createRole(Role draft) {
   if (draft.name.starts_with("pg_"))
      throw SqlError(sqlstate::reservedName, "role name \"" + draft.name + "\" is reserved")
          .detail("Role names starting with \"pg_\" are reserved.");
   if (draft.name == "public" || draft.name == "none")
      throw SqlError(sqlstate::reservedName, "role name \"" + draft.name + "\" is reserved");
   requireFreeName(working_, draft);
   if (draft.oid == invalidOid) draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Role>(std::move(draft)));
   return oid;
}

void CatalogEditor::dropRole(std::string_view name, bool missingOk) {
   const RolePtr role = working_.findRole(name);
   if (!role) {
      if (missingOk) return;
      throw SqlError(sqlstate::undefinedObject, "role \"" + std::string(name) + "\" does not exist");
   }
   if (role->oid < firstUserOid)
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop role " + role->name + " because it is required by the database system");
   const std::string dependents = dependentsOfRole(working_, role->oid, searchPath_);
   if (!dependents.empty())
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "role \"" + role->name + "\" cannot be dropped because some objects depend on it")
          .detail(dependents);
   for (const RolePtr& other : working_.roles()) {
      Role changed = *other;
      const auto removed =
          std::erase_if(changed.memberOf, [&](const Role::Membership& m) { return m.role == role->oid; });
      if (removed > 0) put(std::make_shared<const Role>(std::move(changed)));
   }
   for (const auto& settings : working_.settings())
      if (settings->role == role->oid) remove(keyOf(*settings));
   remove({ObjectKind::Comment, invalidOid, class_oid::pgAuthid, role->oid, 0});
   remove(keyOf(*role));
}

void CatalogEditor::replaceRole(Role changed) {
   requireFreeName(working_, changed);
   put(std::make_shared<const Role>(std::move(changed)));
}

void CatalogEditor::setDefaultAcl(DefaultAcl defaults) {
   if (defaults.oid == invalidOid) defaults.oid = oids_();
   put(std::make_shared<const DefaultAcl>(std::move(defaults)));
}

void CatalogEditor::setSystemAcl(SystemAcl privileges) {
   put(std::make_shared<const SystemAcl>(std::move(privileges)));
}

void CatalogEditor::removeDefaultAcl(const DefaultAcl& defaults) {
   remove(keyOf(defaults));
}

void CatalogEditor::setSettings(Oid database, Oid role, std::vector<std::pair<std::string, std::string>> values) {
   if (values.empty()) return remove({ObjectKind::Settings, database, role});
   auto settings = std::make_shared<Settings>();
   settings->database = database;
   settings->role = role;
   settings->values = std::move(values);
   put(std::move(settings));
}

} // namespace ouzel::catalog
