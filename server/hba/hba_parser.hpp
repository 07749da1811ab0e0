#pragma once
#include <optional>

#include "server/hba/hba_rules.hpp"

namespace ouzel::server {

/// Read the text of a pg_hba.conf, as PostgreSQL 15 does. Lines that are wrong, or that ask for what is not built, go
/// to `problems`; the rules are to be used only if there are none.
std::vector<HbaRule> parseHba(std::string_view text, std::vector<RuleProblem>& problems);

} // namespace ouzel::server
