#pragma once
#include "executor/function/text/regex_tree.hpp"

// How PostgreSQL's engine takes a regular expression apart: what it matches as a whole, which of two lengths each part
// prefers, and in which order captures are found.

namespace ouzel::executor {

/// Whether an expression prefers the longest or the shortest match.
enum class RegexPreference : uint8_t { None, Longest, Shortest };

/// A part of a syntax tree: a node, some neighbours in a sequence, or all rounds of a repetition but the last.
struct RegexPart {
   enum class Kind : uint8_t { Node, Neighbours, Rounds };
   Kind kind = Kind::Node;
   const RegexNode* node = nullptr;
   size_t from = 0, to = 0; ///< Neighbours: these children of `node`
};

/// A node of the dissection of matches, see Dissector. A part without captures and with one preference is a leaf,
/// however long it is, and prefers the longest (or shortest) text as a whole.
struct RegexDissection {
   enum class Kind : uint8_t {
      Leaf,
      Concat,  ///< children in a row, each as its preference says under the ones before it
      Choice,  ///< the first child that matches
      Iterate, ///< children[0] from `min` to `max` (-1: any number) times
   };
   Kind kind = Kind::Leaf;
   RegexPreference preference = RegexPreference::None;
   bool hasMixedPreferences = false;
   bool hasCaptures = false;       ///< in this node or below
   bool hasBackReference = false;  ///< in this node or below
   uint32_t backReference = 0;     ///< Leaf: the group that it repeats, from `min` to `max` times; 0: none
   std::vector<uint32_t> captures; ///< groups that are this node
   RegexPart part;
   RegexWidth width;
   std::vector<std::unique_ptr<RegexDissection>> children;
   std::vector<RegexPart> rests;       ///< Concat: by child, that child and all behind it
   std::vector<RegexWidth> restWidths; ///< Concat: by child
   int32_t min = 0, max = 0;
};

std::unique_ptr<RegexDissection> dissectionOf(const RegexNode& root);

/// Whether the longest (shortest) matches of the part are the ones that leftmost-first search tries first.
bool isOrdered(const RegexPart& part, RegexPreference preference);
/// Whether leftmost-first search over a match finds the captures of the dissection.
bool isLeftmostFirst(const RegexDissection& node);

} // namespace ouzel::executor
