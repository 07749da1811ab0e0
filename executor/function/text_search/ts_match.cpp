#include "executor/function/text_search/ts_match.hpp"

#include <algorithm>
#include <climits>

#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;

/// Whether a word of the vector counts for a word of a query; adds its places.
Ternary matchOne(const TsVectorView::Word& found, const TsQueryNode& word, TsPlaces* places) {
   if (found.placeCount() == 0) return places ? Ternary::Maybe : Ternary::Yes;
   if (word.weights == 0 && !places) return Ternary::Yes;
   Ternary result = Ternary::No;
   for (uint32_t i = 0; i < found.placeCount(); ++i) {
      const TsPlace place = found.place(i);
      if (word.weights != 0 && (word.weights >> place.weight & 1) == 0) continue;
      result = Ternary::Yes;
      if (!places) break;
      places->positions.push_back(place.position);
   }
   return result;
}

/// Evaluates a query in which a word may be found, not be found, or perhaps be found.
class Evaluation {
public:
   Evaluation(const TsQuery& query, const TsWords& words, TsMatchOptions options)
      : query_(query), words_(words), options_(options) {}

   Ternary run(int32_t number) const {
      checkStack();
      const TsQueryNode& node = query_[number];
      switch (node.kind) {
      case Kind::Word: return words_.find(query_, number, nullptr);
      case Kind::Not: return options_.ignoresNot ? Ternary::Yes : inverted(run(node.left));
      case Kind::And: {
         const Ternary left = run(node.left);
         if (left == Ternary::No) return left;
         const Ternary right = run(node.right);
         return right == Ternary::Yes ? left : right;
      }
      case Kind::Or: {
         const Ternary left = run(node.left);
         if (left == Ternary::Yes) return left;
         const Ternary right = run(node.right);
         return right == Ternary::No ? left : right;
      }
      case Kind::Phrase: break;
      }
      TsPlaces places;
      const Ternary found = runInPhrase(number, places);
      return found == Ternary::Maybe && !options_.allowsNoPlaces ? Ternary::No : found;
   }

private:
   static Ternary inverted(Ternary value) {
      return value == Ternary::Yes ? Ternary::No : value == Ternary::No ? Ternary::Yes : Ternary::Maybe;
   }

   /// Finds the places of a node below a phrase.
   Ternary runInPhrase(int32_t number, TsPlaces& out) const {
      checkStack();
      const TsQueryNode& node = query_[number];
      switch (node.kind) {
      case Kind::Word: return words_.find(query_, number, &out);
      case Kind::Not: return negate(node, out);
      case Kind::Or: return either(node, out);
      default: return both(node, out);
      }
   }

   Ternary negate(const TsQueryNode& node, TsPlaces& out) const {
      if (options_.ignoresNot) {
         out.isNegated = true; // found everywhere
         return Ternary::Yes;
      }
      const Ternary found = runInPhrase(node.left, out);
      if (found == Ternary::Maybe) return found;
      if (found == Ternary::No) {
         out.isNegated = true;
         return Ternary::Yes;
      }
      out.isNegated = !out.isNegated;
      return !out.isNegated && out.positions.empty() ? Ternary::No : Ternary::Yes;
   }

   struct Sides {
      bool both, leftOnly, rightOnly;
   };
   /// Collects the positions that stand on the sides that are asked for, after each side was moved.
   static Ternary merge(const TsPlaces& left, int32_t leftShift, const TsPlaces& right, int32_t rightShift, Sides sides,
                        TsPlaces& out) {
      const auto &a = left.positions, &b = right.positions;
      for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
         const int32_t x = i < a.size() ? a[i] + leftShift : INT_MAX, y = j < b.size() ? b[j] + rightShift : INT_MAX;
         const bool isKept = x < y ? sides.leftOnly : x == y ? sides.both : sides.rightOnly;
         if (isKept && std::min(x, y) > 0) out.positions.push_back(std::min(x, y));
         i += x <= y;
         j += y <= x;
      }
      return out.positions.empty() ? Ternary::No : Ternary::Yes;
   }

   /// The operands of a phrase, or of an AND inside of one, which has to hold at one place.
   Ternary both(const TsQueryNode& node, TsPlaces& out) const {
      TsPlaces left, right;
      const Ternary isLeft = runInPhrase(node.left, left);
      if (isLeft == Ternary::No) return isLeft;
      const Ternary isRight = runInPhrase(node.right, right);
      if (isRight == Ternary::No) return isRight;
      if (isLeft == Ternary::Maybe || isRight == Ternary::Maybe) return Ternary::Maybe;
      int32_t leftShift, rightShift = 0;
      if (node.kind == Kind::Phrase) {
         leftShift = node.distance + right.width;
         out.width = node.distance + left.width + right.width;
      } else {
         out.width = std::max(left.width, right.width);
         leftShift = out.width - left.width;
         rightShift = out.width - right.width;
      }
      if (left.isNegated && right.isNegated) { // !a & !b is !(a | b)
         merge(left, leftShift, right, rightShift, {true, true, true}, out);
         out.isNegated = true;
         return Ternary::Yes;
      }
      const Sides sides{!left.isNegated && !right.isNegated, right.isNegated, left.isNegated};
      return merge(left, leftShift, right, rightShift, sides, out);
   }

   Ternary either(const TsQueryNode& node, TsPlaces& out) const {
      TsPlaces left, right;
      const Ternary isLeft = runInPhrase(node.left, left), isRight = runInPhrase(node.right, right);
      if (isLeft == Ternary::No && isRight == Ternary::No) return Ternary::No;
      if (isLeft == Ternary::Maybe || isRight == Ternary::Maybe) return Ternary::Maybe;
      if (isLeft == Ternary::No) left.width = 0;
      if (isRight == Ternary::No) right.width = 0;
      out.width = std::max(left.width, right.width);
      const int32_t leftShift = out.width - left.width, rightShift = out.width - right.width;
      if (!left.isNegated && !right.isNegated)
         return merge(left, leftShift, right, rightShift, {true, true, true}, out);
      // !a | !b is !(a & b), !a | b is !(a & !b), a | !b is !(!a & b)
      const bool areBoth = left.isNegated && right.isNegated;
      merge(left, leftShift, right, rightShift, {areBoth, left.isNegated && !areBoth, right.isNegated && !areBoth},
            out);
      out.isNegated = true;
      return Ternary::Yes;
   }

   const TsQuery& query_;
   const TsWords& words_;
   const TsMatchOptions options_;
};

} // namespace

Ternary TsVectorWords::find(const TsQuery& query, int32_t number, TsPlaces* places) const {
   const TsQueryNode& word = query[number];
   Ternary result = Ternary::No;
   bool isSeveral = false;
   for (uint32_t i = vector_.lowerBound(word.word); i < vector_.size(); ++i) {
      const TsVectorView::Word found = vector_.word(i);
      if (word.isPrefix ? !found.text().starts_with(word.word) : found.text() != word.word) break;
      const Ternary one = matchOne(found, word, places);
      if (one == Ternary::Maybe) {
         if (places) places->positions.clear();
         return one; // positions that are not known make all uncertain
      }
      if (one == Ternary::Yes) {
         isSeveral = result == Ternary::Yes;
         result = one;
      }
      if (!word.isPrefix || (result == Ternary::Yes && !places)) break;
   }
   if (places && isSeveral) {
      auto& positions = places->positions;
      std::sort(positions.begin(), positions.end());
      positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
   }
   return result;
}

bool tsMatches(const TsQuery& query, int32_t node, const TsWords& words, TsMatchOptions options) {
   return Evaluation(query, words, options).run(node) != Ternary::No;
}

bool tsMatches(const TsQuery& query, const TsVectorView& vector) {
   return !query.isEmpty() && tsMatches(query, query.root, TsVectorWords(vector));
}

} // namespace ouzel::executor
