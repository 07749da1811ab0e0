#pragma once
#include <string_view>

namespace ouzel::catalog {

/// Our SELECT for a system view of pg_catalog or information_schema; empty if it is computed instead.
std::string_view systemViewDefinition(bool isPgCatalog, std::string_view name);

} // namespace ouzel::catalog
