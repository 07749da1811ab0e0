#pragma once
#include <string_view>
#include <vector>

#include "sql/algebra/rel.hpp"

namespace ouzel::sql {

/// What a tree may hold besides ordinary operators. Rewrites take these away, one after the other.
struct TreeForm {
   bool hasSubqueries = true;  ///< Subquery expressions, until they become dependent joins
   bool hasDependence = true;  ///< dependent joins, until unnesting
   bool hasDifferences = true; ///< INTERSECT and EXCEPT, until they become joins
};

/// Throws XX000 unless the tree keeps the promises of rel.hpp and expr.hpp: each column is made once, and below what
/// reads it; types fit; operators have the inputs and members of their kind; CTEs are defined before they are scanned.
/// `after` names what made the tree, for the message. Costs a walk; callers are in builds with DCHECK only.
void verify(const Rel& root, const std::vector<OutputColumn>& output, const ColumnTable& columns,
            std::string_view after, const TreeForm& form);

} // namespace ouzel::sql
