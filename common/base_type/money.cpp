#include "common/base_type/money.hpp"

#include <cctype>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

uint64_t magnitude(int64_t value) {
   return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

void append(std::string& out, const void* place) {
   const auto value = valueAt<int64_t>(place);
   const uint64_t cents = magnitude(value);
   const std::string whole = std::to_string(cents / 100);
   if (value < 0) out.push_back('-');
   out.push_back('$');
   for (size_t i = 0; i < whole.size(); ++i) {
      if (i > 0 && (whole.size() - i) % 3 == 0) out.push_back(',');
      out.push_back(whole[i]);
   }
   out.push_back('.');
   out.push_back(static_cast<char>('0' + cents % 100 / 10));
   out.push_back(static_cast<char>('0' + cents % 10));
}

bool isDigit(char c) {
   return c >= '0' && c <= '9';
}

/// Reads an amount from left to right, as cash_in().
class MoneyReader {
public:
   explicit MoneyReader(std::string_view text) : text_(text), rest_(text) {}

   int64_t read() {
      skipBlanks();
      take('$');
      skipBlanks();
      if (take('-') || take('('))
         isNegative_ = true;
      else
         take('+');
      skipBlanks();
      take('$');
      skipBlanks();
      readDigits();
      readEnd();
      if (isNegative_) return negated_;
      if (negated_ == INT64_MIN) throwOutOfRange();
      return -negated_;
   }

private:
   [[noreturn]] void throwOutOfRange() const {
      throw SqlError(sqlstate::numericValueOutOfRange,
                     "value \"" + std::string(text_) + "\" is out of range for type money");
   }
   char peek() const { return rest_.empty() ? '\0' : rest_[0]; }
   bool take(char c) {
      if (rest_.empty() || rest_[0] != c) return false;
      rest_.remove_prefix(1);
      return true;
   }
   void skipBlanks() {
      while (std::isspace(static_cast<unsigned char>(peek())))
         rest_.remove_prefix(1);
   }
   /// The amount is gathered as a negative number, of which there is one more.
   void append(int64_t digit, bool shifts) {
      if ((shifts && __builtin_mul_overflow(negated_, int64_t{10}, &negated_)) ||
          __builtin_sub_overflow(negated_, digit, &negated_))
         throwOutOfRange();
   }
   void readDigits() {
      bool hasPoint = false;
      int32_t decimals = 0;
      for (; !rest_.empty(); rest_.remove_prefix(1)) {
         if (isDigit(peek()) && decimals < 2) {
            append(peek() - '0', true);
            if (hasPoint) ++decimals;
         } else if (peek() == '.' && !hasPoint) {
            hasPoint = true;
         } else if (peek() != ',') {
            break;
         }
      }
      if (isDigit(peek()) && peek() >= '5') append(1, false);
      for (; decimals < 2; ++decimals)
         append(0, true);
   }
   void readEnd() {
      while (isDigit(peek()))
         rest_.remove_prefix(1);
      while (!rest_.empty()) {
         if (take('-'))
            isNegative_ = true;
         else if (std::isspace(static_cast<unsigned char>(peek())) || peek() == ')' || peek() == '+' || peek() == '$')
            rest_.remove_prefix(1);
         else
            throwInvalidSyntax("money", text_);
      }
   }

   std::string_view text_, rest_;
   int64_t negated_ = 0;
   bool isNegative_ = false;
};

/// A number below 1,000 in words, as num_word() of PostgreSQL's cash.c.
std::string wordsBelow1000(uint64_t number) {
   static constexpr const char* small[] = {
       "zero", "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",
       "ten",  "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
   static constexpr const char* tens[] = {"",      "",      "twenty",  "thirty", "forty",
                                          "fifty", "sixty", "seventy", "eighty", "ninety"};
   const uint64_t rest = number % 100;
   const auto below100 = [&] {
      if (rest < 20) return std::string(small[rest]);
      return std::string(tens[rest / 10]) + (rest % 10 ? " " + std::string(small[rest % 10]) : "");
   };
   if (number < 100) return below100();
   const std::string hundreds = std::string(small[number / 100]) + " hundred";
   if (rest == 0) return hundreds;
   return hundreds + (rest < 20 ? " and " : " ") + below100();
}

} // namespace

std::string moneyInWords(int64_t value) {
   const uint64_t cents = magnitude(value), whole = cents / 100;
   std::string words;
   if (value < 0) words += "minus ";
   static constexpr struct {
      uint64_t unit;
      const char* name;
   } units[] = {{1'000'000'000'000'000, " quadrillion "},
                {1'000'000'000'000, " trillion "},
                {1'000'000'000, " billion "},
                {1'000'000, " million "},
                {1'000, " thousand "}};
   for (const auto& unit : units)
      if (const uint64_t group = whole / unit.unit % 1000; group > 0) words += wordsBelow1000(group) + unit.name;
   if (whole % 1000 > 0) words += wordsBelow1000(whole % 1000);
   if (whole == 0) words += "zero";
   words += whole == 1 ? " dollar and " : " dollars and ";
   words += wordsBelow1000(cents % 100);
   words += cents % 100 == 1 ? " cent" : " cents";
   words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
   return words;
}

const TypeForm moneyForm{
    oid::money,
    8,
    3,
    append,
    [](void* target, std::string_view text, int32_t, Arena&) { putValue(target, MoneyReader(text).read()); },
    [](std::string& out, const void* v) { appendBig(out, valueAt<int64_t>(v)); },
    [](void* target, std::string_view bytes, int32_t, Arena&) { putValue(target, readOnly<int64_t>(bytes)); }};

} // namespace ouzel
