#pragma once
#include <cstdint>
#include <string_view>

#include "sql/parse/parser.hpp"

namespace ouzel::sql {

/// Where a query first names a relation, in bytes from the script's begin; -1: it does not, or is nested too deep to
/// look into it. Schemas are not compared: errors point to the place.
int32_t placeOfRelation(const ::Node& query, std::string_view relation);

} // namespace ouzel::sql
