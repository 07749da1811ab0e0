#pragma once
#include <memory>
#include <vector>

#include "common/base_type/ts_query.hpp"

namespace ouzel::executor {

/// A query whose AND and OR have any number of operands, for ts_rewrite(). Words are views.
/// The operands stand from right to left.
struct TsTreeNode {
   TsQueryNode value;
   std::vector<std::unique_ptr<TsTreeNode>> operands;
   bool isReplacement = false; ///< it was put there, and nothing is looked for in it
};
using TsTree = std::unique_ptr<TsTreeNode>;

/// The tree of a query; null if it is empty.
TsTree treeOf(const TsQuery& query);
/// Makes all of a tree something in which replaced() looks.
void clearReplacements(TsTreeNode& node);
/// Makes operands of an AND those of the AND above it, likewise for OR.
void flatten(TsTreeNode& node);
/// Puts the operands of AND and OR in order.
void sortOperands(TsTreeNode& node);
/// Replaces the parts of a tree that equal `sought` by copies of `replacement`, or removes them if that is null.
/// REQUIRES: both trees are flat and sorted. Null: nothing is left.
TsTree replaced(TsTree tree, const TsTreeNode& sought, const TsTreeNode* replacement);
/// The query of a tree, which may be null.
TsQuery queryOf(const TsTreeNode* tree);

} // namespace ouzel::executor
