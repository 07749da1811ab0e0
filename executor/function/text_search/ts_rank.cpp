#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <optional>

#include "common/type/array.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text_search/ts_match.hpp"
#include "executor/function/text_search_families.hpp"

// ts_rank() and ts_rank_cd(). Numbers have PostgreSQL's types at each step, so that ranks have its digits.

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;
using Weights = std::array<float, 4>; ///< of D, C, B and A

constexpr Weights defaultWeights{0.1f, 0.2f, 0.4f, 1.0f};

/// How a rank depends on the length of the document, as bits.
namespace norm {
constexpr int32_t logLength = 1, length = 2, extentDistance = 4, words = 8, logWords = 16, asShare = 32;
} // namespace norm

/// Negative weights stand for the default ones.
Weights weightsOf(const StringView& bytes) {
   const ArrayView array(bytes.view());
   if (array.dimensionCount() != 1)
      throw SqlError(sqlstate::arraySubscriptError, "array of weight must be one-dimensional");
   if (array.size() < 4) throw SqlError(sqlstate::arraySubscriptError, "array of weight is too short");
   if (array.hasNulls()) throw SqlError(sqlstate::nullValueNotAllowed, "array of weight must not contain nulls");
   Weights weights;
   ArrayView::Cursor element(array);
   for (size_t i = 0; i < 4 && element.next(); ++i) {
      weights[i] = element.as<float>() >= 0 ? element.as<float>() : defaultWeights[i];
      if (weights[i] > 1.0f) throw SqlError(sqlstate::invalidParameterValue, "weight out of range");
   }
   return weights;
}

/// Where a word without positions stands.
constexpr TsPlace nowhere{tsPositionMax, 0};

/// The places of a word of a vector; `nowhere` if it has none.
struct PlacesOf {
   explicit PlacesOf(const TsVectorView::Word& ofWord) : word(ofWord) {}
   const TsVectorView::Word word;
   bool isNowhere() const { return word.placeCount() == 0; }
   uint32_t size() const { return isNowhere() ? 1 : word.placeCount(); }
   TsPlace operator[](uint32_t i) const { return isNowhere() ? nowhere : word.place(i); }
};

/// Calls `take` with each word of the vector that a word of a query finds.
template <typename Take>
void forEachFound(const TsVectorView& vector, const TsQueryNode& sought, const Take& take) {
   for (uint32_t i = vector.lowerBound(sought.word); i < vector.size(); ++i) {
      const TsVectorView::Word word = vector.word(i);
      if (sought.isPrefix ? !word.text().starts_with(sought.word) : word.text() != sought.word) return;
      take(i, word);
   }
}

/// The words of a query in order, each once.
std::vector<TsQueryNode> wordsOf(const TsQuery& query) {
   std::vector<TsQueryNode> words;
   for (const TsQueryNode& node : query.nodes)
      if (node.isWord()) words.push_back(node);
   std::stable_sort(words.begin(), words.end(),
                    [](const TsQueryNode& a, const TsQueryNode& b) { return a.word < b.word; });
   words.erase(std::unique(words.begin(), words.end(),
                           [](const TsQueryNode& a, const TsQueryNode& b) { return a.word == b.word; }),
               words.end());
   return words;
}

int32_t lengthOf(const TsVectorView& vector) {
   int32_t length = 0;
   for (uint32_t i = 0; i < vector.size(); ++i)
      length += static_cast<int32_t>(std::max(1u, vector.word(i).placeCount()));
   return length;
}

float closeness(int32_t distance) {
   if (distance > 100) return 1e-30f;
   return static_cast<float>(1.0 / (1.005 + 0.05 * std::exp(static_cast<float>(distance) / 1.5 - 2)));
}

// ---- ts_rank() ----

/// Each word counts for itself, its later places for less.
float rankOfAny(const Weights& weights, const TsVectorView& vector, const std::vector<TsQueryNode>& words) {
   constexpr double sumOfSquares = 1.64493406685; // of 1 / i²
   float rank = 0;
   for (const TsQueryNode& sought : words)
      forEachFound(vector, sought, [&](uint32_t, const TsVectorView::Word& word) {
         const PlacesOf places(word);
         float sum = 0, best = -1;
         uint32_t bestAt = 0;
         for (uint32_t i = 0; i < places.size(); ++i) {
            const float weight = weights[places[i].weight];
            sum = sum + weight / static_cast<float>((i + 1) * (i + 1));
            if (weight > best) {
               best = weight;
               bestAt = i;
            }
         }
         rank = static_cast<float>(rank + (best + sum - best / static_cast<float>((bestAt + 1) * (bestAt + 1))) /
                                              sumOfSquares);
      });
   return words.empty() ? rank : rank / static_cast<float>(words.size());
}

/// Each pair of words counts, those that stand together for more.
float rankOfAll(const Weights& weights, const TsVectorView& vector, const std::vector<TsQueryNode>& words) {
   if (words.size() < 2) return rankOfAny(weights, vector, words);
   std::vector<std::optional<PlacesOf>> found(words.size());
   float rank = -1;
   const auto addPair = [&](const PlacesOf& a, TsPlace x, const PlacesOf& b, TsPlace y) {
      int32_t distance = std::abs(int32_t{x.position} - int32_t{y.position});
      if (distance == 0 && !a.isNowhere() && !b.isNowhere()) return;
      if (distance == 0) distance = tsPositionMax + 1;
      const auto one = static_cast<float>(std::sqrt(weights[x.weight] * weights[y.weight] * closeness(distance)));
      rank = rank < 0 ? one : static_cast<float>(1.0 - (1.0 - rank) * (1.0 - one));
   };
   for (size_t i = 0; i < words.size(); ++i)
      forEachFound(vector, words[i], [&](uint32_t, const TsVectorView::Word& word) {
         found[i].emplace(word);
         for (size_t k = 0; k < i; ++k) {
            if (!found[k]) continue;
            for (uint32_t x = 0; x < found[i]->size(); ++x)
               for (uint32_t y = 0; y < found[k]->size(); ++y)
                  addPair(*found[i], (*found[i])[x], *found[k], (*found[k])[y]);
         }
      });
   return rank;
}

float rank(const Weights& weights, const StringView& bytes, const StringView& queryBytes, int32_t method) {
   const TsVectorView vector(bytes.view());
   const TsQuery query(queryBytes.view());
   if (vector.size() == 0 || query.isEmpty()) return 0;
   const Kind kind = query[query.root].kind;
   const std::vector<TsQueryNode> words = wordsOf(query);
   float result = kind == Kind::And || kind == Kind::Phrase ? rankOfAll(weights, vector, words)
                                                            : rankOfAny(weights, vector, words);
   if (result < 0) result = 1e-20f;
   if ((method & norm::logLength) != 0)
      result = static_cast<float>(result / (std::log(static_cast<double>(lengthOf(vector) + 1)) / std::log(2.0)));
   if ((method & norm::length) != 0) result /= static_cast<float>(lengthOf(vector));
   if ((method & norm::words) != 0) result /= static_cast<float>(vector.size());
   if ((method & norm::logWords) != 0)
      result = static_cast<float>(result / (std::log(static_cast<double>(vector.size() + 1)) / std::log(2.0)));
   if ((method & norm::asShare) != 0) result /= (result + 1);
   return result;
}

// ---- ts_rank_cd() ----

/// A place of the document at which words of the query stand.
struct Occurrence {
   TsPlace place;
   uint32_t word;               ///< of the vector
   std::vector<int32_t> sought; ///< the words of the query
};

/// The words that have been seen so far, from left to right or from right to left.
class SeenWords final : public TsWords {
public:
   explicit SeenWords(size_t nodes) : places_(nodes), isSeen_(nodes) {}
   void clear(bool isBackwards) {
      for (auto& places : places_)
         places.clear();
      isSeen_.assign(isSeen_.size(), false);
      isBackwards_ = isBackwards;
   }
   void add(const Occurrence& occurrence) {
      for (const int32_t word : occurrence.sought) {
         auto& places = places_[static_cast<size_t>(word)];
         isSeen_[static_cast<size_t>(word)] = true;
         if (places.empty() || places.back() != occurrence.place.position) places.push_back(occurrence.place.position);
      }
   }
   Ternary find(const TsQuery&, int32_t word, TsPlaces* places) const override {
      if (!isSeen_[static_cast<size_t>(word)]) return Ternary::No;
      if (places) {
         places->positions = places_[static_cast<size_t>(word)];
         if (isBackwards_) std::reverse(places->positions.begin(), places->positions.end());
      }
      return Ternary::Yes;
   }

private:
   std::vector<std::vector<int32_t>> places_; ///< by node
   std::vector<bool> isSeen_;
   bool isBackwards_ = false;
};

std::vector<Occurrence> occurrencesOf(const TsVectorView& vector, const TsQuery& query) {
   std::vector<Occurrence> all;
   for (size_t number = 0; number < query.nodes.size(); ++number) {
      const TsQueryNode& sought = query.nodes[number];
      if (!sought.isWord()) continue;
      forEachFound(vector, sought, [&](uint32_t i, const TsVectorView::Word& word) {
         for (uint32_t j = 0; j < word.placeCount(); ++j) {
            const TsPlace place = word.place(j);
            if (sought.weights == 0 || (sought.weights >> place.weight & 1) != 0)
               all.push_back({place, i, {static_cast<int32_t>(number)}});
         }
      });
   }
   std::stable_sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) {
      if (a.place.position != b.place.position) return a.place.position < b.place.position;
      return a.place.weight != b.place.weight ? a.place.weight < b.place.weight : a.word < b.word;
   });
   std::vector<Occurrence> joined;
   for (Occurrence& one : all) {
      if (!joined.empty() && joined.back().place == one.place && joined.back().word == one.word)
         joined.back().sought.push_back(one.sought[0]);
      else
         joined.push_back(std::move(one));
   }
   return joined;
}

/// The shortest parts of a document that match, one behind the other.
class Covers {
public:
   Covers(const TsVectorView& vector, const TsQuery& query)
      : query_(query), all_(occurrencesOf(vector, query)), seen_(query.nodes.size()) {}

   size_t begin = 0, end = 0; ///< the occurrences of the last part; `end` belongs to it
   const Occurrence& operator[](size_t i) const { return all_[i]; }

   bool next() {
      for (;; ++next_) {
         if (!findEnd()) return false;
         size_t at = end;
         if (findBegin(at)) {
            next_ = at + 1;
            return true;
         }
      }
   }

private:
   bool matches() const { return tsMatches(query_, query_.root, seen_); }
   bool findEnd() {
      seen_.clear(false);
      for (size_t at = next_; at < all_.size(); ++at) {
         seen_.add(all_[at]);
         if (!matches()) continue;
         end = at;
         return all_[at].place.position > 0;
      }
      return false;
   }
   /// From the end to the left.
   bool findBegin(size_t& at) {
      seen_.clear(true);
      for (;; --at) {
         seen_.add(all_[at]);
         if (matches()) {
            begin = at;
            return true;
         }
         if (at == next_) return false;
      }
   }
   const TsQuery& query_;
   const std::vector<Occurrence> all_;
   SeenWords seen_;
   size_t next_ = 0; ///< where the search begins
};

float coverRank(const Weights& weights, const StringView& bytes, const StringView& queryBytes, int32_t method) {
   const TsVectorView vector(bytes.view());
   const TsQuery query(queryBytes.view());
   if (query.isEmpty()) return 0;
   double result = 0, distances = 0, previous = 0;
   int32_t count = 0;
   for (Covers covers(vector, query); covers.next(); ++count) {
      double inverse = 0;
      for (size_t i = covers.begin; i <= covers.end; ++i)
         inverse += 1.0 / static_cast<double>(weights[covers[i].place.weight]);
      const auto span = static_cast<int32_t>(covers.end - covers.begin);
      const int32_t first = covers[covers.begin].place.position, last = covers[covers.end].place.position;
      int32_t noise = last - first - span;
      if (noise < 0) noise = span / 2; // positions at the limit say little
      result += static_cast<double>(span + 1) / inverse / static_cast<double>(1 + noise);
      const double middle = static_cast<double>(last + first) / 2.0;
      if (count > 0 && middle > previous) distances += 1.0 / (middle - previous);
      previous = middle;
   }
   if (count == 0) return 0;
   if ((method & norm::logLength) != 0) result /= std::log(static_cast<double>(lengthOf(vector) + 1));
   if ((method & norm::length) != 0) result /= static_cast<double>(lengthOf(vector));
   if ((method & norm::extentDistance) != 0 && distances > 0) result /= static_cast<double>(count) / distances;
   if ((method & norm::words) != 0) result /= static_cast<double>(vector.size());
   if ((method & norm::logWords) != 0) result /= std::log(static_cast<double>(vector.size() + 1)) / std::log(2.0);
   if ((method & norm::asShare) != 0) result /= (result + 1);
   return static_cast<float>(result);
}

// ---- kernels ----

using Rank = float (*)(const Weights&, const StringView&, const StringView&, int32_t);

template <Rank function>
float withAll(const StringView& weights, const StringView& vector, const StringView& query, int32_t method) {
   return function(weightsOf(weights), vector, query, method);
}
template <Rank function>
float withWeights(const StringView& weights, const StringView& vector, const StringView& query) {
   return function(weightsOf(weights), vector, query, 0);
}
template <Rank function>
float withMethod(const StringView& vector, const StringView& query, int32_t method) {
   return function(defaultWeights, vector, query, method);
}
template <Rank function>
float plainly(const StringView& vector, const StringView& query) {
   return function(defaultWeights, vector, query, 0);
}

} // namespace

void registerTsRank() {
   addKernel<withAll<rank>>("ts_rank_wttf");
   addKernel<withWeights<rank>>("ts_rank_wtt");
   addKernel<withMethod<rank>>("ts_rank_ttf");
   addKernel<plainly<rank>>("ts_rank_tt");
   addKernel<withAll<coverRank>>("ts_rankcd_wttf");
   addKernel<withWeights<coverRank>>("ts_rankcd_wtt");
   addKernel<withMethod<coverRank>>("ts_rankcd_ttf");
   addKernel<plainly<coverRank>>("ts_rankcd_tt");
}

} // namespace ouzel::executor
