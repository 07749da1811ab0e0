#include "executor/function/extension/double_metaphone.hpp"

#include <algorithm>
#include <initializer_list>

#include "common/text/ascii.hpp"

// The rules by letter. A rule that applies says the sounds and how many letters they stand for.

namespace ouzel::executor {

namespace {

constexpr size_t codeLength = 4;

class Coder {
public:
   explicit Coder(std::string_view word) {
      for (const char c : word)
         word_ += asciiUpper(c);
      last_ = static_cast<int>(word_.size()) - 1;
      isSlavoGermanic_ = word_.find_first_of("WK") != std::string::npos || word_.find("CZ") != std::string::npos;
      isGermanic_ = at(0, {"VAN ", "VON ", "SCH"});
   }

   DoubleMetaphone run() {
      if (at(0, {"GN", "KN", "PN", "WR", "PS"})) here_ = 1; // the first is silent
      if (letter(0) == 'X') say("S", 1);
      while (here_ <= last_ && (code_.primary.size() < codeLength || code_.alternate.size() < codeLength))
         step();
      code_.primary.resize(std::min(code_.primary.size(), codeLength));
      code_.alternate.resize(std::min(code_.alternate.size(), codeLength));
      return std::move(code_);
   }

private:
   /// A blank beyond the end, nothing before the beginning.
   char letter(int place) const {
      if (place < 0) return '\0';
      return place <= last_ ? word_[static_cast<size_t>(place)] : place <= last_ + 5 ? ' ' : '\0';
   }
   char next(int count = 1) const { return letter(here_ + count); }
   bool isVowel(int place) const { return letter(place) != '\0' && std::string_view("AEIOUY").find(letter(place)) < 6; }
   /// Whether one of the texts stands at a place of the word.
   bool at(int place, std::initializer_list<std::string_view> texts) const {
      if (place < 0) return false;
      return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
         for (size_t i = 0; i < text.size(); ++i)
            if (letter(place + static_cast<int>(i)) != text[i]) return false;
         return true;
      });
   }
   bool from(int offset, std::initializer_list<std::string_view> texts) const { return at(here_ + offset, texts); }
   bool isOneOf(int offset, std::string_view letters) const {
      const char c = next(offset);
      return c != '\0' && letters.find(c) != std::string_view::npos;
   }

   void say(std::string_view primary, std::string_view alternate, int letters) {
      code_.primary += primary;
      code_.alternate += alternate;
      here_ += letters;
   }
   void say(std::string_view sounds, int letters) { say(sounds, sounds, letters); }
   /// A letter, and the same behind it.
   void sayDoubled(std::string_view sounds) { say(sounds, next() == letter(here_) ? 2 : 1); }

   void step() {
      switch (letter(here_)) {
      case 'A':
      case 'E':
      case 'I':
      case 'O':
      case 'U':
      case 'Y': return say(here_ == 0 ? "A" : "", 1);
      case 'B': return sayDoubled("P");
      case 'C': return sayC();
      case 'D': return sayD();
      case 'F': return sayDoubled("F");
      case 'G': return sayG();
      case 'H': // only between vowels, or before one that begins the word
         return (here_ == 0 || isVowel(here_ - 1)) && isVowel(here_ + 1) ? say("H", 2) : say("", 1);
      case 'J': return sayJ();
      case 'K': return sayDoubled("K");
      case 'L': return sayL();
      case 'M': {
         const bool isSilentB = from(-1, {"UMB"}) && (here_ + 1 == last_ || from(2, {"ER"}));
         return say("M", isSilentB || next() == 'M' ? 2 : 1);
      }
      case 'N': return sayDoubled("N");
      case 'P':
         if (next() == 'H') return say("F", 2);
         return say("P", isOneOf(1, "PB") ? 2 : 1);
      case 'Q': return sayDoubled("K");
      case 'R': {
         const bool isFrench =
             here_ == last_ && !isSlavoGermanic_ && from(-2, {"IE"}) && !from(-4, {"ME", "MA"}); // rogier
         return say(isFrench ? "" : "R", "R", next() == 'R' ? 2 : 1);
      }
      case 'S': return sayS();
      case 'T': return sayT();
      case 'V': return sayDoubled("F");
      case 'W': return sayW();
      case 'X': {
         const bool isSilent = here_ == last_ && (from(-3, {"IAU", "EAU"}) || from(-2, {"AU", "OU"})); // breaux
         return say(isSilent ? "" : "KS", isOneOf(1, "CX") ? 2 : 1);
      }
      case 'Z': return sayZ();
      default: return say("", 1);
      }
   }

   void sayC() {
      const bool isAch = here_ > 1 && !isVowel(here_ - 2) && from(-1, {"ACH"}) && next(2) != 'I' &&
                         (next(2) != 'E' || from(-2, {"BACHER", "MACHER"}));
      if (isAch) return say("K", 2);
      if (here_ == 0 && from(0, {"CAESAR"})) return say("S", 2);
      if (from(0, {"CHIA"})) return say("K", 2); // chianti
      if (from(0, {"CH"})) return sayCh();
      if (from(0, {"CZ"}) && !from(-2, {"WICZ"})) return say("S", "X", 2);
      if (from(1, {"CIA"})) return say("X", 3); // focaccia
      if (from(0, {"CC"}) && !(here_ == 1 && letter(0) == 'M')) {
         if (!isOneOf(2, "IEH") || from(2, {"HU"})) return say("K", 2);                        // bacchus
         const bool isHard = (here_ == 1 && letter(0) == 'A') || from(-1, {"UCCEE", "UCCES"}); // accident
         return say(isHard ? "KS" : "X", 3);
      }
      if (from(0, {"CK", "CG", "CQ"})) return say("K", 2);
      if (from(0, {"CI", "CE", "CY"})) return say("S", from(0, {"CIO", "CIE", "CIA"}) ? "X" : "S", 2);
      if (from(1, {" C", " Q", " G"})) return say("K", 3); // mac caffrey
      say("K", isOneOf(1, "CKQ") && !from(1, {"CE", "CI"}) ? 2 : 1);
   }

   void sayCh() {
      if (here_ > 0 && from(0, {"CHAE"})) return say("K", "X", 2); // michael
      const bool isGreek = here_ == 0 && from(1, {"HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM"}) && !at(0, {"CHORE"});
      if (isGreek) return say("K", 2);
      const bool isHard = isGermanic_ || from(-2, {"ORCHES", "ARCHIT", "ORCHID"}) || isOneOf(2, "TS") ||
                          ((here_ == 0 || isOneOf(-1, "AOUE")) && isOneOf(2, "LRNMBHFVW "));
      if (isHard) return say("K", 2);
      if (here_ == 0) return say("X", 2);
      at(0, {"MC"}) ? say("K", 2) : say("X", "K", 2);
   }

   void sayD() {
      if (from(0, {"DG"})) return isOneOf(2, "IEY") ? say("J", 3) : say("TK", 2); // edge, edgar
      say("T", isOneOf(1, "TD") ? 2 : 1);
   }

   void sayG() {
      if (next() == 'H') return sayGh();
      if (next() == 'N') {
         if (here_ == 1 && isVowel(0) && !isSlavoGermanic_) return say("KN", "N", 2);
         if (!from(2, {"EY"}) && next() != 'Y' && !isSlavoGermanic_) return say("N", "KN", 2); // not cagney
         return say("KN", 2);
      }
      if (from(1, {"LI"}) && !isSlavoGermanic_) return say("KL", "L", 2); // tagliaro
      const bool isFirst =
          here_ == 0 && (next() == 'Y' || from(1, {"ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER"}));
      if (isFirst) return say("K", "J", 2);
      const bool isGer = (from(1, {"ER"}) || next() == 'Y') && !at(0, {"DANGER", "RANGER", "MANGER"}) &&
                         !isOneOf(-1, "EI") && !from(-1, {"RGY", "OGY"});
      if (isGer) return say("K", "J", 2);
      if (isOneOf(1, "EIY") || from(-1, {"AGGI", "OGGI"})) {
         if (isGermanic_ || from(1, {"ET"})) return say("K", 2);
         return say("J", from(1, {"IER "}) ? "J" : "K", 2);
      }
      sayDoubled("K");
   }

   void sayGh() {
      if (here_ > 0 && !isVowel(here_ - 1)) return say("K", 2);
      if (here_ == 0) return say(next(2) == 'I' ? "J" : "K", 2); // ghislane, ghost
      const bool isSilent =
          (here_ > 1 && isOneOf(-2, "BHD")) || (here_ > 2 && isOneOf(-3, "BHD")) || (here_ > 3 && isOneOf(-4, "BH"));
      if (isSilent) return say("", 2);                                              // hugh, bough, broughton
      if (here_ > 2 && next(-1) == 'U' && isOneOf(-3, "CGLRT")) return say("F", 2); // laugh, tough
      say(next(-1) != 'I' ? "K" : "", 2);
   }

   void sayJ() {
      const bool isSan = at(0, {"SAN "});
      if (from(0, {"JOSE"}) || isSan) {
         if ((here_ == 0 && next(4) == ' ') || isSan) return say("H", 1);
         return say("J", "H", 1);
      }
      const int letters = next() == 'J' ? 2 : 1;
      if (here_ == 0) return say("J", "A", letters);                                                  // jankelowicz
      if (isVowel(here_ - 1) && !isSlavoGermanic_ && isOneOf(1, "AO")) return say("J", "H", letters); // bajador
      if (here_ == last_) return say("J", "", letters);
      say(!isOneOf(1, "LTKSNMBZ") && !isOneOf(-1, "SKL") ? "J" : "", letters);
   }

   void sayL() {
      if (next() != 'L') return say("L", 1);
      const bool endsIt = here_ == last_ - 2 && from(-1, {"ILLO", "ILLA", "ALLE"});
      const bool isSpanish =
          endsIt || ((at(last_ - 1, {"AS", "OS"}) || at(last_, {"A", "O"})) && from(-1, {"ALLE"})); // cabrillo
      say("L", isSpanish ? "" : "L", 2);
   }

   void sayS() {
      if (from(-1, {"ISL", "YSL"})) return say("", 1); // island
      if (here_ == 0 && from(0, {"SUGAR"})) return say("X", "S", 1);
      if (from(0, {"SH"})) return say(from(1, {"HEIM", "HOEK", "HOLM", "HOLZ"}) ? "S" : "X", 2);
      if (from(0, {"SIO", "SIA"})) return say("S", isSlavoGermanic_ ? "S" : "X", 3);
      if ((here_ == 0 && isOneOf(1, "MNLW")) || next() == 'Z') return say("S", "X", next() == 'Z' ? 2 : 1); // smith
      if (from(0, {"SC"})) return saySc();
      const bool isFrench = here_ == last_ && from(-2, {"AI", "OI"}); // artois
      say(isFrench ? "" : "S", "S", isOneOf(1, "SZ") ? 2 : 1);
   }

   void saySc() {
      if (next(2) == 'H') {
         if (from(3, {"ER", "EN"})) return say("X", "SK", 3); // schermerhorn
         if (from(3, {"OO", "UY", "ED", "EM"})) return say("SK", 3);
         const bool isGerman = here_ == 0 && !isVowel(3) && letter(3) != 'W';
         return say("X", isGerman ? "S" : "X", 3);
      }
      say(isOneOf(2, "IEY") ? "S" : "SK", 3);
   }

   void sayT() {
      if (from(0, {"TION", "TIA", "TCH"})) return say("X", 3);
      if (from(0, {"TH", "TTH"})) {
         if (from(2, {"OM", "AM"}) || isGermanic_) return say("T", 2); // thomas
         return say("0", "T", 2);
      }
      say("T", isOneOf(1, "TD") ? 2 : 1);
   }

   void sayW() {
      if (from(0, {"WR"})) return say("R", 2);
      if (here_ == 0 && (isVowel(1) || from(0, {"WH"}))) say("A", isVowel(1) ? "F" : "A", 0); // wasserman
      const bool isSlavic =
          (here_ == last_ && isVowel(here_ - 1)) || from(-1, {"EWSKI", "EWSKY", "OWSKI", "OWSKY"}) || at(0, {"SCH"});
      if (isSlavic) return say("", "F", 1); // arnow
      if (from(0, {"WICZ", "WITZ"})) return say("TS", "FX", 4);
      say("", 1);
   }

   void sayZ() {
      if (next() == 'H') return say("J", 2); // zhao
      const bool isSlavic = from(1, {"ZO", "ZI", "ZA"}) || (isSlavoGermanic_ && here_ > 0 && next(-1) != 'T');
      say("S", isSlavic ? "TS" : "S", next() == 'Z' ? 2 : 1);
   }

   std::string word_;
   int last_ = -1, here_ = 0;
   bool isSlavoGermanic_ = false, isGermanic_ = false;
   DoubleMetaphone code_;
};

} // namespace

DoubleMetaphone doubleMetaphone(std::string_view word) {
   return Coder(word).run();
}

} // namespace ouzel::executor
