#include "sql/parse/constant_places.hpp"

#include <algorithm>

#include "sql/parse/node_access.hpp"

// PostgreSQL's walker of raw trees, which libpg_query has. Unlike other functions of the server it does not fail: a
// query has only nodes that it knows.
extern "C" bool raw_expression_tree_walker(Node* node, bool (*walker)(Node*, void*), void* context);

namespace ouzel::sql {

namespace {

/// Bytes of stack that one walk may use: a walk of thousands of nested expressions.
constexpr uintptr_t stackBytesMax = 128 << 10;

class ConstantFinder {
public:
   explicit ConstantFinder(ConstantPlaces& found) : found_(found) {}

   static bool visit(::Node* node, void* finder) { return static_cast<ConstantFinder*>(finder)->enter(node); }

private:
   /// True ends the walk.
   bool enter(::Node* node) {
      if (!node) return false;
      const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
      if (stackBegin_ - here > stackBytesMax) {
         found_.isComplete = false;
         return true;
      }
      switch (nodeTag(node)) {
      case T_A_Const: add(*as<::A_Const>(node)); return false;
      case T_ParamRef:
         found_.parametersMax = std::max(found_.parametersMax, as<::ParamRef>(node)->number);
         return false;
      case T_TypeName: return false;
      case T_SelectStmt: return select(*as<::SelectStmt>(node));
      default: return raw_expression_tree_walker(node, visit, this);
      }
   }

   void add(const ::A_Const& constant) {
      if (constant.location >= 0) found_.places.push_back({static_cast<uint32_t>(constant.location), kindOf(constant)});
   }

   static ConstantPlace::Kind kindOf(const ::A_Const& constant) {
      using enum ConstantPlace::Kind;
      if (constant.isnull) return Null;
      switch (nodeTag(&constant.val.node)) {
      case T_Integer: return Integer;
      case T_Float: {
         const std::string_view digits = constant.val.fval.fval;
         return digits.find_first_of(".eE") == std::string_view::npos && digits.size() < 19 ? BigInteger : Decimal;
      }
      case T_Boolean: return Boolean;
      case T_BitString: return Bits;
      default: return String;
      }
   }

   bool select(const ::SelectStmt& select) {
      const size_t before = found_.places.size();
      auto* node = const_cast<::SelectStmt*>(&select);
      if (raw_expression_tree_walker(reinterpret_cast<::Node*>(node), visit, this)) return true;
      for (const ::List* list : {select.sortClause, select.groupClause, select.distinctClause})
         for (const ::Node* item : ListOf<::Node>(list))
            dropPosition(item, before);
      return false;
   }

   /// The 1 of ORDER BY 1 names a column.
   void dropPosition(const ::Node* item, size_t from) {
      if (item && isNode(item, T_SortBy)) item = as<::SortBy>(item)->node;
      if (!item || !isNode(item, T_A_Const)) return;
      const auto offset = static_cast<uint32_t>(as<::A_Const>(item)->location);
      const auto begin = found_.places.begin() + static_cast<std::ptrdiff_t>(from);
      found_.places.erase(std::remove_if(begin, found_.places.end(),
                                         [&](const ConstantPlace& place) { return place.offset == offset; }),
                          found_.places.end());
   }

   ConstantPlaces& found_;
   const uintptr_t stackBegin_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
};

} // namespace

ConstantPlaces findConstants(const ::Node& query) {
   ConstantPlaces found;
   ConstantFinder finder(found);
   ConstantFinder::visit(const_cast<::Node*>(&query), &finder);
   std::sort(found.places.begin(), found.places.end(),
             [](const ConstantPlace& a, const ConstantPlace& b) { return a.offset < b.offset; });
   const auto isSame = [](const ConstantPlace& a, const ConstantPlace& b) { return a.offset == b.offset; };
   found.places.erase(std::unique(found.places.begin(), found.places.end(), isSame), found.places.end());
   return found;
}

} // namespace ouzel::sql
