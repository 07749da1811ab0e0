#pragma once
#include <string_view>

namespace ouzel::catalog {

/// The SELECT that defines a system view of pg_catalog or information_schema; empty for a relation that is a virtual
/// table.
std::string_view systemViewDefinition(bool isPgCatalog, std::string_view name);

} // namespace ouzel::catalog
