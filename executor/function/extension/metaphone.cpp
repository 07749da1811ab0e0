#include <string>

#include "executor/function/extension/double_metaphone.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"

// metaphone() of the extension fuzzystrmatch: Lawrence Philips' code of how an English word sounds, with the rules that
// PostgreSQL follows. '0' stands for "th", 'X' for "sh".

namespace ouzel::executor {

namespace {

bool isOneOf(char c, std::string_view letters) {
   return c != '\0' && letters.find(c) != std::string_view::npos;
}
bool isVowel(char c) {
   return isOneOf(c, "AEIOU");
}
bool softens(char c) { ///< C and G before it
   return isOneOf(c, "EIY");
}

/// Codes one text.
class Metaphone {
public:
   Metaphone(std::string_view text, size_t lengthMax) : lengthMax_(lengthMax) {
      for (const char c : text)
         text_ += asciiUpper(c);
   }

   std::string run() {
      while (at_ < text_.size() && !isLetter(text_[at_]))
         ++at_;
      if (at_ == text_.size()) return {};
      begin();
      for (; at_ < text_.size() && code_.size() < lengthMax_; ++at_)
         if (isLetter(text_[at_]) && (text_[at_] != before(1) || text_[at_] == 'C')) sound(text_[at_]);
      code_.resize(std::min(code_.size(), lengthMax_));
      return std::move(code_);
   }

private:
   static bool isLetter(char c) { return c >= 'A' && c <= 'Z'; }
   /// Characters around the current one; zero beyond the ends.
   char after(size_t count) const { return at_ + count < text_.size() ? text_[at_ + count] : '\0'; }
   char before(size_t count) const { return count <= at_ ? text_[at_ - count] : '\0'; }
   void put(std::string_view sounds) { code_ += sounds; }

   /// Letters that sound otherwise where a word begins.
   void begin() {
      const char first = text_[at_], next = after(1);
      if (first == 'A' && next == 'E') {
         put("E");
         at_ += 2;
      } else if (isOneOf(first, "GKP") && next == 'N') {
         put("N");
         at_ += 2;
      } else if (first == 'X') {
         put("S");
         ++at_;
      } else if (isVowel(first)) {
         put(std::string(1, first));
         ++at_;
      } else if (first == 'W' && isOneOf(next, "HR")) {
         put(std::string(1, next));
         at_ += 2;
      } else if (first == 'W' && isVowel(next)) {
         put("W");
         at_ += 2;
      }
   }

   void sound(char letter) {
      const char next = after(1);
      switch (letter) {
      case 'B':
         if (before(1) != 'M') put("B");
         break;
      case 'C': soundC(); break;
      case 'D':
         if (next == 'G' && softens(after(2))) {
            put("J");
            ++at_;
         } else {
            put("T");
         }
         break;
      case 'G': soundG(); break;
      case 'H':
         if (isVowel(next) && !isOneOf(before(1), "CGPST")) put("H");
         break;
      case 'K':
         if (before(1) != 'C') put("K");
         break;
      case 'P': put(next == 'H' ? "F" : "P"); break;
      case 'Q': put("K"); break;
      case 'S': soundS(); break;
      case 'T': soundT(); break;
      case 'V': put("F"); break;
      case 'W':
         if (isVowel(next)) put("W");
         break;
      case 'X': put("KS"); break;
      case 'Y':
         if (isVowel(next)) put("Y");
         break;
      case 'Z': put("S"); break;
      case 'F':
      case 'J':
      case 'L':
      case 'M':
      case 'N':
      case 'R': put(std::string(1, letter)); break;
      default: break; // a vowel
      }
   }

   void soundC() {
      if (softens(after(1))) {
         if (after(1) == 'I' && after(2) == 'A')
            put("X");
         else if (before(1) != 'S')
            put("S");
      } else if (after(1) == 'H') {
         put(after(2) == 'R' || before(1) == 'S' ? "K" : "X");
         ++at_;
      } else {
         put("K");
      }
   }

   void soundG() {
      const char next = after(1);
      if (next == 'H') {
         if (isOneOf(before(3), "BDH") || before(4) == 'H') return;
         put("F");
         ++at_;
      } else if (next == 'N') {
         const bool isSilent = !isLetter(after(2)) || (after(2) == 'E' && after(3) == 'D');
         if (!isSilent) put("K");
      } else {
         put(softens(next) && before(1) != 'G' ? "J" : "K");
      }
   }

   void soundS() {
      if (after(1) == 'I' && isOneOf(after(2), "AO")) return put("X");
      if (after(1) == 'H') {
         put("X");
         ++at_;
      } else if (after(1) == 'C' && after(2) == 'H' && after(3) == 'W') {
         put("X");
         at_ += 2;
      } else {
         put("S");
      }
   }

   void soundT() {
      if (after(1) == 'I' && isOneOf(after(2), "AO")) return put("X");
      if (after(1) == 'H') {
         put("0");
         ++at_;
      } else {
         put("T");
      }
   }

   std::string text_, code_;
   const size_t lengthMax_;
   size_t at_ = 0;
};

StringView metaphone(const StringView& text, int32_t lengthMax, KernelEnv& env) {
   const auto refuse = [](SqlState state, const std::string& message) { throw SqlError(state, message); };
   if (text.empty()) return env.copy({});
   const std::string tooLong = " exceeds the maximum length of 255 bytes";
   if (text.size() > 255) refuse(sqlstate::invalidParameterValue, "argument" + tooLong);
   if (lengthMax > 255) refuse(sqlstate::invalidParameterValue, "output" + tooLong);
   if (lengthMax <= 0) refuse(sqlstate::zeroLengthCharacterString, "output cannot be empty string");
   return env.copy(Metaphone(text.view(), static_cast<size_t>(lengthMax)).run());
}

StringView dmetaphone(const StringView& text, KernelEnv& env) {
   return env.copy(doubleMetaphone(text.view()).primary);
}
StringView dmetaphoneAlternate(const StringView& text, KernelEnv& env) {
   return env.copy(doubleMetaphone(text.view()).alternate);
}

} // namespace

void registerMetaphone() {
   addKernel<dmetaphone>("fuzzystrmatch/dmetaphone", totalKernel);
   addKernel<dmetaphoneAlternate>("fuzzystrmatch/dmetaphone_alt", totalKernel);
   addKernel<metaphone>("fuzzystrmatch/metaphone");
}

} // namespace ouzel::executor
