#include "sql/algebra/last_of.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::sql {

ExprPtr lastOf(std::vector<ExprPtr> others, ExprPtr value) {
   if (others.empty()) return value;
   const SqlType type = value->type;
   others.push_back(std::move(value));
   return makeCall(catalog::builtins().functions("ouzel_last")[0], type, std::move(others));
}

} // namespace ouzel::sql
