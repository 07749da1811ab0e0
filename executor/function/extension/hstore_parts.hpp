#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/base_type/hstore.hpp"
#include "common/type/array.hpp"
#include "executor/function/kernel_helpers.hpp"

// What the kernels of hstore share. Include in .cpp files only.

namespace ouzel::executor {

inline HstoreView mapOf(const StringView& bytes) {
   return HstoreView({bytes.data(), bytes.size()});
}

/// The order in which a map has its pairs.
inline bool precedes(const HstorePair& a, const HstorePair& b) {
   return compareHstoreKeys(a.key, b.key) < 0;
}

/// The elements of a text[], as copies, and its shape.
struct TextElements {
   std::vector<std::optional<std::string>> texts;
   std::vector<ArrayDimension> dimensions;

   explicit TextElements(const StringView& bytes) {
      const ArrayView array({bytes.data(), bytes.size()});
      dimensions = array.dimensions();
      for (ArrayView::Cursor element(array); element.next();)
         if (element.isNull())
            texts.emplace_back();
         else
            texts.emplace_back(element.as<StringView>().view());
   }
   /// Pairs with the elements that are not NULL as keys: in the order of keys, each once. They point into this object.
   std::vector<HstorePair> keys() const {
      std::vector<HstorePair> pairs;
      for (const auto& text : texts)
         if (text) pairs.push_back({*text, {}});
      sortHstorePairs(pairs);
      return pairs;
   }
};

} // namespace ouzel::executor
