#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/scope.hpp"

// Intermediate results of binding a query: bound subqueries, entries of the select list, items of FROM.

namespace ouzel::sql {

/// A bound query: its operators, and the outputs of its select list.
struct BoundRel {
   RelPtr rel;
   std::vector<OutputColumn> output;
   /// The fields of outputs that are row values, whose `column` is noColumn. As long as `output`, or empty.
   std::vector<std::vector<ScopeColumn>> fields;
   std::vector<uint32_t> positions; ///< of the output expressions, where known
   std::vector<RangeEntry> leaves;  ///< of a set operation: its queries, for hints in errors
};

/// Where a target is computed: below DISTINCT and ORDER BY, right above them, or above LIMIT as well.
enum class Stage : uint8_t { Early, Sorted, Late };

/// One entry of a select list while its query is bound.
struct Target {
   ExprPtr expr;
   std::string name;
   bool isHidden = false;    ///< added for ORDER BY, GROUP BY or DISTINCT ON; no output
   bool isAnonymous = false; ///< a name in ORDER BY does not refer to it
   Stage stage = Stage::Early;
   uint32_t position = 0;
   ColumnId column = noColumn;      ///< set by placeTargets
   std::vector<ScopeColumn> fields; ///< of a row value; set by placeTargets
};

/// A FROM item: its operator, and the names that it adds to the scope.
struct FromItem {
   RelPtr rel;
   std::vector<NamespaceItem> items;
};

} // namespace ouzel::sql
