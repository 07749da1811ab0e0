#pragma once
#include <span>
#include <vector>

#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// The expression below changes of the type's name only: varchar is compared as text.
const Expr& withoutRelabel(const Expr& expr);
/// Whether each of `wanted` is known to be true where all of `given` are: it is one of them, says that an operand of
/// one is not NULL, or compares the same with an integer that leaves no less. PostgreSQL compares all constants.
bool impliesAll(std::span<const Expr* const> given, const std::vector<ExprPtr>& wanted);
bool impliesAll(const std::vector<ExprPtr>& given, const std::vector<ExprPtr>& wanted);

} // namespace ouzel::sql
