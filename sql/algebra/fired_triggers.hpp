#pragma once
#include <cstdint>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel::sql {

/// What a statement owes the triggers of its target. What BEFORE ROW triggers do is part of the query and not in here.
/// The rows for triggers that come later are Dml::events.
struct FiredTriggers {
   struct Call {
      Oid table = invalidOid; ///< that has the trigger: the target, or a part of it
      Oid trigger = invalidOid;
      uint32_t event = 0;     ///< of catalog::trigger_bit
      int32_t condition = -1; ///< of a row trigger, the index in Dml::events of what WHEN says; -1: always
   };
   Oid relation = invalidOid;       ///< the target, whose columns the rows have
   std::vector<Call> before, after; ///< of triggers FOR EACH STATEMENT
   std::vector<Call> rows;          ///< of AFTER triggers FOR EACH ROW
   bool keepsAllRows = false;       ///< for transition tables; else only those for which a trigger fires
   /// Indexes in Dml::events, -1: it is not there. Behind these is the OID of the part that each row lies in now.
   int32_t oldRow = -1, newRow = -1; ///< as records of the live columns
   int32_t part = -1;                ///< the OID of the part that the old row lay in
   int32_t clause = -1;              ///< the number of the clause, see Dml::clause
};

} // namespace ouzel::sql
