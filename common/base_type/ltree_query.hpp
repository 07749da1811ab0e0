#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/type_form.hpp"

// The types lquery and ltxtquery of the extension ltree, which ask paths (ltree.hpp) a question: lquery is a pattern of
// labels one after the other, "top.*{1,2}.phys*|chem@", and ltxtquery a formula over words that may be anywhere in the
// path, "science & !chem*". Values are their texts as the output functions write them; they have no order. A question
// is taken apart once and put to many paths.

namespace ouzel {

namespace oid {
inline constexpr Oid lquery = 9208, lqueryArray = 9209, ltxtquery = 9210, ltxtqueryArray = 9211;
} // namespace oid

/// What a query says of one label. The text outlives it.
struct LtreeWord {
   std::string_view text;
   bool isPrefix = false;      ///< "*": labels may go on behind the text
   bool ignoresCase = false;   ///< "@"
   bool comparesParts = false; ///< "%": each of the parts between underscores is one of the label's, in any order

   bool matches(std::string_view label) const;
   void appendTo(std::string& out) const;
};

/// A pattern taken apart. The text outlives it.
class Lquery {
public:
   /// Throws 42601, 42622 or 54000 unless the text is a pattern.
   explicit Lquery(std::string_view text);

   bool matches(std::string_view path) const;
   std::string text() const;

private:
   friend class LqueryParser;
   static constexpr uint32_t repeatsMax = 65535;

   /// Labels that follow each other: each is one of the words, or, with `isNegated`, none of them.
   struct Item {
      std::vector<LtreeWord> words; ///< none: "*", any label
      bool isNegated = false, isCounted = false;
      uint32_t low = 1, high = 1;

      bool matches(std::string_view label) const;
   };
   std::vector<Item> items_;
};

/// A formula taken apart. The text outlives it.
class Ltxtquery {
public:
   /// Throws 42601, 22023 or 54001 unless the text is a formula.
   explicit Ltxtquery(std::string_view text);

   bool matches(std::string_view path) const;
   std::string text() const;

private:
   friend class LtxtqueryParser;

   /// A word, or an operator with its operands, which stand before it.
   struct Node {
      char kind; ///< 'w', '!', '&' or '|'
      uint32_t left = 0, right = 0;
      LtreeWord word{};
   };
   void append(std::string& out, uint32_t node, bool isEnclosed) const;

   std::vector<Node> nodes_; ///< the last is the whole formula
};

extern const TypeForm lqueryForm, ltxtqueryForm;

} // namespace ouzel
