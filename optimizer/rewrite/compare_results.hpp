#pragma once
#include <vector>

#include "sql/algebra/expr.hpp"

namespace ouzel::optimizer {

/// CASE WHEN a THEN 0 ELSE b / c END > 1 becomes CASE WHEN a THEN 0 > 1 ELSE b / c > 1 END. Gives the comparisons; none
/// if the expression stays as it is. Pays where the results are constants, so that conditions remain, and for one
/// quotient of decimals, which a comparison need not compute. REQUIRES: expr is a comparison.
std::vector<sql::ExprPtr*> compareResults(sql::ExprPtr& expr);

} // namespace ouzel::optimizer
