#pragma once
#include "sql/algebra/expr.hpp"

// The executor orders rows by the bytes of a value where its physical type is String. The order of arrays and of
// jsonb is not that of their bytes, nor is that of bpchar with blanks at its end. Such values are ordered by their
// order keys, whose bytes have the order of the values (common/type/order_key.hpp). Equal values have equal keys:
// peers, ties and DISTINCT ON stay the same.

namespace ouzel::optimizer {

/// True for arrays, jsonb and bpchar without a length.
bool isKeyed(const SqlType& type);
/// REQUIRES: isKeyed(value->type).
sql::ExprPtr makeOrderKey(sql::ExprPtr value);
/// The value of an order key; other expressions themselves.
const sql::Expr& orderedValue(const sql::Expr& key);

} // namespace ouzel::optimizer
