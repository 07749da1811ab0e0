#pragma once
#include "sql/algebra/collations.hpp"

// The executor orders rows by the bytes of a value where its physical type is String. The order of arrays and of
// jsonb is not that of their bytes, nor is that of bpchar with blanks at its end. Such values are ordered by their
// order keys, whose bytes have the order of the values (common/type/order_key.hpp). Equal values have equal keys:
// peers, ties and DISTINCT ON stay the same. The order key of a text with a collation of ICU is its collation key
// (sql/algebra/collations.hpp).

namespace ouzel::optimizer {

/// True for arrays, jsonb and bpchar without a length, and for texts with one of the collations.
bool isKeyed(const SqlType& type, const sql::CollationTable& collations);
/// REQUIRES: isKeyed(value->type, collations).
sql::ExprPtr makeOrderKey(sql::ExprPtr value, const sql::CollationTable& collations);
/// The value of an order key; other expressions themselves.
const sql::Expr& orderedValue(const sql::Expr& key);

} // namespace ouzel::optimizer
