#include "catalog/builtin/extension_operators.hpp"

#include <array>

#include "catalog/builtin/extension_types.hpp"
#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"

namespace ouzel::catalog {

namespace {

constexpr size_t comparisonCount = 6;

/// What a script calls the operators of one type, and the kernels of these: <, <=, =, >=, > and <>.
struct Comparisons {
   ExtensionFamily family;
   Oid first; ///< of six OIDs
   std::array<std::string_view, comparisonCount> names, sources;
};

constexpr Comparisons comparisons[] = {
    {{oid::hstore, 9250, 9251},
     9220,
     {"#<#", "#<=#", "=", "#>=#", "#>#", "<>"},
     {"hstore/hstore_lt", "hstore/hstore_le", "hstore/hstore_eq", "hstore/hstore_ge", "hstore/hstore_gt",
      "hstore/hstore_ne"}},
    {{oid::citext, 9252, 9253},
     9230,
     {"<", "<=", "=", ">=", ">", "<>"},
     {"citext/citext_lt", "citext/citext_le", "citext/citext_eq", "citext/citext_ge", "citext/citext_gt",
      "citext/citext_ne"}},
    {{oid::ltree, 9254, invalidOid},
     9240,
     {"<", "<=", "=", ">=", ">", "<>"},
     {"ltree/ltree_lt", "ltree/ltree_le", "ltree/ltree_eq", "ltree/ltree_ge", "ltree/ltree_gt", "ltree/ltree_ne"}},
    {{oid::cube, 9255, invalidOid},
     9260,
     {"<", "<=", "=", ">=", ">", "<>"},
     {"cube/cube_lt", "cube/cube_le", "cube/cube_eq", "cube/cube_ge", "cube/cube_gt", "cube/cube_ne"}},
};

/// The operator that says the opposite, and the one with the operands changed; positions in Comparisons::names.
constexpr std::array<uint8_t, comparisonCount> negators{3, 4, 5, 0, 1, 2}, commutators{4, 3, 2, 1, 0, 5};

ExtensionOperator makeOperator(const Comparisons& all, uint8_t i) {
   OperatorInfo info{};
   info.oid = all.first + i;
   info.name = all.names[i];
   info.schema = extensionTypeSchema;
   info.left = info.right = all.family.type;
   info.result = oid::boolean;
   info.negator = all.first + negators[i];
   info.commutator = all.first + commutators[i];
   info.canMerge = i == 2;
   info.canHash = i == 2 && all.family.hash != invalidOid;
   const bool isInequality = i == 5;
   return {info, static_cast<uint8_t>(isInequality ? 0 : i + 1), all.sources[i]};
}

} // namespace

std::span<const ExtensionOperator> extensionOperators() {
   static const std::vector<ExtensionOperator> operators = [] {
      std::vector<ExtensionOperator> result;
      for (const Comparisons& all : comparisons)
         for (uint8_t i = 0; i < comparisonCount; ++i)
            result.push_back(makeOperator(all, i));
      return result;
   }();
   return operators;
}

std::span<const ExtensionFamily> extensionFamilies() {
   static const std::vector<ExtensionFamily> families = [] {
      std::vector<ExtensionFamily> result;
      for (const Comparisons& all : comparisons)
         result.push_back(all.family);
      return result;
   }();
   return families;
}

const OperatorInfo* extensionComparison(std::string_view source, Oid left, Oid right) {
   if (left != right) return nullptr;
   for (const ExtensionOperator& one : extensionOperators())
      if (one.info.left == left && one.source == source) return &one.info;
   return nullptr;
}

} // namespace ouzel::catalog
