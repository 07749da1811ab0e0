#include "catalog/object/acl.hpp"

#include <algorithm>
#include <bit>

#include "catalog/object/function.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/row_security.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

namespace p = privilege;

constexpr Oid publicRole = invalidOid;
constexpr Oid readAllData = 6181, writeAllData = 6182; ///< predefined roles

constexpr uint32_t allOfTable = p::insert | p::select | p::update | p::del | p::truncate | p::references | p::trigger;

/// By AclKind.
constexpr AclRules rules[] = {
    {AclKind::Table, "table", allOfTable, 0},
    {AclKind::Column, "column", p::insert | p::select | p::update | p::references, 0},
    {AclKind::Sequence, "sequence", p::usage | p::select | p::update, 0},
    {AclKind::Schema, "schema", p::usage | p::create, 0},
    {AclKind::Database, "database", p::create | p::createTemp | p::connect, p::createTemp | p::connect},
    {AclKind::Function, "function", p::execute, p::execute},
    {AclKind::Type, "type", p::usage, p::usage},
    {AclKind::Language, "language", p::usage, p::usage},
    {AclKind::Tablespace, "tablespace", p::create, 0},
    {AclKind::Server, "foreign server", p::usage, 0},
    {AclKind::LargeObject, "large object", p::select | p::update, 0},
    {AclKind::ForeignWrapper, "foreign-data wrapper", p::usage, 0},
};

struct Name {
   uint32_t bit;
   std::string_view name;
};
constexpr Name names[] = {{p::insert, "INSERT"},   {p::select, "SELECT"},           {p::update, "UPDATE"},
                          {p::del, "DELETE"},      {p::truncate, "TRUNCATE"},       {p::references, "REFERENCES"},
                          {p::trigger, "TRIGGER"}, {p::execute, "EXECUTE"},         {p::usage, "USAGE"},
                          {p::create, "CREATE"},   {p::createTemp, "TEMPORARY"},    {p::connect, "CONNECT"},
                          {p::set, "SET"},         {p::alterSystem, "ALTER SYSTEM"}};

bool reachesRole(const Snapshot& snapshot, Oid role, Oid grantee) {
   return grantee == publicRole || (role != publicRole && inheritsFrom(snapshot, role, grantee));
}

} // namespace

AclKind aclKindOf(const Relation& relation) {
   if (isUserType(relation)) return AclKind::Type;
   return relation.sequence ? AclKind::Sequence : AclKind::Table;
}

const AclRules& aclRules(AclKind kind) {
   return rules[static_cast<size_t>(kind)];
}

std::string_view privilegeName(uint32_t privilege) {
   return std::find_if(std::begin(names), std::end(names), [&](const Name& one) { return one.bit == privilege; })->name;
}

std::vector<AclItem> itemsOf(const Acl& acl, AclKind kind, Oid owner) {
   if (acl) return *acl;
   std::vector<AclItem> items;
   if (kind == AclKind::Column) return items; // a column adds to what its table grants
   if (const uint32_t everybody = aclRules(kind).publicDefault) items.push_back({publicRole, owner, everybody, 0});
   items.push_back({owner, owner, aclRules(kind).all, 0});
   return items;
}

bool ownsObject(const Snapshot& snapshot, Oid role, Oid owner) {
   if (role == publicRole) return false;
   return isSuperuser(snapshot, role) || inheritsFrom(snapshot, role, owner);
}

uint32_t held(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, AclKind kind, uint32_t wanted) {
   if (role != publicRole && isSuperuser(snapshot, role)) return wanted;
   uint32_t bits = 0;
   for (const AclItem& item : itemsOf(acl, kind, owner))
      if ((item.privileges & wanted & ~bits) != 0 && reachesRole(snapshot, role, item.grantee)) bits |= item.privileges;
   return bits & wanted;
}

uint32_t grantable(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, uint32_t wanted) {
   if (ownsObject(snapshot, role, owner)) return wanted;
   uint32_t bits = 0;
   if (acl)
      for (const AclItem& item : *acl)
         if (reachesRole(snapshot, role, item.grantee)) bits |= item.grantOptions;
   return bits & wanted;
}

// ---- what a role may do ----

bool mayUse(const Snapshot& snapshot, Oid role, const Relation& relation, uint32_t wanted) {
   uint32_t lacking = wanted & ~held(snapshot, role, relation.owner, relation.acl, aclKindOf(relation), wanted);
   if (lacking == 0) return true;
   if (relation.isBuiltin()) return false;
   if ((lacking & p::select) != 0 && inheritsFrom(snapshot, role, readAllData)) lacking &= ~p::select;
   constexpr uint32_t writing = p::insert | p::update | p::del;
   if ((lacking & writing) != 0 && inheritsFrom(snapshot, role, writeAllData)) lacking &= ~writing;
   return lacking == 0;
}

bool mayUseColumn(const Snapshot& snapshot, Oid role, const Relation& relation, const Column& column, uint32_t wanted) {
   if (mayUse(snapshot, role, relation, wanted)) return true;
   return column.acl && held(snapshot, role, relation.owner, column.acl, AclKind::Column, wanted) == wanted;
}

bool mayRead(const Snapshot& snapshot, Oid role, const Relation& relation, std::span<const int16_t> attributes) {
   if (isRestricted(snapshot, role, relation)) return false; // the row may be one that policies hide
   if (mayUse(snapshot, role, relation, p::select)) return true;
   return std::all_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
      const Column* column = relation.column(attribute);
      return column && mayUseColumn(snapshot, role, relation, *column, p::select);
   });
}

bool mayUse(const Snapshot& snapshot, Oid role, const Schema& schema, uint32_t wanted) {
   uint32_t lacking = wanted & ~held(snapshot, role, schema.owner, schema.acl, AclKind::Schema, wanted);
   if ((lacking & p::usage) != 0 &&
       (inheritsFrom(snapshot, role, readAllData) || inheritsFrom(snapshot, role, writeAllData)))
      lacking &= ~p::usage;
   return lacking == 0;
}

bool mayUse(const Snapshot& snapshot, Oid role, const Function& function) {
   return held(snapshot, role, function.owner, function.acl, AclKind::Function, p::execute) != 0;
}

bool mayUse(const Snapshot& snapshot, Oid role, const Database& database, uint32_t wanted) {
   return held(snapshot, role, database.owner, database.acl, AclKind::Database, wanted) == wanted;
}

bool mayUse(const Snapshot& snapshot, Oid role, const LargeObject& object, uint32_t wanted) {
   return held(snapshot, role, object.owner, object.acl, AclKind::LargeObject, wanted) == wanted;
}

// ---- GRANT and REVOKE ----

namespace {

/// Takes options away from all who have theirs from a role that has lost them.
void revokeDependent(const Snapshot& snapshot, std::vector<AclItem>& items, const AclChange& change, Oid role,
                     uint32_t lost);

void revoke(const Snapshot& snapshot, std::vector<AclItem>& items, const AclChange& change, Oid grantee, Oid grantor,
            uint32_t privileges, uint32_t options) {
   const auto found = std::find_if(items.begin(), items.end(), [&](const AclItem& item) {
      return item.grantee == grantee && item.grantor == grantor;
   });
   if (found == items.end()) return;
   const uint32_t lost = found->grantOptions & options;
   found->privileges &= ~privileges;
   found->grantOptions &= ~options;
   if (found->privileges == 0 && found->grantOptions == 0) items.erase(found);
   if (lost != 0) revokeDependent(snapshot, items, change, grantee, lost);
}

void revokeDependent(const Snapshot& snapshot, std::vector<AclItem>& items, const AclChange& change, Oid role,
                     uint32_t lost) {
   if (role == change.owner) return; // keeps the options
   for (const AclItem& item : items)
      if (item.grantee == role) lost &= ~item.grantOptions; // has them from somebody else too
   while (lost != 0) {
      const auto dependent = std::find_if(items.begin(), items.end(), [&](const AclItem& item) {
         return item.grantor == role && (item.privileges & lost) != 0;
      });
      if (dependent == items.end()) return;
      if (!change.cascades)
         throw SqlError(sqlstate::dependentObjectsStillExist, "dependent privileges exist")
             .hint("Use CASCADE to revoke them too.");
      const Oid grantee = dependent->grantee;
      revoke(snapshot, items, change, grantee, role, lost, lost);
   }
}

/// Whether the grantor has the options from the grantee, directly or through others, and from nobody else.
bool goesBack(std::vector<AclItem> items, const AclChange& change, Oid grantee, const Snapshot& snapshot) {
   if (change.grantor == change.owner) return false;
   AclChange without = change;
   without.cascades = true;
   for (bool isChanged = true; isChanged;) { // without all that the grantee has given
      isChanged = false;
      for (const AclItem& item : items)
         if (item.grantee == grantee && item.grantOptions != 0) {
            const AclItem gone = item;
            revoke(snapshot, items, without, gone.grantee, gone.grantor, gone.grantOptions, gone.grantOptions);
            isChanged = true;
            break;
         }
   }
   uint32_t options = 0;
   for (const AclItem& item : items)
      if (item.grantee == change.grantor) options |= item.grantOptions;
   return (change.privileges & ~options) != 0;
}

void grant(const Snapshot& snapshot, std::vector<AclItem>& items, const AclChange& change, Oid grantee) {
   if (change.privileges == 0) return;
   if (change.grantOption && grantee == publicRole)
      throw SqlError(sqlstate::invalidGrantOperation, "grant options can only be granted to roles");
   if (change.grantOption && grantee != change.owner && goesBack(items, change, grantee, snapshot))
      throw SqlError(sqlstate::invalidGrantOperation, "grant options cannot be granted back to your own grantor");
   if (change.privileges == 0) return; // the grantor has no options: no item without privileges
   auto found = std::find_if(items.begin(), items.end(), [&](const AclItem& item) {
      return item.grantee == grantee && item.grantor == change.grantor;
   });
   if (found == items.end()) found = items.insert(items.end(), {grantee, change.grantor, 0, 0});
   found->privileges |= change.privileges;
   if (change.grantOption) found->grantOptions |= change.privileges;
}

} // namespace

std::vector<AclItem> applied(const Snapshot& snapshot, std::vector<AclItem> items, const AclChange& change) {
   for (const Oid grantee : change.grantees)
      if (change.isGrant)
         grant(snapshot, items, change, grantee);
      else
         revoke(snapshot, items, change, grantee, change.grantor, change.grantOption ? 0 : change.privileges,
                change.privileges);
   return items;
}

Acl handedOver(const Acl& acl, Oid from, Oid to) {
   if (!acl) return acl;
   std::vector<AclItem> items;
   for (AclItem item : *acl) {
      if (item.grantee == from) item.grantee = to;
      if (item.grantor == from) item.grantor = to;
      const auto same = std::find_if(items.begin(), items.end(), [&](const AclItem& other) {
         return other.grantee == item.grantee && other.grantor == item.grantor;
      });
      if (same == items.end()) {
         items.push_back(item);
         continue;
      }
      same->privileges |= item.privileges;
      same->grantOptions |= item.grantOptions;
   }
   return items;
}

Grantor bestGrantor(const Snapshot& snapshot, Oid role, Oid owner, std::span<const AclItem> items,
                    uint32_t privileges) {
   if (ownsObject(snapshot, role, owner)) return {owner, privileges};
   Grantor best{role, 0};
   // The role itself, then those whose privileges it has, in the order in which it became their member.
   std::vector<Oid> roles{role};
   for (size_t i = 0; i < roles.size(); ++i) {
      uint32_t options = 0;
      for (const AclItem& item : items)
         if (item.grantee == roles[i]) options |= item.grantOptions;
      options &= privileges;
      if (options == privileges) return {roles[i], options};
      if (std::popcount(options) > std::popcount(best.privileges)) best = {roles[i], options};
      const RolePtr found = snapshot.role(roles[i]);
      if (!found || !found->inherits) continue;
      for (const Role::Membership& membership : found->memberOf)
         if (std::find(roles.begin(), roles.end(), membership.role) == roles.end()) roles.push_back(membership.role);
   }
   return best;
}

} // namespace ouzel::catalog
