#include "executor/function/text_search/ts_headline_words.hpp"

#include <algorithm>
#include <climits>
#include <optional>

namespace ouzel::executor {

bool TsHeadlineWord::isBadEnd(int32_t shortWord) const {
   if (isInteresting()) return false;
   switch (token) {
   case TsToken::ScientificFloat:
   case TsToken::Version:
   case TsToken::Float:
   case TsToken::Int:
   case TsToken::UnsignedInt:
   case TsToken::Protocol:
   case TsToken::Entity: return true;
   default: return !isWord() || static_cast<int64_t>(text.size()) <= shortWord;
   }
}

namespace {

/// The words of a part of the document.
class PartWords final : public TsWords {
public:
   explicit PartWords(const TsHeadlineWords& words) : words_(words) {}
   int32_t first = 0, last = 0;

   Ternary find(const TsQuery&, int32_t sought, TsPlaces* places) const override {
      for (int32_t i = first; i <= last; ++i) {
         const TsHeadlineWord& word = words_[static_cast<size_t>(i)];
         if (word.sought != sought) continue;
         if (!places) return Ternary::Yes;
         if (places->positions.empty() || places->positions.back() < word.position)
            places->positions.push_back(word.position);
      }
      return places && !places->positions.empty() ? Ternary::Yes : Ternary::No;
   }

private:
   const TsHeadlineWords& words_;
};

/// Chooses the words of a headline. Numbers of words are signed, as they run below the first one.
class Selection {
public:
   Selection(TsHeadlineWords& words, const TsQuery& query, const TsHeadlineOptions& options)
      : words_(words), query_(query), options_(options), part_(words) {
      coverMax_ = std::max(options.wordsMax * int64_t{10}, int64_t{100}) * std::max(options.fragmentsMax, 1);
   }
   void run() {
      if (options_.fragmentsMax > 0)
         selectFragments();
      else if (options_.isWhole)
         mark({0, size() - 1});
      else
         selectOne();
   }

private:
   struct Range {
      int32_t first, last;
   };
   /// A part that might be a fragment.
   struct Fragment {
      Range range;
      int32_t interesting, length; ///< words in it
      bool isUsed = false;         ///< or overlaps one that is
   };

   int32_t size() const { return static_cast<int32_t>(words_.size()); }
   TsHeadlineWord& at(int32_t i) { return words_[static_cast<size_t>(i)]; }
   bool isBadEnd(int32_t i) { return i < 0 || at(i).isBadEnd(options_.shortWord); }

   int32_t nextSought(int32_t from) {
      for (int32_t i = from; i < size(); ++i)
         if (at(i).sought != TsQuery::none) return i;
      return -1;
   }
   /// The first and shortest part from a word on that matches the query.
   std::optional<Range> cover(int32_t from) {
      if (query_.isEmpty()) return std::nullopt;
      for (int32_t first = nextSought(from), next; first >= 0; first = next) {
         next = nextSought(first + 1);
         for (int32_t last = first; last >= 0 && last - first < coverMax_; last = nextSought(last + 1)) {
            part_.first = first;
            part_.last = last;
            if (tsMatches(query_, query_.root, part_)) return Range{first, last};
         }
      }
      return std::nullopt;
   }

   void mark(Range range) {
      for (int32_t i = range.first; i <= range.last && i < size(); ++i) {
         TsHeadlineWord& word = at(i);
         if (word.sought != TsQuery::none) word.isMarked = true;
         if (word.isComposed()) word.isLeftOut = true;
         if (!options_.isWhole && word.token == TsToken::Tag) word.isBlank = true;
         word.isChosen = !word.isRepeated;
      }
   }
   /// The first words of the document, if nothing was found.
   Range beginning() {
      Range range{0, 0};
      int32_t length = 0;
      for (int32_t i = 0; i < size() && length < options_.wordsMin; ++i) {
         length += at(i).isWord();
         range.last = i;
      }
      return range;
   }

   // ---- one part ----

   struct Candidate {
      Range range{-1, -1};
      int32_t interesting = -1, length = 0;
      bool hasCover = false;

      void add(const TsHeadlineWord& word, int32_t sign = 1) {
         length += sign * word.isWord();
         interesting += sign * word.isInteresting();
      }
   };

   /// To the right until it is long enough and ends well, then to the left.
   void lengthen(Candidate& found, Range cover, int32_t next) {
      for (int32_t i = next - 1; i < size() && found.length < options_.wordsMax; ++i) {
         if (i > cover.last) found.add(at(i));
         found.range.last = i;
         if (!isBadEnd(i) && found.length >= options_.wordsMin) break;
      }
      if (found.length >= options_.wordsMin) return;
      int32_t i = cover.first - 1;
      for (; i >= 0; --i) {
         found.add(at(i));
         if (found.length >= options_.wordsMax) break;
         if (!isBadEnd(i) && found.length >= options_.wordsMin) break;
      }
      found.range.first = std::max(i, 0);
   }
   /// Takes words off the end until it ends well.
   void shorten(Candidate& found, int32_t last) {
      for (int32_t i = last; found.length > options_.wordsMin && isBadEnd(i); --i) {
         found.add(at(i), -1);
         found.range.last = i - 1;
      }
   }
   Candidate candidateOf(Range cover) {
      Candidate found{{cover.first, cover.first}, 0, 0, false};
      int32_t i = cover.first;
      for (; i <= cover.last && found.length < options_.wordsMax; ++i) {
         found.add(at(i));
         found.range.last = i;
      }
      if (found.length < options_.wordsMax)
         lengthen(found, cover, i);
      else
         shorten(found, std::min(i, cover.last));
      found.hasCover = found.range.first <= cover.first && found.range.last >= cover.last;
      return found;
   }
   bool isBetter(const Candidate& a, const Candidate& b) {
      if (a.hasCover != b.hasCover) return a.hasCover;
      if (a.interesting != b.interesting) return a.interesting > b.interesting;
      return !isBadEnd(a.range.last) && isBadEnd(b.range.last);
   }
   void selectOne() {
      Candidate best;
      for (int32_t from = 0;;) {
         const std::optional<Range> found = cover(from);
         if (!found) break;
         const Candidate candidate = candidateOf(*found);
         if (isBetter(candidate, best)) best = candidate;
         from = found->first + 1;
      }
      mark(best.interesting < 0 ? beginning() : best.range);
   }

   // ---- fragments ----

   /// The next fragment of a cover: it begins and ends with a word of the query and is not too long.
   Fragment nextFragment(Range rest) {
      Fragment found{rest, 0, 0};
      while (found.range.first < rest.last && !at(found.range.first).isInteresting())
         ++found.range.first;
      int32_t i = found.range.first;
      for (; i <= rest.last && found.length < options_.wordsMax; ++i) {
         found.length += at(i).isWord();
         found.interesting += at(i).isInteresting();
      }
      if (rest.last <= i) return found;
      for (found.range.last = i; i >= found.range.first; --i) {
         found.range.last = i;
         if (at(i).isInteresting()) break;
         found.length -= at(i).isWord();
      }
      return found;
   }
   std::vector<Fragment> allFragments() {
      std::vector<Fragment> all;
      for (int32_t from = 0;;) {
         const std::optional<Range> found = cover(from);
         if (!found) return all;
         for (Range rest = *found; rest.first <= rest.last;) {
            all.push_back(nextFragment(rest));
            rest = {all.back().range.last + 1, found->last};
         }
         from = found->first + 1;
      }
   }
   /// Grows to both sides as far as there is room, and back to good ends.
   void stretch(Fragment& fragment) {
      if (fragment.length >= options_.wordsMax) return;
      Range& range = fragment.range;
      const int32_t sideMax = (options_.wordsMax - fragment.length) / 2;
      int32_t end = range.first;
      for (int32_t i = range.first - 1, grown = 0; i >= 0 && grown < sideMax && !at(i).isChosen; --i) {
         grown += at(i).isWord();
         fragment.length += at(i).isWord();
         end = i;
      }
      for (; end < range.first && isBadEnd(end); ++end)
         fragment.length -= at(end).isWord();
      range.first = end;
      end = range.last;
      for (int32_t i = range.last + 1; i < size() && fragment.length < options_.wordsMax && !at(i).isChosen; ++i) {
         fragment.length += at(i).isWord();
         end = i;
      }
      for (; end > range.last && isBadEnd(end); --end)
         fragment.length -= at(end).isWord();
      range.last = end;
   }
   Fragment* best(std::vector<Fragment>& all) {
      Fragment* chosen = nullptr;
      int32_t interesting = 0, length = INT_MAX;
      for (Fragment& fragment : all) {
         if (fragment.isUsed) continue;
         if (fragment.interesting < interesting || (fragment.interesting == interesting && fragment.length >= length))
            continue;
         interesting = fragment.interesting;
         length = fragment.length;
         chosen = &fragment;
      }
      return chosen;
   }
   void selectFragments() {
      std::vector<Fragment> all = allFragments();
      int32_t count = 0;
      for (; count < options_.fragmentsMax; ++count) {
         Fragment* chosen = best(all);
         if (!chosen) break;
         stretch(*chosen);
         mark(chosen->range);
         const Range range = chosen->range;
         chosen->isUsed = true;
         for (Fragment& other : all)
            other.isUsed = other.isUsed || (other.range.first <= range.last && other.range.last >= range.first);
      }
      if (count == 0) mark(beginning());
   }

   TsHeadlineWords& words_;
   const TsQuery& query_;
   const TsHeadlineOptions& options_;
   PartWords part_;
   int64_t coverMax_;
};

} // namespace

void selectHeadline(TsHeadlineWords& words, const TsQuery& query, const TsHeadlineOptions& options) {
   Selection(words, query, options).run();
}

} // namespace ouzel::executor
