#pragma once
#include <string>

#include "sql/algebra/columns.hpp"
#include "sql/plan/operators.hpp"

// What a scan of a foreign table asks of the other server, as a text of SQL. The executor sends it, EXPLAIN shows it.
// Predicates that the other server understands in the same way are in it. The plan evaluates all predicates again, so
// that a predicate is left out at no risk.

namespace ouzel::sql::plan {

/// The query for the scan's columns, in their order. REQUIRES: scan.table.external->remote().
std::string remoteQuery(const VirtualScan& scan);

/// Whether the whole predicate is a part of the query.
bool isRemote(const VirtualScan& scan, const Expr& predicate);

} // namespace ouzel::sql::plan
