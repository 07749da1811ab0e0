#pragma once
#include <cstdint>
#include <vector>

#include "sql/plan/plan.hpp"

namespace ouzel::executor {

/// Keys of a GROUP BY that its other keys determine: SELECT c.id, c.name, sum(price) FROM sales JOIN c ... GROUP BY
/// c.id, c.name. Rows that agree in c.id are joined to one row of c, if c.id is the key of the join and no two rows of
/// c have the same. Whether that is so is known when the build sides of `joins` are built; a declared key is not
/// needed.
struct DeterminedKeys {
   std::vector<uint32_t> keys;                ///< indexes of the plan's keys, never all of them; empty: there is none
   std::vector<const sql::plan::Node*> joins; ///< hash joins; no two rows of a build side may have the same key
};
/// REQUIRES: the plan has no grouping sets.
DeterminedKeys determinedKeys(const sql::plan::Node& aggregate);

} // namespace ouzel::executor
