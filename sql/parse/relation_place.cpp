#include "sql/parse/relation_place.hpp"

#include "sql/parse/node_access.hpp"

// PostgreSQL's walker of raw trees: see constant_places.cpp.
extern "C" bool raw_expression_tree_walker(Node* node, bool (*walker)(Node*, void*), void* context);

namespace ouzel::sql {

namespace {

constexpr uintptr_t stackBytesMax = 128 << 10;

struct RelationFinder {
   std::string_view wanted;
   int32_t found = -1;
   uintptr_t stackBegin = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

   /// True ends the walk.
   static bool visit(::Node* node, void* context) {
      auto& finder = *static_cast<RelationFinder*>(context);
      if (!node) return false;
      if (finder.stackBegin - reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > stackBytesMax) return true;
      if (!isNode(node, T_RangeVar)) return raw_expression_tree_walker(node, visit, context);
      const auto& name = *as<::RangeVar>(node);
      if (textOf(name.relname) != finder.wanted) return false;
      finder.found = name.location;
      return true;
   }
};

} // namespace

int32_t placeOfRelation(const ::Node& query, std::string_view relation) {
   RelationFinder finder{.wanted = relation};
   RelationFinder::visit(const_cast<::Node*>(&query), &finder);
   return finder.found;
}

} // namespace ouzel::sql
