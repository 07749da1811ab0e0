#pragma once
#include "catalog/builtin/builtin.hpp"
#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/value/range_types.hpp"

namespace ouzel::catalog {

/// True for arrays, rows, ranges, jsonb, citext, cube and tsquery: the bytes of equal values may differ, and have
/// another order than the values. Such values are compared by order keys (common/type/order_key.hpp).
inline bool hasOrderKey(Oid type) {
   return type == oid::jsonb || type == oid::citext || type == oid::cube || type == oid::tsquery || isRowValue(type) ||
          findRangeType(type) || findMultirangeType(type) || builtins().isArray(type);
}

} // namespace ouzel::catalog
