#include "executor/function/text_search/ts_query_tree.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;

bool isList(Kind kind) {
   return kind == Kind::And || kind == Kind::Or;
}
/// PostgreSQL's number of an operator; operators of higher numbers come first.
int rankOf(Kind kind) {
   return static_cast<int>(kind);
}

TsTree subtree(const TsQuery& query, int32_t number) {
   checkStack();
   auto node = std::make_unique<TsTreeNode>();
   node->value = query[number];
   for (const int32_t operand : {node->value.right, node->value.left})
      if (operand != TsQuery::none) node->operands.push_back(subtree(query, operand));
   return node;
}

TsTree copyOf(const TsTreeNode& node) {
   checkStack();
   auto copy = std::make_unique<TsTreeNode>();
   copy->value = node.value;
   for (const TsTree& operand : node.operands)
      copy->operands.push_back(copyOf(*operand));
   return copy;
}

template <typename T>
int descending(T a, T b) {
   return a > b ? -1 : a < b ? 1 : 0;
}

int compare(const TsTreeNode& a, const TsTreeNode& b) {
   checkStack();
   if (a.value.isWord() != b.value.isWord()) return a.value.isWord() ? 1 : -1;
   if (a.value.isWord()) {
      const auto checksum = [](const TsTreeNode& node) {
         return static_cast<int32_t>(tsWordChecksum(node.value.word));
      };
      const int order = descending(checksum(a), checksum(b));
      return order != 0 ? order : a.value.word.compare(b.value.word);
   }
   if (const int order = descending(rankOf(a.value.kind), rankOf(b.value.kind))) return order;
   if (const int order = descending(a.operands.size(), b.operands.size())) return order;
   for (size_t i = 0; i < a.operands.size(); ++i)
      if (const int order = compare(*a.operands[i], *b.operands[i])) return order;
   return descending(a.value.distance, b.value.distance);
}

/// What is put in the place of something that was found.
TsTree replacementOf(const TsTreeNode* replacement) {
   if (!replacement) return nullptr;
   TsTree copy = copyOf(*replacement);
   copy->isReplacement = true;
   return copy;
}

/// Takes the operands of `sought` out of a longer list of the same operator. False: some are missing.
bool takeOperands(TsTreeNode& node, const TsTreeNode& sought) {
   std::vector<bool> isTaken(node.operands.size());
   size_t found = 0;
   for (size_t i = 0; i < node.operands.size() && found < sought.operands.size(); ++i) {
      const int order = compare(*node.operands[i], *sought.operands[found]);
      if (order > 0) return false;
      isTaken[i] = order == 0;
      found += order == 0;
   }
   if (found < sought.operands.size()) return false;
   std::vector<TsTree> rest;
   for (size_t i = 0; i < node.operands.size(); ++i)
      if (!isTaken[i]) rest.push_back(std::move(node.operands[i]));
   node.operands = std::move(rest);
   return true;
}

TsTree replacedHere(TsTree node, const TsTreeNode& sought, const TsTreeNode* replacement) {
   if (node->isReplacement || node->value.kind != sought.value.kind) return node;
   if (compare(*node, sought) == 0) return replacementOf(replacement);
   if (!isList(node->value.kind) || node->operands.size() <= sought.operands.size()) return node;
   if (!takeOperands(*node, sought)) return node;
   if (replacement) node->operands.push_back(replacementOf(replacement));
   sortOperands(*node);
   return node;
}

int32_t addTo(TsQuery& query, const TsTreeNode& node) {
   checkStack();
   if (node.value.isWord()) return query.addWord(node.value.word, node.value.weights, node.value.isPrefix);
   std::vector<int32_t> operands;
   for (const TsTree& operand : node.operands)
      operands.push_back(addTo(query, *operand));
   if (node.value.kind == Kind::Not) return query.addNot(operands[0]);
   // PostgreSQL pairs the first two, then the result with the last one, until two are left.
   for (; operands.size() > 2; operands.pop_back()) {
      operands[0] = query.add(node.value.kind, operands[1], operands[0], node.value.distance);
      operands[1] = operands.back();
   }
   return query.add(node.value.kind, operands[1], operands[0], node.value.distance);
}

} // namespace

TsTree treeOf(const TsQuery& query) {
   return query.isEmpty() ? nullptr : subtree(query, query.root);
}

void clearReplacements(TsTreeNode& node) {
   checkStack();
   node.isReplacement = false;
   for (const TsTree& operand : node.operands)
      clearReplacements(*operand);
}

void flatten(TsTreeNode& node) {
   checkStack();
   for (const TsTree& operand : node.operands)
      flatten(*operand);
   if (!isList(node.value.kind)) return;
   std::vector<TsTree> flat;
   for (TsTree& operand : node.operands) {
      if (operand->value.kind != node.value.kind)
         flat.push_back(std::move(operand));
      else
         std::move(operand->operands.begin(), operand->operands.end(), std::back_inserter(flat));
   }
   node.operands = std::move(flat);
}

void sortOperands(TsTreeNode& node) {
   checkStack();
   for (const TsTree& operand : node.operands)
      sortOperands(*operand);
   if (!isList(node.value.kind)) return;
   std::stable_sort(node.operands.begin(), node.operands.end(),
                    [](const TsTree& a, const TsTree& b) { return compare(*a, *b) < 0; });
}

TsTree replaced(TsTree tree, const TsTreeNode& sought, const TsTreeNode* replacement) {
   checkStack();
   tree = replacedHere(std::move(tree), sought, replacement);
   if (!tree || tree->isReplacement || tree->value.isWord()) return tree;
   std::vector<TsTree> operands;
   for (TsTree& operand : tree->operands)
      if (TsTree kept = replaced(std::move(operand), sought, replacement)) operands.push_back(std::move(kept));
   tree->operands = std::move(operands);
   if (tree->operands.empty()) return nullptr;
   if (tree->operands.size() == 1 && tree->value.kind != Kind::Not) return std::move(tree->operands[0]);
   return tree;
}

TsQuery queryOf(const TsTreeNode* tree) {
   TsQuery query;
   if (tree) query.root = addTo(query, *tree);
   return query;
}

} // namespace ouzel::executor
