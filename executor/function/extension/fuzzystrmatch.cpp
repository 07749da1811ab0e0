#include <algorithm>
#include <vector>

#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"

// The extension fuzzystrmatch, without its phonetic codes of words (metaphone.cpp): Levenshtein distances and Soundex.

namespace ouzel::executor {

namespace {

// ---- Levenshtein ----

struct Costs {
   int32_t insertion = 1, deletion = 1, substitution = 1;
};

std::vector<uint32_t> charactersOf(std::string_view text) {
   std::vector<uint32_t> characters;
   for (size_t at = 0; at < text.size(); at = nextCharacter(text, at))
      characters.push_back(decodeCharacter(text.substr(at)));
   return characters;
}

/// What it costs to make one text of the other.
int32_t distance(const StringView& from, const StringView& to, const Costs& costs) {
   const std::vector<uint32_t> source = charactersOf(from.view()), target = charactersOf(to.view());
   if (source.empty()) return static_cast<int32_t>(target.size()) * costs.insertion;
   if (target.empty()) return static_cast<int32_t>(source.size()) * costs.deletion;
   constexpr size_t charactersMax = 255;
   if (source.size() > charactersMax || target.size() > charactersMax)
      throw SqlError(sqlstate::invalidParameterValue,
                     "levenshtein argument exceeds maximum length of " + std::to_string(charactersMax) + " characters");
   // row[i]: the cost of making the target's beginning of the first i characters of the source.
   std::vector<int32_t> row(source.size() + 1), next(row);
   for (size_t i = 0; i < row.size(); ++i)
      row[i] = static_cast<int32_t>(i) * costs.deletion;
   for (size_t k = 0; k < target.size(); ++k) {
      next[0] = static_cast<int32_t>(k + 1) * costs.insertion;
      for (size_t i = 1; i < row.size(); ++i)
         next[i] = std::min({row[i] + costs.insertion, next[i - 1] + costs.deletion,
                             row[i - 1] + (source[i - 1] == target[k] ? 0 : costs.substitution)});
      std::swap(row, next);
   }
   return row.back();
}

/// Any cost above the bound is the same; a negative bound is none.
int32_t bounded(int32_t cost, int32_t bound) {
   return bound >= 0 && cost > bound ? bound + 1 : cost;
}

int32_t levenshtein(const StringView& from, const StringView& to) {
   return distance(from, to, {});
}
int32_t levenshteinWithCosts(const StringView& from, const StringView& to, int32_t insertion, int32_t deletion,
                             int32_t substitution) {
   return distance(from, to, {insertion, deletion, substitution});
}
int32_t levenshteinLessEqual(const StringView& from, const StringView& to, int32_t bound) {
   return bounded(distance(from, to, {}), bound);
}
int32_t levenshteinLessEqualWithCosts(const StringView& from, const StringView& to, int32_t insertion, int32_t deletion,
                                      int32_t substitution, int32_t bound) {
   return bounded(distance(from, to, {insertion, deletion, substitution}), bound);
}

// ---- Soundex ----

bool isLetter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The digit of a letter, '0' for those that have no sound; other characters are themselves.
char soundOf(char c) {
   constexpr std::string_view digits = "01230120022455012623010202"; // from A to Z
   return isLetter(c) ? digits[static_cast<size_t>(asciiUpper(c) - 'A')] : c;
}

/// A letter and three digits; empty for a text without letters.
std::string soundexOf(std::string_view text) {
   constexpr size_t length = 4;
   size_t at = 0;
   while (at < text.size() && !isLetter(text[at]))
      ++at;
   if (at == text.size()) return {};
   std::string code(1, asciiUpper(text[at]));
   for (++at; at < text.size() && code.size() < length; ++at)
      if (isLetter(text[at]) && soundOf(text[at]) != soundOf(text[at - 1]) && soundOf(text[at]) != '0')
         code += soundOf(text[at]);
   code.resize(length, '0');
   return code;
}

StringView soundex(const StringView& text, KernelEnv& env) {
   return env.copy(soundexOf(text.view()));
}

/// In how many places the codes agree.
int32_t difference(const StringView& a, const StringView& b) {
   std::string left = soundexOf(a.view()), right = soundexOf(b.view());
   left.resize(4);
   right.resize(4);
   int32_t same = 0;
   for (size_t i = 0; i < 4; ++i)
      same += left[i] == right[i] ? 1 : 0;
   return same;
}

} // namespace

void registerFuzzystrmatch() {
   addKernel<levenshtein>("fuzzystrmatch/levenshtein");
   addKernel<levenshteinWithCosts>("fuzzystrmatch/levenshtein_with_costs");
   addKernel<levenshteinLessEqual>("fuzzystrmatch/levenshtein_less_equal");
   addKernel<levenshteinLessEqualWithCosts>("fuzzystrmatch/levenshtein_less_equal_with_costs");
   addKernel<soundex>("fuzzystrmatch/soundex", totalKernel);
   addKernel<difference>("fuzzystrmatch/difference", totalKernel);
   registerMetaphone();
}

} // namespace ouzel::executor
