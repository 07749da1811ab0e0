#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unicode/coll.h>
#include <unicode/tblcoll.h>
#include <vector>

namespace ouzel::executor {

/// Makes the sort keys of one locale: bytes whose order is the order that ICU gives the texts, and whose only zero is
/// at their end.
///
/// ICU's own keys take a microsecond each. Texts of letters below U+0180 get theirs from a table of collation elements,
/// other texts from ICU's elements; the form of both is that of ICU's keys (Unicode Technical Standard 10, section 7),
/// without the compression of primary weights. A locale whose order is not that of its elements, because it reorders
/// scripts, compares accents backwards or case first, gets keys from ICU. So do all texts of such a locale.
///
/// One thread uses an object. of() gives each thread its own.
class CollationKeys {
public:
   /// The makers of the last locales that the thread asked for stay. Throws XX000 if ICU has no collator for the
   /// locale.
   static CollationKeys& of(std::string_view locale);
   explicit CollationKeys(std::string_view locale);
   ~CollationKeys();

   /// The key. Valid until the next call.
   std::string_view key(std::string_view text);
   /// False: ICU makes all keys. For tests.
   bool hasElements() const { return rules_ != nullptr; }

private:
   /// The weights of one collation element, without the bits of case.
   struct Element {
      uint32_t primary = 0;
      uint16_t secondary = 0, tertiary = 0;
   };
   static constexpr uint32_t lettersEnd = 0x180;
   static constexpr size_t elementsMax = 3;
   struct Letter {
      uint8_t count = 0;
      bool isSimple = false; ///< its elements do not depend on its neighbours
      bool isPlain = false;  ///< all weights but the primary ones are the common one
      uint8_t primaryLength = 0;
      std::array<char, 4 * elementsMax> primary; ///< of a plain letter: its primary weights
      std::array<Element, elementsMax> elements;
   };
   static constexpr uint16_t commonWeight = 0x0500;
   /// The weights of one level, of which runs of the common one are written as their length.
   class Level {
   public:
      explicit Level(uint8_t shift) : shift_(shift) {}
      void clear() {
         bytes_.clear();
         common_ = 0;
      }
      void add(uint16_t weight) {
         if (weight == commonWeight)
            ++common_;
         else if (weight != 0)
            addOther(weight);
      }
      void addCommon(uint32_t count) { common_ += count; }
      /// Ends the level.
      const std::string& finish();

   private:
      void addOther(uint16_t weight);
      void addRun(bool beforeHigher);

      const uint8_t shift_; ///< of the first byte of weights above the common one: makes room for lengths of runs
      uint32_t common_ = 0;
      std::string bytes_;
   };

   void fillLetters();
   std::vector<Element> elementsOf(const icu::UnicodeString& text);
   /// False: the text has letters that are not in the table.
   bool addLetters(std::string_view text);
   void begin();
   void add(const Element& element);
   std::string_view finish();
   std::string_view keyOfIcu(const icu::UnicodeString& text);

   std::unique_ptr<icu::Collator> collator_;
   const icu::RuleBasedCollator* rules_ = nullptr; ///< collator_, if its elements decide; else null
   int levels_ = 3;                                ///< of weights that count: 1 only the primary ones, 3 all
   std::array<Letter, lettersEnd> letters_;
   std::string key_;
   Level secondary_, tertiary_;
};

} // namespace ouzel::executor
