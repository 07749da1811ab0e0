#pragma once
#include <string_view>
#include <vector>

#include "sql/algebra/rel.hpp"

namespace ouzel::sql {

/// The constructs that a tree may still contain at a point of the rewriting. Each flag becomes false when the rewrite
/// that removes the construct has run.
struct TreeForm {
   bool hasSubqueries = true;  ///< Subquery expressions, until they become dependent joins
   bool hasDependence = true;  ///< dependent joins, until unnesting
   bool hasDifferences = true; ///< INTERSECT and EXCEPT, until they become joins
};

/// Throws XX000 unless the tree keeps the invariants of rel.hpp and expr.hpp: each column is made once, below its
/// readers; types fit; operators have the inputs and members of their kind; CTEs are defined before they are scanned.
/// `after` names the step that made the tree, for the message. Costs a walk of the tree: only builds with DCHECK call.
void verify(const Rel& root, const std::vector<OutputColumn>& output, const ColumnTable& columns,
            std::string_view after, const TreeForm& form);

} // namespace ouzel::sql
