#pragma once
#include "sql/algebra/expr.hpp"

// The executor orders rows by the bytes of a value where its physical type is String. The order of arrays is not that
// of their bytes, so an array is ordered by its order key, whose bytes have the order of the array
// (executor/function/array/array_key.cpp). Equal arrays have equal keys: peers, ties and DISTINCT ON stay the same.

namespace ouzel::optimizer {

sql::ExprPtr makeOrderKey(sql::ExprPtr array);
/// The array of an order key; other expressions themselves.
const sql::Expr& orderedValue(const sql::Expr& key);

} // namespace ouzel::optimizer
