#pragma once
#include "common/value/sql_type.hpp"

namespace ouzel {

/// True for the types that isRegType() knows, and for regconfig and regdictionary: OIDs that are shown as the names of
/// their objects.
constexpr bool isObjectName(Oid type) {
   return isRegType(type) || type == 3734 || type == 3769;
}

} // namespace ouzel
