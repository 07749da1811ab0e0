#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/ts_query.hpp"
#include "common/base_type/ts_word_reader.hpp"

namespace ouzel {

/// Reads the text of a query: words, operators and parentheses, of which it makes a tree. Throws 42601, 22023, 54000
/// with PostgreSQL's words.
class TsQueryParser {
public:
   /// Standard: what the input function and to_tsquery() take. Web: as search engines do, where nothing is an error.
   enum class Syntax : uint8_t { Standard, Web };
   struct Operand {
      std::string_view text;
      uint8_t weights;
      bool isPrefix;
   };
   /// Makes a tree of an operand and returns its node; TsQuery::none: nothing is left of it.
   using MakeTree = std::function<int32_t(TsQuery& query, const Operand& operand)>;

   TsQueryParser(std::string_view text, Syntax syntax, MakeTree makeTree)
      : text_(text), syntax_(syntax), makeTree_(std::move(makeTree)),
        words_(text, syntax == Syntax::Web ? TsWordReader::Syntax::Web : TsWordReader::Syntax::Query) {}

   /// Null operands are those of which makeTree() left nothing. Whether there was any operand: hasOperands().
   TsQuery run();
   bool hasOperands() const { return hasOperands_; }

private:
   using Kind = TsQueryNode::Kind;
   enum class Token : uint8_t { Operand, Operator, Open, Close, End };
   struct Pending {
      Kind kind;
      uint16_t distance;
   };

   Token next();
   Token nextStandard();
   Token nextWeb();
   bool takeOperator(char c, Kind kind);
   bool takePhraseOperator();
   bool takeWebOr();
   Token takeOperand();
   void takeModifiers();
   void readList();
   void reduce(size_t bottom, Kind before);
   bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
   bool isAtEnd() const { return at_ >= text_.size(); }
   [[noreturn, gnu::cold]] void throwSyntax() const;

   std::string_view text_;
   Syntax syntax_;
   MakeTree makeTree_;
   TsWordReader words_;
   std::vector<TsPlace> places_; ///< words of queries have none
   size_t at_ = 0;
   int depth_ = 0;            ///< of parentheses
   bool wantsOperand_ = true; ///< rather than an operator
   bool isFirst_ = true;      ///< no operand yet
   bool hasOperands_ = false;
   Operand operand_{};
   Pending operator_{};
   TsQuery query_;
   std::vector<Pending> operators_;
   std::vector<int32_t> operands_;
};

/// The bytes of the query that a text writes, of words as they are.
std::string parseTsQuery(std::string_view text);

} // namespace ouzel
