#pragma once
#include "sql/algebra/expr.hpp"

// The blanks at the end of bpchar values in expressions (common/type/blanks.hpp). A value of bpchar(n) has none as long
// as its type tells n. Where an expression joins values of several lengths, its type has no length and the binder gives
// each of them its blanks. Comparisons drop the blanks of what carries them, and so are made of bytes alone.

namespace ouzel::sql {

/// A bpchar(n) as bpchar without a length, with its blanks. Other values stay as they are.
ExprPtr withBlanks(ExprPtr expr);
/// A bpchar without a length as text without trailing blanks, or as a bpchar that has none. Other values stay as they
/// are: their bytes compare.
ExprPtr withoutBlanks(ExprPtr expr);
/// Drops the blanks of a value for a Parameter of the type, if it is compared: withoutBlanks() gives it a length.
void dropParameterBlanks(const SqlType& type, Value& value);
/// True for a call that withBlanks() makes.
bool isWithBlanks(const Expr& expr);
/// True for a call that withoutBlanks() makes, and for a written cast of bpchar to text.
bool isWithoutBlanks(const Expr& expr);

} // namespace ouzel::sql
