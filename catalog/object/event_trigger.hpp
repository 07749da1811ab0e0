#pragma once
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {

inline constexpr Oid eventTriggerType = 3838; ///< event_trigger, which the functions return

/// A trigger of CREATE EVENT TRIGGER. Its database has it.
struct EventTrigger {
   Oid oid = invalidOid;
   std::string name;
   Oid owner = invalidOid;
   std::string event; ///< ddl_command_start, ddl_command_end, sql_drop, table_rewrite
   Oid function = invalidOid;
   char enabled = 'O';            ///< as pg_event_trigger.evtenabled: O origin, D disabled, R replica, A always
   std::vector<std::string> tags; ///< of WHEN TAG IN, in capitals; empty: all commands
};

} // namespace ouzel::catalog
