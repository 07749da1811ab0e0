#include "engine/core/touched_relations.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/search_path.hpp"
#include "common/audit/classes.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

namespace {

namespace p = catalog::privilege;

constexpr uint32_t writing = p::insert | p::update | p::del | p::truncate;

std::string qualified(const catalog::Snapshot& snapshot, Oid schema, const std::string& name) {
   const catalog::SchemaPtr found = snapshot.schema(schema);
   return (found ? catalog::quoteIdentifier(found->name) + "." : "") + catalog::quoteIdentifier(name);
}

/// Whether the role holds one of the privileges, on the relation or on one of the columns that the statement uses.
bool holdsAny(const catalog::Snapshot& snapshot, Oid role, const catalog::Relation& relation,
              const sql::RelationAccess& access) {
   const catalog::AclKind kind = relation.sequence ? catalog::AclKind::Sequence : catalog::AclKind::Table;
   if (catalog::held(snapshot, role, relation.owner, relation.acl, kind, access.privileges) != 0) return true;
   const auto holdsOne = [&](const std::vector<int16_t>& attributes, uint32_t privilege) {
      return std::any_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
         const catalog::Column* column = relation.column(attribute);
         return column && column->acl &&
                catalog::held(snapshot, role, relation.owner, column->acl, catalog::AclKind::Column, privilege) != 0;
      });
   };
   return holdsOne(access.selected, p::select) || holdsOne(access.inserted, p::insert) ||
          holdsOne(access.updated, p::update);
}

} // namespace

AuditObject& TouchedRelations::object(SessionCore& core, const catalog::Relation& relation, Oid role) {
   const std::pair key(relation.oid, role);
   const auto known = std::find(keys_.begin(), keys_.end(), key);
   if (known != keys_.end()) return objects_[static_cast<size_t>(known - keys_.begin())];
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   AuditObject& made = objects_.emplace_back();
   keys_.push_back(key);
   made.name = qualified(snapshot, relation.schema, relation.name);
   made.kind = catalog::relationKindName(relation);
   if (role != invalidOid)
      if (const catalog::RolePtr found = snapshot.role(role)) made.role = found->name;
   return made;
}

void TouchedRelations::add(AuditObject& object, uint32_t privileges) {
   for (uint32_t bit = 1; bit != 0 && bit <= privileges; bit <<= 1) {
      if ((privileges & bit) == 0) continue;
      const std::string_view name = catalog::privilegeName(bit);
      if (std::find(object.privileges.begin(), object.privileges.end(), name) == object.privileges.end())
         object.privileges.push_back(name);
   }
   // What is written is not read as well, because its rows had to be found.
   if ((privileges & writing) != 0)
      classes_ |= audit_class::write;
   else if ((privileges & p::select) != 0)
      classes_ |= audit_class::read;
}

void TouchedRelations::note(SessionCore& core, const std::vector<sql::RelationAccess>& accesses) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const sql::RelationAccess& access : accesses) {
      const catalog::RelationPtr relation = snapshot.relation(access.relation);
      if (!relation || access.privileges == 0) continue;
      add(object(core, *relation, access.role), access.privileges);
      if (auditRole_ != invalidOid && !isWatched_) isWatched_ = holdsAny(snapshot, auditRole_, *relation, access);
   }
}

void TouchedRelations::note(SessionCore& core, const catalog::Relation& relation, uint32_t privileges) {
   note(core, {sql::RelationAccess{relation.oid, invalidOid, privileges, {}, {}, {}}});
}

void TouchedRelations::note(SessionCore& core, const catalog::Relation& relation, std::string_view what) {
   std::vector<std::string_view>& privileges = object(core, relation, invalidOid).privileges;
   if (std::find(privileges.begin(), privileges.end(), what) == privileges.end()) privileges.push_back(what);
}

void TouchedRelations::noteNew(SessionCore& core, Oid schema, const std::string& name) {
   new_.push_back({objects_.size(), schema, name});
   keys_.emplace_back(invalidOid, invalidOid);
   AuditObject& made = objects_.emplace_back();
   made.name = qualified(core.transaction.catalog(), schema, name);
   made.privileges.push_back("CREATE");
}

void TouchedRelations::findNew(SessionCore& core) {
   for (const New& made : new_)
      if (const catalog::RelationPtr found = core.transaction.catalog().findRelation(made.schema, made.name))
         objects_[made.object].kind = catalog::relationKindName(*found);
}

} // namespace ouzel::engine
