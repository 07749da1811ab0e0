#include "executor/function/text_search/ts_query_builder.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;

/// Removes the operands of which nothing was left, and the operators that have lost theirs. A phrase grows by the
/// places of what is removed from it.
class StopWordRemoval {
public:
   explicit StopWordRemoval(TsQuery& query) : query_(query) {}

   /// What is left of a tree, and how far the words around it move away from it.
   struct Rest {
      int32_t node = TsQuery::none;
      int32_t left = 0, right = 0;
   };
   Rest run(int32_t number) {
      checkStack();
      if (number == TsQuery::none) return {};
      const TsQueryNode node = query_[number];
      if (node.isWord()) return {number};
      if (node.kind == Kind::Not) {
         Rest rest = run(node.left);
         if (rest.node == TsQuery::none) return {};
         query_[number].left = rest.node;
         rest.node = number;
         return rest;
      }
      const Rest left = run(node.left), right = run(node.right);
      return node.kind == Kind::Phrase ? ofPhrase(number, left, right) : ofOther(number, left, right);
   }

private:
   Rest ofPhrase(int32_t number, const Rest& left, const Rest& right) {
      const int32_t distance = query_[number].distance;
      if (left.node == TsQuery::none && right.node == TsQuery::none) {
         const int32_t all = left.left + distance + right.left;
         return {TsQuery::none, all, all};
      }
      if (left.node == TsQuery::none) return {right.node, left.left + distance + right.left, right.right};
      if (right.node == TsQuery::none) return {left.node, left.left, left.right + distance + right.right};
      query_[number].left = left.node;
      query_[number].right = right.node;
      query_[number].distance = static_cast<uint16_t>(distance + left.right + right.left);
      return {number, left.left, right.right};
   }
   Rest ofOther(int32_t number, const Rest& left, const Rest& right) {
      if (left.node == TsQuery::none && right.node == TsQuery::none) {
         const int32_t larger = std::max(left.left, right.left);
         return {TsQuery::none, larger, larger};
      }
      if (left.node == TsQuery::none) return right;
      if (right.node == TsQuery::none) return left;
      query_[number].left = left.node;
      query_[number].right = right.node;
      return {number};
   }
   TsQuery& query_;
};

void removeStopWords(TsQuery& query) {
   query.root = StopWordRemoval(query).run(query.root).node;
}

} // namespace

/// The words of one operand: of one place those of one variant belong together, and variants are alternatives. Places
/// where stop words stood keep the others apart.
int32_t TsQueryBuilder::treeOf(TsQuery& query, const TsQueryParser::Operand& operand, Kind glue) {
   analyzer_.clear();
   analyzer_.add(operand.text);
   const auto& words = analyzer_.words();
   int32_t whole = TsQuery::none;
   bool isFirst = true;
   const auto append = [&](int32_t node) {
      whole = isFirst ? node : query.add(glue, whole, node, glue == Kind::Phrase ? 1 : 0);
      isFirst = false;
   };
   uint32_t position = 0;
   for (size_t i = 0; i < words.size();) {
      for (; position > 0 && position + 1 < words[i].position; ++position)
         append(TsQuery::none);
      position = words[i].position;
      int32_t place = TsQuery::none;
      while (i < words.size() && words[i].position == position) {
         const uint32_t variant = words[i].variant;
         int32_t together = TsQuery::none;
         for (; i < words.size() && words[i].position == position && words[i].variant == variant; ++i) {
            words_.emplace_back(analyzer_.textOf(words[i]));
            const int32_t word = query.addWord(words_.back(), operand.weights, operand.isPrefix || words[i].isPrefix);
            together = together == TsQuery::none ? word : query.add(Kind::And, together, word);
         }
         place = place == TsQuery::none ? together : query.add(Kind::Or, place, together);
      }
      append(place);
   }
   return whole;
}

TsQuery TsQueryBuilder::build(std::string_view text, TsQueryParser::Syntax syntax) {
   words_.clear();
   TsQuery query = TsQueryParser(text, syntax, [&](TsQuery& tree, const TsQueryParser::Operand& operand) {
                      return treeOf(tree, operand, Kind::Phrase);
                   }).run();
   removeStopWords(query);
   return query;
}

TsQuery TsQueryBuilder::build(std::string_view text, Kind glue) {
   words_.clear();
   TsQuery query;
   query.root = treeOf(query, {text, 0, false}, glue);
   removeStopWords(query);
   return query;
}

} // namespace ouzel::executor
