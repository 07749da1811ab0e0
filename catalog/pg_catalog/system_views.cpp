#include "catalog/pg_catalog/system_views.hpp"

namespace ouzel::catalog {

std::string_view systemViewDefinition(bool, std::string_view) {
   return {};
}

} // namespace ouzel::catalog
