#include "common/base_type/ts_query_parser.hpp"

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"

namespace ouzel {

namespace {

using Kind = TsQueryNode::Kind;

constexpr size_t pendingMax = 32; ///< operators that wait for operands, without those outside of parentheses

constexpr int bindingOf(Kind kind) {
   switch (kind) {
   case Kind::Or: return 1;
   case Kind::And: return 2;
   case Kind::Phrase: return 3;
   default: return 4;
   }
}
constexpr bool isWordCharacter(char c) {
   return (c >= '0' && c <= '9') || (asciiLower(c) >= 'a' && asciiLower(c) <= 'z');
}

} // namespace

void TsQueryParser::throwSyntax() const {
   throw SqlError(sqlstate::syntaxError, "syntax error in tsquery: \"" + std::string(text_) + '"');
}

bool TsQueryParser::takeOperator(char c, Kind kind) {
   if (!is(c)) return false;
   ++at_;
   operator_ = {kind, 0};
   wantsOperand_ = true;
   return true;
}

/// "<->" or "<7>". It is none at the end of the text.
bool TsQueryParser::takePhraseOperator() {
   if (!is('<')) return false;
   size_t at = at_ + 1;
   int64_t distance = 1;
   if (at < text_.size() && text_[at] == '-') {
      ++at;
   } else {
      const size_t begin = at;
      for (distance = 0; at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; ++at)
         if (distance <= tsDistanceMax) distance = distance * 10 + (text_[at] - '0');
      if (at == begin) return false;
      requireTsDistance(distance);
   }
   if (at + 1 >= text_.size() || text_[at] != '>') return false;
   at_ = at + 1;
   operator_ = {Kind::Phrase, static_cast<uint16_t>(distance)};
   wantsOperand_ = true;
   return true;
}

/// ":A*" behind an operand.
void TsQueryParser::takeModifiers() {
   if (!is(':')) return;
   for (++at_; !isAtEnd(); ++at_) {
      const int weight = tsWeightOf(text_[at_]);
      if (weight >= 0)
         operand_.weights = static_cast<uint8_t>(operand_.weights | 1 << weight);
      else if (text_[at_] == '*')
         operand_.isPrefix = true;
      else
         return;
   }
}

TsQueryParser::Token TsQueryParser::takeOperand() {
   words_.moveTo(at_);
   words_.next(places_);
   at_ = words_.position();
   operand_ = {words_.word(), 0, false};
   wantsOperand_ = false;
   return Token::Operand;
}

TsQueryParser::Token TsQueryParser::nextStandard() {
   while (!isAtEnd() && isTsSpace(text_[at_]))
      ++at_;
   if (wantsOperand_) {
      if (isAtEnd() && isFirst_) return Token::End;
      if (isAtEnd()) throw SqlError(sqlstate::syntaxError, "no operand in tsquery: \"" + std::string(text_) + '"');
      isFirst_ = false;
      if (takeOperator('!', Kind::Not)) return Token::Operator;
      if (is('(')) {
         ++at_;
         ++depth_;
         return Token::Open;
      }
      if (is(':')) throwSyntax();
      takeOperand();
      takeModifiers();
      return Token::Operand;
   }
   if (isAtEnd()) {
      if (depth_ > 0) throwSyntax();
      return Token::End;
   }
   if (takeOperator('&', Kind::And) || takeOperator('|', Kind::Or) || takePhraseOperator()) return Token::Operator;
   if (!is(')') || depth_ == 0) throwSyntax();
   ++at_;
   --depth_;
   return Token::Close;
}

/// "or" as a word of its own, behind which something follows.
bool TsQueryParser::takeWebOr() {
   const std::string_view rest = text_.substr(at_);
   if (rest.size() < 4 || lowerCase(rest.substr(0, 2)) != "or") return false;
   if (rest[2] == '-' || rest[2] == '_' || isWordCharacter(rest[2])) return false;
   size_t next = 3;
   while (next < rest.size() && isTsSpace(rest[next]))
      ++next;
   if (next == rest.size()) return false;
   at_ += 2;
   operator_ = {Kind::Or, 0};
   wantsOperand_ = true;
   return true;
}

TsQueryParser::Token TsQueryParser::nextWeb() {
   for (;; ++at_) {
      while (!isAtEnd() && isTsSpace(text_[at_]))
         ++at_;
      if (!wantsOperand_) {
         if (isAtEnd()) return Token::End;
         if (is('"') || !takeWebOr()) operator_ = {Kind::And, 0};
         wantsOperand_ = true;
         return Token::Operator;
      }
      if (isAtEnd()) {
         if (isFirst_) return Token::End;
         operands_.push_back(TsQuery::none); // for the operator that waits
         wantsOperand_ = false;
         return Token::End;
      }
      isFirst_ = false;
      if (takeOperator('-', Kind::Not)) return Token::Operator;
      if (is('"')) {
         const size_t begin = ++at_, end = std::min(text_.find('"', begin), text_.size());
         operand_ = {text_.substr(begin, end - begin), 0, false};
         at_ = std::min(end + 1, text_.size());
         wantsOperand_ = false;
         return Token::Operand;
      }
      if (std::string_view("!&|()<").find(text_[at_]) == std::string_view::npos) return takeOperand();
   }
}

TsQueryParser::Token TsQueryParser::next() {
   return syntax_ == Syntax::Web ? nextWeb() : nextStandard();
}

/// Makes nodes of the operators that bind at least as tightly as the one that follows, down to `bottom`. Not is right
/// associative, unlike the others.
void TsQueryParser::reduce(size_t bottom, Kind before) {
   while (operators_.size() > bottom) {
      const Pending top = operators_.back();
      const int binding = bindingOf(before), bindingOfTop = bindingOf(top.kind);
      if (before == Kind::Not ? binding >= bindingOfTop : binding > bindingOfTop) return;
      operators_.pop_back();
      CHECK(!operands_.empty());
      const int32_t right = operands_.back();
      operands_.pop_back();
      if (top.kind == Kind::Not) {
         operands_.push_back(query_.addNot(right));
         continue;
      }
      CHECK(!operands_.empty());
      operands_.back() = query_.add(top.kind, operands_.back(), right, top.distance);
   }
}

/// Up to the closing parenthesis or the end.
void TsQueryParser::readList() {
   checkStack();
   const size_t bottom = operators_.size();
   for (;;) {
      switch (next()) {
      case Token::Operand:
         hasOperands_ = true;
         operands_.push_back(makeTree_(query_, operand_));
         break;
      case Token::Operator:
         reduce(bottom, operator_.kind);
         if (operators_.size() - bottom == pendingMax)
            throw SqlError(sqlstate::internalError, "tsquery stack too small");
         operators_.push_back(operator_);
         break;
      case Token::Open: readList(); break;
      case Token::Close:
      case Token::End: return reduce(bottom, Kind::Or);
      }
   }
}

TsQuery TsQueryParser::run() {
   readList();
   CHECK(operands_.size() <= 1);
   if (!operands_.empty()) query_.root = operands_.back();
   return std::move(query_);
}

std::string parseTsQuery(std::string_view text) {
   std::string words; // never longer than the text: words stay where they are
   words.reserve(text.size());
   const auto asItIs = [&](TsQuery& query, const TsQueryParser::Operand& operand) {
      requireTsQueryWord(operand.text, text);
      if (words.size() >= tsWordsSizeMax)
         throw SqlError(sqlstate::programLimitExceeded, "value is too big in tsquery: \"" + std::string(text) + '"');
      const std::string_view kept{words.data() + words.size(), operand.text.size()};
      words += operand.text;
      return query.addWord(kept, operand.weights, operand.isPrefix);
   };
   return TsQueryParser(text, TsQueryParser::Syntax::Standard, asItIs).run().store();
}

} // namespace ouzel
