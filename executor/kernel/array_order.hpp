#pragma once
#include "common/type/array.hpp"
#include "common/value/sql_type.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/range_order.hpp"

namespace ouzel::executor {

/// PostgreSQL's array_cmp, the order of arrays of one element type: elements in order (NULL last), then their number,
/// then the dimensions.
int compareArrays(const ArrayView& a, const ArrayView& b);

/// The same of the bytes of two arrays.
int compareArrayBytes(const StringView& a, const StringView& b);
/// The order of bpchar.
int compareBpchar(const StringView& a, const StringView& b);
/// The order of citext.
int compareCaseless(const StringView& a, const StringView& b);
/// The order of cube.
int compareCubeBytes(const StringView& a, const StringView& b);
/// The order of tsquery.
int compareTsQueries(const StringView& a, const StringView& b);
/// The order of jsonb.
int compareJsonb(const StringView& a, const StringView& b);
/// The order of values of a type as elements of arrays.
ValueOrder elementOrder(Oid type, PhysicalType physical);

/// Negative, zero or positive.
using StringOrder = int (*)(const StringView& a, const StringView& b);
/// The order of types whose values do not compare by their bytes (common/type/order_key.hpp); null for other types.
StringOrder keyedOrder(const SqlType& type);

} // namespace ouzel::executor
