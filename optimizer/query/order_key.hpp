#pragma once
#include "sql/algebra/expr.hpp"

// The executor orders rows by the bytes of a value where its physical type is String. The order of arrays and of jsonb
// is not that of their bytes, so such a value is ordered by its order key, whose bytes have the order of the value
// (executor/function/array/order_key.cpp). Equal values have equal keys: peers, ties and DISTINCT ON stay the same.

namespace ouzel::optimizer {

/// REQUIRES: catalog::hasOrderKey() of its type.
sql::ExprPtr makeOrderKey(sql::ExprPtr value);
/// The value of an order key; other expressions themselves.
const sql::Expr& orderedValue(const sql::Expr& key);

} // namespace ouzel::optimizer
