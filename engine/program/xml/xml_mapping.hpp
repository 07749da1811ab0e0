#pragma once
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Whether a built-in function is one of table_to_xml(), query_to_xmlschema(), ..., which run queries for the user.
bool isXmlMapping(Oid function);
/// Its value; `args` is a record of its arguments, none of which is NULL. Throws what the queries throw.
std::string runXmlMapping(SessionCore& core, Oid function, std::string_view args);

} // namespace ouzel::engine
