#pragma once
#include <map>
#include <re2/re2.h>
#include <unordered_map>

#include "executor/function/text/regex.hpp"
#include "executor/function/text/regex_structure.hpp"

namespace ouzel::executor {

/// Matches the expressions that RE2 cannot: with back references, look-around, or edges of words (\m, \M). The result
/// is that of PostgreSQL's engine: the leftmost match, as long or short as the expression prefers, whose parts agree
/// with its back references. What a part may match is first found without them, where a back reference stands for the
/// expression of its group; captures are then tried in the order of the dissection.
///
/// Used by one thread. Throws 54000 when a search takes more steps than the text allows for.
class RegexBacktracker {
public:
   /// Both outlive this.
   RegexBacktracker(const RegexSyntax& syntax, const RegexDissection& root);
   /// Find the first match at or after byte `start`. spans[0..] become the match and all captures.
   bool search(std::string_view text, size_t start, std::vector<RegexSpan>& spans);

private:
   using Positions = std::vector<size_t>; ///< ascending
   struct Key {
      RegexPart part;
      size_t begin;
      bool operator==(const Key& other) const;
   };
   struct KeyHash {
      size_t operator()(const Key& key) const;
   };

   bool find(std::string_view text, size_t start, std::vector<RegexSpan>& spans);
   /// Where matches of the part end that begin at `begin`.
   const Positions& ends(const RegexPart& part, size_t begin);
   Positions endsOf(const RegexNode& node, size_t begin);
   Positions endsOfText(const RegexNode& node, size_t begin);
   Positions endsOfSequence(const RegexNode& node, size_t from, size_t to, size_t begin);
   Positions endsOfRounds(const RegexNode& node, int32_t min, int32_t max, size_t begin);
   Positions oneMore(const RegexNode& node, const Positions& begins);
   bool looks(const RegexNode& look, size_t at);
   bool isWordEdge(bool isStart, size_t at) const;
   bool fits(const RegexPart& part, size_t begin, size_t end);
   void step(size_t count);

   // The captures of a match of this extent. False: its back references do not agree; spans are as before.
   bool dissect(const RegexDissection& node, size_t begin, size_t end);
   bool dissectInside(const RegexDissection& node, size_t begin, size_t end);
   bool concat(const RegexDissection& node, size_t child, size_t begin, size_t end);
   void forget(const RegexDissection& node); ///< the captures of the node and below
   bool iterate(const RegexDissection& node, int32_t rounds, size_t begin, size_t end);
   bool repeats(const RegexDissection& node, size_t begin, size_t end);
   /// Calls `take` for the ends of the part, those first that the preference says, until it returns true.
   template <typename Take>
   bool tryEnds(const RegexPart& part, RegexPreference preference, size_t begin, size_t end, Take&& take);

   // PROPERTIES
   const RegexSyntax& syntax_;
   const RegexDissection& root_;
   std::map<uint32_t, const RegexNode*> groups_; ///< by number
   std::unordered_map<const RegexNode*, std::unique_ptr<RE2>> atoms_;
   // STATE of a search
   std::string_view text_;
   std::vector<RegexSpan>* spans_ = nullptr;
   std::unordered_map<Key, Positions, KeyHash> known_;
   size_t knownPositions_ = 0;
   uint64_t steps_ = 0, stepsMax_ = 0, nextCheck_ = 0;
};

} // namespace ouzel::executor
