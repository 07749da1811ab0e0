#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/ts_vector.hpp"

// The type tsquery: a tree of words and operators. Its bytes:
//
//   what                     size
//   number of nodes          4
//   bytes in PostgreSQL      4
//   the tree
//     operator               1: 1 phrase, 2 or, 3 and, 4 not; then its operands, the right one first
//       of a phrase          2: distance, inverted
//     word                   1: 5; 4: checksum, inverted; the word; a zero byte
//   per word                 1: weights, and 16 if it is a prefix; in the tree's order
//
// Numbers are big-endian. The order of the bytes before the last part is that of tsquery_cmp(), which ignores weights
// and prefixes (tsQueryKey). A query without words has no tree.

namespace ouzel {

inline constexpr int32_t tsDistanceMax = 16384;

struct TsQueryNode {
   enum class Kind : uint8_t { Word, Not, And, Or, Phrase };
   Kind kind = Kind::Word;
   uint8_t weights = 0; ///< of a word: bit 3 for A to bit 0 for D; 0: any
   bool isPrefix = false;
   uint16_t distance = 0; ///< of a phrase
   std::string_view word;
   int32_t left = -1, right = -1; ///< operands; Not has the left one only

   bool isWord() const { return kind == Kind::Word; }
};

/// A query as a tree. Words are views of what it was read from, or into memory of the one who added them.
class TsQuery {
public:
   using Kind = TsQueryNode::Kind;
   static constexpr int32_t none = -1;

   TsQuery() = default;
   /// Reads the bytes of a value, which outlive it.
   explicit TsQuery(std::string_view bytes);

   bool isEmpty() const { return root == none; }
   const TsQueryNode& operator[](int32_t i) const { return nodes[static_cast<size_t>(i)]; }
   TsQueryNode& operator[](int32_t i) { return nodes[static_cast<size_t>(i)]; }
   /// Adds a node and returns its number.
   int32_t addWord(std::string_view word, uint8_t weights = 0, bool isPrefix = false);
   int32_t addNot(int32_t operand);
   int32_t add(Kind kind, int32_t left, int32_t right, uint16_t distance = 0);
   /// Copies a tree of another query. Words stay views.
   int32_t addCopy(const TsQuery& other, int32_t node);

   /// Nodes of the tree below a node.
   uint32_t nodeCount(int32_t node) const;
   std::string store() const;
   /// Appends the text, as the output function does.
   void print(std::string& out) const;

   std::vector<TsQueryNode> nodes; ///< some may not be part of the tree
   int32_t root = none;
};

/// By which queries are compared: the bytes without their last part.
std::string_view tsQueryKey(std::string_view bytes);
/// PostgreSQL's checksum of words, of which the order of queries depends.
uint32_t tsWordChecksum(std::string_view word);
/// Throws 22023 unless words of a phrase can be that far apart.
void requireTsDistance(int64_t distance);
/// Throws 54000 for a word that is too long; `query` is the text that has it.
void requireTsQueryWord(std::string_view word, std::string_view query);

extern const TypeForm tsqueryForm;

} // namespace ouzel
