#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

constexpr Oid publicRole = invalidOid;

struct NamedPrivilege {
   std::string_view name;
   uint32_t bit;
};
constexpr NamedPrivilege tablePrivileges[] = {
    {"SELECT", privilege::select},     {"INSERT", privilege::insert},
    {"UPDATE", privilege::update},     {"DELETE", privilege::del},
    {"TRUNCATE", privilege::truncate}, {"REFERENCES", privilege::references},
    {"TRIGGER", privilege::trigger},   {"RULE", 0},
};
constexpr NamedPrivilege columnPrivileges[] = {{"SELECT", privilege::select},
                                               {"INSERT", privilege::insert},
                                               {"UPDATE", privilege::update},
                                               {"REFERENCES", privilege::references}};
constexpr NamedPrivilege sequencePrivileges[] = {
    {"USAGE", privilege::usage}, {"SELECT", privilege::select}, {"UPDATE", privilege::update}};
constexpr NamedPrivilege schemaPrivileges[] = {{"CREATE", privilege::create}, {"USAGE", privilege::usage}};
constexpr NamedPrivilege databasePrivileges[] = {{"CREATE", privilege::create},
                                                 {"TEMPORARY", privilege::createTemp},
                                                 {"TEMP", privilege::createTemp},
                                                 {"CONNECT", privilege::connect}};
constexpr NamedPrivilege functionPrivileges[] = {{"EXECUTE", privilege::execute}};
constexpr NamedPrivilege usagePrivileges[] = {{"USAGE", privilege::usage}};
constexpr NamedPrivilege tablespacePrivileges[] = {{"CREATE", privilege::create}};

/// One element of a privilege list.
struct Wanted {
   uint32_t bit;
   bool withGrantOption;
};

std::string upper(std::string_view text) {
   const size_t first = text.find_first_not_of(" \t\n\r");
   if (first == std::string_view::npos) return {};
   text = text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
   std::string result;
   for (const char c : text)
      result.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
   return result;
}

std::vector<Wanted> parsePrivileges(std::string_view list, std::span<const NamedPrivilege> known) {
   constexpr std::string_view grantSuffix = " WITH GRANT OPTION", adminSuffix = " WITH ADMIN OPTION";
   std::vector<Wanted> result;
   while (true) {
      const size_t comma = std::min(list.find(','), list.size());
      std::string word = upper(list.substr(0, comma));
      // Memberships have ADMIN OPTION, and take the other word as well.
      const bool withAdmin =
          word.ends_with(adminSuffix) && known.front().name == "USAGE" && known.back().name == "MEMBER";
      const bool withGrant = word.ends_with(grantSuffix) || withAdmin;
      if (withGrant) word.resize(word.size() - (withAdmin ? adminSuffix : grantSuffix).size());
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& p) { return p.name == word; });
      if (found == known.end())
         throw SqlError(sqlstate::invalidParameterValue,
                        "unrecognized privilege type: \"" + std::string(list.substr(0, comma)) + "\"");
      result.push_back({found->bit, withGrant});
      if (comma == list.size()) return result;
      list.remove_prefix(comma + 1);
   }
}

/// Whether the role holds a privilege of the list on an object with this owner and ACL.
bool holdsAny(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, AclKind kind,
              const std::vector<Wanted>& wanted) {
   return std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      if (w.bit == 0) return false;
      return (w.withGrantOption ? grantable(snapshot, role, owner, acl, w.bit)
                                : held(snapshot, role, owner, acl, kind, w.bit)) != 0;
   });
}

/// The same for a relation, of which the predefined roles hold some.
bool holdsAny(const Snapshot& snapshot, Oid role, const Relation& relation, const std::vector<Wanted>& wanted) {
   return std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      if (w.bit == 0) return false;
      return w.withGrantOption ? grantable(snapshot, role, relation.owner, relation.acl, w.bit) != 0
                               : mayUse(snapshot, role, relation, w.bit);
   });
}

} // namespace

Oid requireRole(const Snapshot& snapshot, std::string_view name) {
   if (name == "public") return publicRole;
   const RolePtr role = snapshot.findRole(name);
   if (!role) throw SqlError(sqlstate::undefinedObject, "role \"" + std::string(name) + "\" does not exist");
   return role->oid;
}

std::optional<bool> hasTablePrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, tablePrivileges);
   const RelationPtr relation = snapshot.relation(oid);
   if (!relation) return std::nullopt;
   return holdsAny(snapshot, role, *relation, wanted);
}

std::optional<bool> hasSequencePrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, sequencePrivileges);
   const RelationPtr relation = snapshot.relation(oid);
   if (!relation) return std::nullopt;
   if (!relation->sequence) throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a sequence");
   return holdsAny(snapshot, role, *relation, wanted);
}

std::optional<bool> hasColumnPrivilege(const Snapshot& snapshot, Oid role, Oid oid, int16_t attribute,
                                       std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, columnPrivileges);
   const RelationPtr relation = snapshot.relation(oid);
   const Column* column = relation ? relation->column(attribute) : nullptr;
   if (column == nullptr) return std::nullopt;
   return holdsAny(snapshot, role, *relation, wanted) ||
          (column->acl && holdsAny(snapshot, role, relation->owner, column->acl, AclKind::Column, wanted));
}

std::optional<bool> hasAnyColumnPrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, columnPrivileges);
   const RelationPtr relation = snapshot.relation(oid);
   if (!relation) return std::nullopt;
   if (holdsAny(snapshot, role, *relation, wanted)) return true;
   return std::any_of(relation->columns.begin(), relation->columns.end(), [&](const Column& column) {
      return !column.isDropped && column.acl &&
             holdsAny(snapshot, role, relation->owner, column.acl, AclKind::Column, wanted);
   });
}

std::optional<bool> hasSchemaPrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, schemaPrivileges);
   const SchemaPtr schema = snapshot.schema(oid);
   if (!schema) return std::nullopt;
   return std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      return w.withGrantOption ? grantable(snapshot, role, schema->owner, schema->acl, w.bit) != 0
                               : mayUse(snapshot, role, *schema, w.bit); // pg_read_all_data uses all
   });
}

std::optional<bool> hasDatabasePrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, databasePrivileges);
   const DatabasePtr database = snapshot.database(oid);
   if (!database) return std::nullopt;
   return holdsAny(snapshot, role, database->owner, database->acl, AclKind::Database, wanted);
}

std::optional<bool> hasFunctionPrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, functionPrivileges);
   if (const FunctionPtr own = snapshot.function(oid))
      return holdsAny(snapshot, role, own->owner, own->acl, AclKind::Function, wanted);
   if (functionInfo(snapshot, oid) == nullptr) return std::nullopt;
   return holdsAny(snapshot, role, bootstrapRole, systemAcl(snapshot, class_oid::pgProc, oid), AclKind::Function,
                   wanted);
}

std::optional<bool> hasTypePrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, usagePrivileges);
   const RelationPtr relation = snapshot.relationOfType(oid); // of an array: that of its elements
   if (builtins().type(oid) == nullptr && !relation) return std::nullopt;
   const Acl acl = relation && isUserType(*relation) ? relation->acl : Acl();
   return holdsAny(snapshot, role, relation ? relation->owner : bootstrapRole, acl, AclKind::Type, wanted);
}

std::optional<bool> hasLanguagePrivilege(const Snapshot& snapshot, Oid role, Oid language,
                                         std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, usagePrivileges);
   if (const Language* made = userLanguage(snapshot, language))
      return holdsAny(snapshot, role, made->owner, made->acl, AclKind::Language, wanted);
   constexpr Oid known[] = {language_oid::sql, language_oid::plpgsql, language_oid::internal, language_oid::c};
   if (std::find(std::begin(known), std::end(known), language) == std::end(known)) return std::nullopt;
   const Acl acl = systemAcl(snapshot, class_oid::pgLanguage, language);
   return holdsAny(snapshot, role, bootstrapRole, acl, AclKind::Language, wanted);
}

std::optional<bool> hasTablespacePrivilege(const Snapshot& snapshot, Oid role, Oid tablespace,
                                           std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, tablespacePrivileges);
   constexpr Oid pgDefault = 1663, pgGlobal = 1664;
   if (tablespace != pgDefault && tablespace != pgGlobal) return std::nullopt;
   return holdsAny(snapshot, role, bootstrapRole, std::nullopt, AclKind::Tablespace, wanted);
}

std::optional<bool> hasServerPrivilege(const Snapshot& snapshot, Oid role, Oid oid, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, usagePrivileges);
   const ServerPtr server = snapshot.server(oid);
   if (!server) return std::nullopt;
   return holdsAny(snapshot, role, server->owner, server->acl, AclKind::Server, wanted);
}

std::optional<bool> hasWrapperPrivilege(const Snapshot& snapshot, Oid role, Oid wrapper, std::string_view privileges) {
   const auto wanted = parsePrivileges(privileges, usagePrivileges);
   const ForeignWrapperPtr found = snapshot.wrapper(wrapper);
   if (!found) return std::nullopt;
   return holdsAny(snapshot, role, found->owner, found->acl, AclKind::ForeignWrapper, wanted);
}

bool hasRole(const Snapshot& snapshot, Oid role, Oid of, std::string_view privileges) {
   constexpr uint32_t usage = 1, member = 2;
   constexpr NamedPrivilege known[] = {{"USAGE", usage}, {"MEMBER", member}};
   const auto wanted = parsePrivileges(privileges, known);
   if (isSuperuser(snapshot, role)) return true;
   return std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      if (w.withGrantOption) return isAdminOf(snapshot, role, of);
      return w.bit == usage ? inheritsFrom(snapshot, role, of) : isMemberOf(snapshot, role, of);
   });
}

} // namespace ouzel::catalog
