#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"
#include "common/audit/record.hpp"
#include "sql/algebra/access.hpp"

namespace ouzel::engine {

class SessionCore;

/// What a statement does with relations, for the audit: noted where privileges are checked, before they are found
/// missing. Used by the session's thread.
class TouchedRelations {
public:
   /// `auditRole`: relations on which this role holds a used privilege are watched; invalidOid: none is.
   explicit TouchedRelations(Oid auditRole) : auditRole_(auditRole) {}

   void note(SessionCore& core, const std::vector<sql::RelationAccess>& accesses);
   void note(SessionCore& core, const catalog::Relation& relation, uint32_t privileges);
   /// What has no privilege: "OWNER", "GRANT".
   void note(SessionCore& core, const catalog::Relation& relation, std::string_view what);
   /// A relation that is about to be created.
   void noteNew(SessionCore& core, Oid schema, const std::string& name);
   /// The statement has ended: what noteNew() has noted exists now. REQUIRES: a transaction.
   void findNew(SessionCore& core);

   const std::vector<AuditObject>& all() const { return objects_; }
   /// audit_class: what is read and written.
   uint32_t classes() const { return classes_; }
   /// Whether one of them is watched.
   bool isWatched() const { return isWatched_; }

private:
   /// The entry of a relation; made if it is new.
   AuditObject& object(SessionCore& core, const catalog::Relation& relation, Oid role);
   void add(AuditObject& object, uint32_t privileges);

   const Oid auditRole_;
   std::vector<AuditObject> objects_;
   std::vector<std::pair<Oid, Oid>> keys_; ///< of objects_: relation, role
   struct New {
      size_t object; ///< of objects_
      Oid schema;
      std::string name;
   };
   std::vector<New> new_;
   uint32_t classes_ = 0;
   bool isWatched_ = false;
};

} // namespace ouzel::engine
