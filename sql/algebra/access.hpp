#pragma once
#include <cstdint>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel::sql {

/// What a statement does with one relation, or that it calls a function of a user, for who checks privileges: nothing
/// is checked here. A view's query uses its relations in the name of the view's owner.
struct RelationAccess {
   Oid relation = invalidOid; ///< with the privilege execute: the function
   Oid role = invalidOid;     ///< in whose name; invalidOid: the user of the session
   uint32_t privileges = 0;   ///< catalog::privilege
   // Attributes, perhaps several times. Of a privilege without attributes, one that any column has is enough.
   std::vector<int16_t> selected, inserted, updated;
};

/// The accesses of a statement, in the order in which it names the relations.
class AccessList {
public:
   /// In whose name relations are used from here on; invalidOid: the user of the session.
   Oid role = invalidOid;
   /// An expression of this table's own is bound, as a CHECK constraint is: it may read the table's columns.
   Oid own = invalidOid;
   std::vector<RelationAccess> all;

   /// The entry of a relation; made if it is new.
   RelationAccess& of(Oid relation, Oid user) {
      if (RelationAccess* known = find(relation, user)) return *known;
      all.push_back({relation, user, 0, {}, {}, {}});
      return all.back();
   }
   RelationAccess& of(Oid relation) { return of(relation, role); }
   /// Null if the statement does not use the relation in the name of the role.
   RelationAccess* find(Oid relation, Oid user) {
      for (size_t i = all.size(); i-- > 0;)
         if (all[i].relation == relation && all[i].role == user) return &all[i];
      return nullptr;
   }
};

} // namespace ouzel::sql
