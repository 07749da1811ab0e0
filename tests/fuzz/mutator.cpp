#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <cctype>

namespace ouzel::fuzz {

namespace {

/// Tokens that provoke errors of types, ranges and nesting.
constexpr std::string_view spices[] = {"NULL",
                                       "0",
                                       "-1",
                                       "2147483647",
                                       "-2147483648",
                                       "9223372036854775807",
                                       "(-9223372036854775807 - 1)",
                                       "1e300",
                                       "0.1",
                                       "99999999999999999999999999999999999999999",
                                       "'NaN'",
                                       "'infinity'",
                                       "''",
                                       "'\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa6'",
                                       "'2000-02-29'",
                                       "'-infinity'::timestamp",
                                       "interval '1 mon -1 day'",
                                       "true",
                                       "DISTINCT",
                                       "ALL",
                                       "NOT",
                                       "(SELECT NULL)",
                                       "(SELECT 1 WHERE false)",
                                       "count(*)",
                                       "generate_series(1, 3)",
                                       "row_number() OVER ()",
                                       "ARRAY[1, NULL]",
                                       "LIMIT 0",
                                       "OFFSET 1",
                                       "::text",
                                       "::numeric",
                                       "::int2",
                                       "::float8",
                                       "::date",
                                       "::interval",
                                       "::bytea",
                                       "UNION ALL SELECT 1",
                                       "WHERE false",
                                       "GROUP BY 1",
                                       "ORDER BY 1 DESC",
                                       "$1",
                                       "IS NOT DISTINCT FROM",
                                       "LEFT JOIN",
                                       "LATERAL",
                                       "(",
                                       ")",
                                       ",",
                                       "*",
                                       ";"};

bool isWordByte(char c) {
   return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

/// Splits text into words, numbers, quoted texts and single other characters; drops blanks.
std::vector<std::string_view> tokenize(std::string_view text) {
   std::vector<std::string_view> tokens;
   for (size_t at = 0; at < text.size();) {
      size_t end = at + 1;
      if (std::isspace(static_cast<unsigned char>(text[at]))) {
         at = end;
         continue;
      }
      if (isWordByte(text[at])) {
         while (end < text.size() && isWordByte(text[end]))
            ++end;
      } else if (text[at] == '\'' || text[at] == '"') {
         while (end < text.size() && text[end] != text[at])
            ++end;
         end = std::min(end + 1, text.size());
      } else if (end < text.size() && std::string_view("::<=>=<>||!~->").find(text.substr(at, 2)) % 2 == 0) {
         ++end;
      }
      tokens.push_back(text.substr(at, end - at));
      at = end;
   }
   return tokens;
}

enum class Kind : uint8_t { Word, Number, Text, Operator, Bracket };

Kind kindOf(std::string_view token) {
   const char c = token[0];
   if (std::isdigit(static_cast<unsigned char>(c))) return Kind::Number;
   if (isWordByte(c) || c == '"') return Kind::Word;
   if (c == '\'') return Kind::Text;
   return std::string_view("(),;[]").find(c) != std::string_view::npos ? Kind::Bracket : Kind::Operator;
}

struct Stretch {
   std::ptrdiff_t begin, end;
};

/// The tokens between two commas or brackets of one level, around or behind `at`; empty if there are none.
Stretch argument(const std::vector<std::string_view>& tokens, size_t at) {
   size_t begin = at;
   while (begin < tokens.size() && tokens[begin] != "(" && tokens[begin] != ",")
      ++begin;
   size_t end = ++begin;
   int depth = 0;
   for (; end < tokens.size(); ++end) {
      if (depth == 0 && (tokens[end] == "," || tokens[end] == ")")) break;
      depth += tokens[end] == "(" ? 1 : tokens[end] == ")" ? -1 : 0;
   }
   if (end >= tokens.size()) return {0, 0};
   return {static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(end)};
}

size_t below(std::mt19937_64& random, size_t bound) {
   return static_cast<size_t>(random() % std::max<size_t>(bound, 1));
}

} // namespace

Mutator::Mutator(const std::vector<std::string>& seeds, bool isText) : seeds_(seeds), isText_(isText) {
   if (!isText) return;
   for (const std::string& seed : seeds)
      for (const auto token : tokenize(std::string_view(seed).substr(1)))
         tokens_.push_back(token);
}

std::string Mutator::mutate(uint64_t number) const {
   Random random(number);
   const std::string& seed = seeds_[below(random, seeds_.size())];
   // The first byte selects the mode for which the seed was made, so half of the mutations keep it.
   const char first = random() % 2 == 0 ? seed[0] : static_cast<char>(random());
   if (!isText_) return first + mutateBytes(random, seed.substr(1));
   return seed[0] + mutateText(random, std::string_view(seed).substr(1));
}

std::string Mutator::mutateText(Random& random, std::string_view seed) const {
   std::vector<std::string_view> tokens = tokenize(seed);
   for (size_t changes = 1 + below(random, 4); changes > 0; --changes)
      changeTokens(random, tokens);
   std::string text;
   for (const auto token : tokens) {
      text += token;
      text += ' ';
   }
   return random() % 32 == 0 ? mutateBytes(random, std::move(text)) : text;
}

void Mutator::changeTokens(Random& random, std::vector<std::string_view>& tokens) const {
   const size_t at = below(random, tokens.size());
   const size_t count = std::min(1 + below(random, 1 + below(random, 12)), tokens.size() - std::min(at, tokens.size()));
   const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
   const auto placeEnd = place + static_cast<std::ptrdiff_t>(count);
   switch (random() % 12) {
   case 9:
   case 10:
   case 11: // replace an argument or a clause in brackets by one of any seed
      swapBrackets(random, tokens);
      break;
   case 0: // delete one token or a few
      tokens.erase(place, placeEnd);
      break;
   case 1: { // repeat tokens
      const std::vector<std::string_view> copy(place, placeEnd);
      tokens.insert(placeEnd, copy.begin(), copy.end());
      break;
   }
   case 2: // replace a token by one of its kind
   case 3:
      for (int tries = 0; tries < 20 && !tokens.empty(); ++tries) {
         const auto other = tokens_[below(random, tokens_.size())];
         if (kindOf(other) != kindOf(tokens[at])) continue;
         tokens[at] = other;
         break;
      }
      break;
   case 4:
      if (!tokens.empty()) tokens[at] = spices[below(random, std::size(spices))];
      break;
   case 5: tokens.insert(place, spices[below(random, std::size(spices))]); break;
   case 6: { // replace a stretch by one of another seed
      const std::string& other = seeds_[below(random, seeds_.size())];
      const auto theirs = tokenize(std::string_view(other).substr(1));
      const size_t from = below(random, theirs.size());
      const size_t length = std::min(1 + below(random, 16), theirs.size() - std::min(from, theirs.size()));
      tokens.erase(place, placeEnd);
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at),
                    theirs.begin() + static_cast<std::ptrdiff_t>(from),
                    theirs.begin() + static_cast<std::ptrdiff_t>(from + length));
      break;
   }
   case 7: // exchange two tokens
      if (!tokens.empty()) std::swap(tokens[at], tokens[below(random, tokens.size())]);
      break;
   case 8: // make the whole query a subquery
      if (!tokens.empty() && tokens[0] != ";" && tokens.back() != ";") {
         tokens.insert(tokens.begin(), {"SELECT", "*", "FROM", "("});
         tokens.insert(tokens.end(), {")", "z"});
      }
      break;
   }
}

void Mutator::swapBrackets(Random& random, std::vector<std::string_view>& tokens) const {
   const Stretch mine = argument(tokens, below(random, tokens.size()));
   // Half of the time the argument is from this text itself, whose names resolve.
   const std::string& other = seeds_[below(random, seeds_.size())];
   const auto theirs = random() % 2 == 0 ? tokens : tokenize(std::string_view(other).substr(1));
   const Stretch given = argument(theirs, below(random, theirs.size()));
   if (mine.begin == mine.end || given.begin == given.end) return;
   const std::vector<std::string_view> inserted(theirs.begin() + given.begin, theirs.begin() + given.end);
   tokens.erase(tokens.begin() + mine.begin, tokens.begin() + mine.end);
   tokens.insert(tokens.begin() + mine.begin, inserted.begin(), inserted.end());
}

std::string Mutator::mutateBytes(Random& random, std::string bytes) const {
   for (size_t changes = 1 + below(random, 6); changes > 0; --changes) {
      const size_t at = below(random, bytes.size());
      const size_t count = std::min(1 + below(random, 16), bytes.size() - std::min(at, bytes.size()));
      switch (random() % 7) {
      case 0: bytes.erase(at, count); break;
      case 1: bytes.insert(at, bytes.substr(at, count)); break;
      case 2: bytes.insert(at, 1, static_cast<char>(random())); break;
      case 3:
         if (!bytes.empty()) bytes[at] = static_cast<char>(random());
         break;
      case 4:
         if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
         break;
      case 5: { // extreme lengths and counts
         static constexpr std::string_view edges[] = {std::string_view("\0\0\0\0", 4), "\xff\xff\xff\xff",
                                                      std::string_view("\0\0\0\x04", 4), "\x7f\xff\xff\xff",
                                                      std::string_view("\x80\0\0\0", 4)};
         bytes.replace(at, std::min<size_t>(4, bytes.size() - std::min(at, bytes.size())),
                       edges[below(random, std::size(edges))]);
         break;
      }
      case 6:
         if (!isText_) bytes += seeds_[below(random, seeds_.size())].substr(1);
         break;
      }
   }
   return bytes;
}

} // namespace ouzel::fuzz
