#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/scope.hpp"

// What the parts of a query hand to each other while it is bound.

namespace ouzel::sql {

/// A query's rows and what its select list calls them.
struct BoundRel {
   RelPtr rel;
   std::vector<OutputColumn> output;
   /// For outputs that are rows, whose `column` is noColumn: their fields. As long as `output`, or empty.
   std::vector<std::vector<ScopeColumn>> fields;
   std::vector<uint32_t> positions; ///< of the output expressions, where known
   std::vector<RangeEntry> leaves;  ///< of a set operation: its queries, for hints
};

/// One entry of a select list while its query is put together.
struct Target {
   ExprPtr expr;
   std::string name;
   bool isHidden = false;    ///< only for ORDER BY, GROUP BY or DISTINCT ON
   bool isAnonymous = false; ///< cannot be meant by a name in ORDER BY
   uint32_t position = 0;
   ColumnId column = noColumn;      ///< once placed in the tree
   std::vector<ScopeColumn> fields; ///< of a row, once placed
};

/// A FROM item: its operator and the names it brings.
struct FromItem {
   RelPtr rel;
   std::vector<NamespaceItem> items;
};

} // namespace ouzel::sql
