#pragma once
#include <string>

#include "sql/deparse/deparse.hpp"

namespace ouzel::sql::deparse {

/// RETURN or BEGIN ATOMIC ... END of a function whose body is no string, as pg_get_function_sqlbody() gives it. The
/// context has the body's own search_path; `names`: the one that shown names follow.
std::string functionBody(const catalog::Function& function, const BindContext& context,
                         const catalog::SearchPath& names);

} // namespace ouzel::sql::deparse
