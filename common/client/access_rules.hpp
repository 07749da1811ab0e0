#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ouzel {

/// A rule by which the server judges clients, as pg_hba_file_rules shows it.
struct AccessRuleRow {
   int32_t line = 0;
   std::string type;
   std::vector<std::string> databases, users;
   std::string address, mask; ///< empty: there is none
   std::string method;
   std::vector<std::string> options;
};

/// A line of a map of user names, as pg_ident_file_mappings shows it.
struct UserMapRow {
   int32_t line = 0;
   std::string map, systemName, role;
};

} // namespace ouzel
