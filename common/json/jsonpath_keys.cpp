#include "common/json/jsonpath_keys.hpp"

#include <algorithm>

#include "common/json/jsonpath.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::json {

namespace {

/// Whether an item, what follows it, or an operand depends on where the document begins.
bool namesDocument(const PathNode* node) {
   checkStack();
   for (; node; node = node->next) {
      if (node->op == PathOp::Root || node->op == PathOp::KeyValue) return true;
      if (namesDocument(node->left) || namesDocument(node->right)) return true;
      const auto isIn = [](const PathSubscript& one) { return namesDocument(one.from) || namesDocument(one.to); };
      if (std::any_of(node->subscripts.begin(), node->subscripts.end(), isIn)) return true;
   }
   return false;
}

} // namespace

std::optional<KeyedPath> cutKeys(std::string_view path) {
   Arena arena;
   const JsonPath tree = decodePath(path, arena);
   if (!tree.isLax || tree.root->op != PathOp::Root) return std::nullopt;
   KeyedPath cut;
   const PathNode* next = tree.root->next;
   for (; next && next->op == PathOp::Key; next = next->next)
      cut.keys.emplace_back(next->text);
   if (cut.keys.empty() || namesDocument(next)) return std::nullopt;
   PathNode root;
   root.op = PathOp::Root;
   root.next = next;
   cut.rest = encodePath({true, &root});
   return cut;
}

} // namespace ouzel::json
