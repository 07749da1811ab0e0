#include "common/base_type/ltree_query.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/base_type/ltree.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"

namespace ouzel {

// ---- words ----

namespace {

bool startsAlike(std::string_view label, std::string_view text, bool ignoresCase) {
   return std::equal(text.begin(), text.end(), label.begin(),
                     [&](char a, char b) { return ignoresCase ? asciiLower(a) == asciiLower(b) : a == b; });
}

/// Takes the next part between underscores off the front; empty: there is none.
std::string_view takePart(std::string_view& text) {
   text.remove_prefix(std::min(text.find_first_not_of('_'), text.size()));
   const std::string_view part = text.substr(0, text.find('_'));
   text.remove_prefix(part.size());
   return part;
}

} // namespace

bool LtreeWord::matches(std::string_view label) const {
   const auto isAlike = [&](std::string_view whole, std::string_view wanted) {
      return (whole.size() == wanted.size() || (isPrefix && whole.size() > wanted.size())) &&
             startsAlike(whole, wanted, ignoresCase);
   };
   if (!comparesParts) return isAlike(label, text);
   std::string_view rest = text;
   for (std::string_view wanted = takePart(rest); !wanted.empty(); wanted = takePart(rest)) {
      std::string_view others = label, part = takePart(others);
      while (!part.empty() && !isAlike(part, wanted))
         part = takePart(others);
      if (part.empty()) return false;
   }
   return true;
}

void LtreeWord::appendTo(std::string& out) const {
   out += text;
   if (comparesParts) out += '%';
   if (ignoresCase) out += '@';
   if (isPrefix) out += '*';
}

// ---- patterns ----

/// Reads a pattern from left to right. Errors name characters; these are bytes up to the first error.
class LqueryParser {
public:
   LqueryParser(std::string_view text, std::vector<Lquery::Item>& items) : text_(text), items_(items) {}

   void run() {
      const size_t count = 1 + static_cast<size_t>(std::count(text_.begin(), text_.end(), '.'));
      if (count > ltreeLabelsMax)
         throw SqlError(sqlstate::programLimitExceeded, "number of lquery items (" + std::to_string(count) +
                                                            ") exceeds the maximum allowed (" +
                                                            std::to_string(ltreeLabelsMax) + ")");
      do
         item();
      while (take('.'));
      if (at_ < text_.size()) refuse();
   }

private:
   static constexpr size_t variantsMax = 65535, levelBytesMax = 65535;

   [[noreturn]] void refuse() const {
      if (at_ == text_.size()) throwLtreeEnd("lquery");
      throwLtreeSyntax("lquery", at_ + 1);
   }
   bool isAt(char c) const { return at_ < text_.size() && text_[at_] == c; }
   bool take(char c) {
      if (!isAt(c)) return false;
      ++at_;
      return true;
   }

   void item() {
      Lquery::Item& item = items_.emplace_back();
      if (take('*')) {
         item.low = 0;
         item.high = Lquery::repeatsMax;
      } else {
         item.isNegated = take('!');
         words(item);
      }
      if (take('{')) {
         item.isCounted = true;
         repeats(item);
      }
   }

   void words(Lquery::Item& item) {
      size_t bytes = 16; // as PostgreSQL stores a level
      do {
         LtreeWord word = this->word(item.isNegated && item.words.empty());
         bytes += (8 + word.text.size() + 7) / 8 * 8;
         if (item.words.size() == variantsMax)
            throw SqlError(sqlstate::programLimitExceeded, "lquery level has too many variants")
                .detail("Number of variants exceeds the maximum allowed (" + std::to_string(variantsMax) + ").");
         item.words.push_back(word);
      } while (take('|'));
      if (bytes > levelBytesMax)
         throw SqlError(sqlstate::programLimitExceeded, "lquery level is too large")
             .detail("Total size of level exceeds the maximum allowed (" + std::to_string(levelBytesMax) + " bytes).");
   }

   LtreeWord word(bool followsNegation) {
      const size_t begin = at_;
      while (at_ < text_.size() && isLtreeLabelChar(text_[at_]))
         ++at_;
      const size_t size = at_ - begin;
      if (size == 0 && !followsNegation) refuse();
      LtreeWord word{text_.substr(begin, size)};
      for (;; ++at_) {
         if (isAt('*'))
            word.isPrefix = true;
         else if (isAt('@'))
            word.ignoresCase = true;
         else if (isAt('%'))
            word.comparesParts = true;
         else
            break;
      }
      const bool ends = at_ == text_.size() || isAt('.') || isAt('|') || isAt('{');
      if (!ends) refuse();
      if (size == 0)
         throw SqlError(sqlstate::syntaxError, "lquery syntax error at character " + std::to_string(begin + 1))
             .detail("Empty labels are not allowed.");
      requireLtreeLabelSize(size, begin + size + 1);
      return word;
   }

   void repeats(Lquery::Item& item) {
      item.low = 0;
      item.high = Lquery::repeatsMax;
      const bool hasLow = !isAt(',');
      if (hasLow) item.low = item.high = number("Low");
      if (take(',')) {
         item.high = Lquery::repeatsMax;
         const size_t begin = at_;
         if (!isAt('}')) item.high = number("High");
         if (item.low > item.high)
            throw SqlError(sqlstate::syntaxError, "lquery syntax error")
                .detail("Low limit (" + std::to_string(item.low) + ") is greater than high limit (" +
                        std::to_string(item.high) + "), at character " + std::to_string(begin + 1) + ".");
      }
      if (!take('}')) refuse();
   }

   uint32_t number(const char* limit) {
      const size_t begin = at_;
      int64_t value = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
         const int digit = text_[at_] - '0';
         if (__builtin_mul_overflow(value, int64_t{10}, &value) || __builtin_add_overflow(value, digit, &value))
            value = INT64_MAX;
      }
      if (at_ == begin) refuse();
      const auto narrow = static_cast<int32_t>(value); // atoi(), which PostgreSQL calls, keeps these bits
      if (narrow < 0 || static_cast<uint32_t>(narrow) > Lquery::repeatsMax)
         throw SqlError(sqlstate::programLimitExceeded, "lquery syntax error")
             .detail(std::string(limit) + " limit (" + std::to_string(narrow) + ") exceeds the maximum allowed (" +
                     std::to_string(Lquery::repeatsMax) + "), at character " + std::to_string(begin + 1) + ".");
      return static_cast<uint32_t>(narrow);
   }

   const std::string_view text_;
   std::vector<Lquery::Item>& items_;
   size_t at_ = 0;
};

Lquery::Lquery(std::string_view text) {
   LqueryParser(text, items_).run();
}

bool Lquery::Item::matches(std::string_view label) const {
   if (words.empty()) return true;
   const bool isOne =
       std::any_of(words.begin(), words.end(), [&](const LtreeWord& word) { return word.matches(label); });
   return isOne != isNegated;
}

/// Item after item, the places in the path where the items so far may end: labels times items steps at most.
bool Lquery::matches(std::string_view path) const {
   const std::vector<std::string_view> labels = ltreeLabels(path);
   const size_t count = labels.size();
   std::vector<bool> ends(count + 1), next(count + 1);
   ends[0] = true;
   for (const Item& item : items_) {
      checkInterrupted();
      bool isAlive = false;
      size_t run = 0;           // labels before `at` that match, one after the other
      size_t begin = count + 1; // the last place where the item may begin, so that it has `low` labels
      bool hasBegun = false;    // no label before the first place where an item may begin is of interest
      for (size_t at = 0; at <= count; ++at) {
         if (at > 0) run = hasBegun && item.matches(labels[at - 1]) ? run + 1 : 0;
         hasBegun = hasBegun || ends[at];
         if (at >= item.low && ends[at - item.low]) begin = at - item.low;
         next[at] = begin <= at && at - begin <= item.high && at - begin <= run;
         isAlive = isAlive || next[at];
      }
      if (!isAlive) return false;
      ends.swap(next);
   }
   return ends[count];
}

std::string Lquery::text() const {
   std::string out;
   for (const Item& item : items_) {
      if (!out.empty()) out += '.';
      if (item.isNegated) out += '!';
      for (const LtreeWord& word : item.words) {
         if (&word != &item.words.front()) out += '|';
         word.appendTo(out);
      }
      const bool isAny = item.words.empty();
      if (isAny) out += '*';
      if (!item.isCounted || (isAny && item.low == 0 && item.high == repeatsMax)) continue;
      out += '{';
      if (item.low == item.high) {
         out += std::to_string(item.low);
      } else {
         if (item.low > 0) out += std::to_string(item.low);
         out += ',';
         if (item.high < repeatsMax) out += std::to_string(item.high);
      }
      out += '}';
   }
   return out;
}

// ---- formulas ----

class LtxtqueryParser {
public:
   LtxtqueryParser(std::string_view text, std::vector<Ltxtquery::Node>& nodes) : text_(text), nodes_(nodes) {}

   void run() {
      disjunction();
      if (at_ < text_.size()) refuse();
   }

private:
   static constexpr size_t wordSizeMax = 255, wordBytesMax = 65535;

   [[noreturn]] static void refuse() { throw SqlError(sqlstate::syntaxError, "syntax error"); }
   static bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
   bool isAt(char c) const { return at_ < text_.size() && text_[at_] == c; }
   /// Whether the operator comes next. Before operators only blanks may stand, before operands any white space.
   /// PostgreSQL also skips what is not ASCII before operators.
   bool takeOperator(char c) {
      while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] & 0x80) != 0))
         ++at_;
      if (!isAt(c)) return false;
      ++at_;
      return true;
   }
   uint32_t add(Ltxtquery::Node node) {
      nodes_.push_back(node);
      return static_cast<uint32_t>(nodes_.size() - 1);
   }

   uint32_t disjunction() {
      uint32_t left = conjunction();
      while (takeOperator('|')) {
         const uint32_t right = conjunction();
         left = add({'|', left, right});
      }
      return left;
   }
   uint32_t conjunction() {
      uint32_t left = operand();
      while (takeOperator('&')) {
         const uint32_t right = operand();
         left = add({'&', left, right});
      }
      return left;
   }
   uint32_t operand() {
      checkStack();
      while (at_ < text_.size() && isSpace(text_[at_]))
         ++at_;
      if (isAt('!')) {
         ++at_;
         const uint32_t operand = this->operand();
         return add({'!', operand});
      }
      if (isAt('(')) {
         ++at_;
         const uint32_t inner = disjunction();
         if (!takeOperator(')')) refuse();
         return inner;
      }
      return add({'w', 0, 0, word()});
   }
   LtreeWord word() {
      const size_t begin = at_;
      while (at_ < text_.size() && isLtreeLabelChar(text_[at_]))
         ++at_;
      const size_t size = at_ - begin;
      if (size == 0) throw SqlError(sqlstate::syntaxError, "operand syntax error");
      LtreeWord word{text_.substr(begin, size)};
      for (; at_ < text_.size(); ++at_) {
         const char c = text_[at_];
         if (c == '*')
            word.isPrefix = true;
         else if (c == '@')
            word.ignoresCase = true;
         else if (c == '%')
            word.comparesParts = true;
         else
            break;
      }
      if (at_ < text_.size() && isLtreeLabelChar(text_[at_]))
         throw SqlError(sqlstate::syntaxError, "modifiers syntax error");
      if (size > wordBytesMax) throw SqlError(sqlstate::invalidParameterValue, "word is too long");
      if (wordBytes_ > wordBytesMax) throw SqlError(sqlstate::invalidParameterValue, "value is too big");
      if (size > wordSizeMax) throw SqlError(sqlstate::invalidParameterValue, "operand is too long");
      wordBytes_ += size + 1;
      return word;
   }

   const std::string_view text_;
   std::vector<Ltxtquery::Node>& nodes_;
   size_t at_ = 0, wordBytes_ = 0;
};

Ltxtquery::Ltxtquery(std::string_view text) {
   LtxtqueryParser(text, nodes_).run();
}

bool Ltxtquery::matches(std::string_view path) const {
   const std::vector<std::string_view> labels = ltreeLabels(path);
   std::vector<bool> results(nodes_.size());
   for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      switch (node.kind) {
      case '!': results[i] = !results[node.left]; break;
      case '&': results[i] = results[node.left] && results[node.right]; break;
      case '|': results[i] = results[node.left] || results[node.right]; break;
      default:
         checkInterrupted();
         results[i] = std::any_of(labels.begin(), labels.end(),
                                  [&](std::string_view label) { return node.word.matches(label); });
      }
   }
   return results.back();
}

/// PostgreSQL writes parentheses around every "|" below another operator.
void Ltxtquery::append(std::string& out, uint32_t index, bool isEnclosed) const {
   checkStack();
   const Node& node = nodes_[index];
   if (node.kind == 'w') return node.word.appendTo(out);
   if (node.kind == '!') {
      const bool isWord = nodes_[node.left].kind == 'w';
      out += isWord ? "!" : "!( ";
      append(out, node.left, true);
      if (!isWord) out += " )";
      return;
   }
   const bool needsParentheses = node.kind == '|' && !isEnclosed;
   if (needsParentheses) out += "( ";
   append(out, node.left, false);
   out += ' ';
   out += node.kind;
   out += ' ';
   append(out, node.right, false);
   if (needsParentheses) out += " )";
}

std::string Ltxtquery::text() const {
   std::string out;
   append(out, static_cast<uint32_t>(nodes_.size() - 1), true);
   return out;
}

// ---- forms ----

namespace {

void append(std::string& out, const void* value) {
   const auto text = valueAt<StringView>(value);
   out += text.view();
}

template <typename Query>
void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   putValue(target, arena.copyString(Query(text).text()));
}

void receiveLquery(void* target, std::string_view bytes, int32_t typmod, Arena& arena) {
   parse<Lquery>(target, receiveLtreeText("lquery", bytes), typmod, arena);
}
void receiveLtxtquery(void* target, std::string_view bytes, int32_t typmod, Arena& arena) {
   parse<Ltxtquery>(target, receiveLtreeText("ltxtquery", bytes), typmod, arena);
}

template <typename Query>
constexpr TypeForm queryForm(Oid oid, void (*receive)(void*, std::string_view, int32_t, Arena&)) {
   return {.oid = oid,
           .wireSize = -1,
           .textGrowth = 1,
           .appendText = append,
           .parseText = parse<Query>,
           .appendBinary = appendLtreeBinary,
           .parseBinary = receive,
           .isOrdered = false};
}

} // namespace

const TypeForm lqueryForm = queryForm<Lquery>(oid::lquery, receiveLquery);
const TypeForm ltxtqueryForm = queryForm<Ltxtquery>(oid::ltxtquery, receiveLtxtquery);

} // namespace ouzel
