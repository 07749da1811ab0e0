#include "executor/function/extension/unaccent.hpp"

#include <memory>
#include <string>
#include <unicode/normalizer2.h>
#include <unicode/translit.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unordered_map>

#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// The extension unaccent. What a character becomes is taken from Unicode: its decomposition without the marks, and what
// ICU writes in ASCII for letters, punctuation and symbols of Latin texts.

namespace ouzel::executor {

namespace {

/// Says what each character becomes that is more than its plain form.
class Rules {
public:
   Rules() {
      UErrorCode status = U_ZERO_ERROR;
      ascii_.reset(icu::Transliterator::createInstance("Latin-ASCII", UTRANS_FORWARD, status));
      decomposition_ = icu::Normalizer2::getNFKDInstance(status);
      canonical_ = icu::Normalizer2::getNFDInstance(status);
      if (U_FAILURE(status)) throwInternal("ICU has no rules for Latin-ASCII");
      // The blocks that have letters with accents, or what stands beside them in texts.
      constexpr std::pair<UChar32, UChar32> blocks[] = {{0xa0, 0x487},     {0x1d00, 0x2270},  {0x2329, 0x2c80},
                                                        {0x3000, 0x33ff},  {0xa720, 0xa800},  {0xab30, 0xab70},
                                                        {0xfb00, 0x10000}, {0x1f100, 0x1f12b}};
      for (const auto& [first, end] : blocks)
         for (UChar32 c = first; c < end; ++c)
            if (u_isdefined(c)) add(c);
   }

   /// Null: the character stays.
   const std::string* find(uint32_t character) const {
      const auto found = rules_.find(character);
      return found == rules_.end() ? nullptr : &found->second;
   }

private:
   static bool isAscii(const icu::UnicodeString& text) {
      for (int32_t i = 0; i < text.length(); ++i)
         if (text[i] >= 0x80) return false;
      return !text.isEmpty();
   }

   void add(UChar32 c) {
      const bool isMark = (c >= 0x300 && c < 0x363) || (c >= 0x20d0 && c < 0x20f0 && u_charType(c) == U_ENCLOSING_MARK);
      if (isMark) {
         rules_.emplace(c, "");
         return;
      }
      if (c == 0x2103 || c == 0x2109) { // degrees of Celsius and Fahrenheit
         rules_.emplace(c, c == 0x2103 ? "°C" : "°F");
         return;
      }
      if (!isLetterOrSymbol(c)) return;
      const icu::UnicodeString plain(c);
      icu::UnicodeString text = plain;
      ascii_->transliterate(text);
      text.trim();
      if (text == plain || !isAscii(text)) text = withoutMarks(c);
      if (text != plain && !text.isEmpty()) text.toUTF8String(rules_[static_cast<uint32_t>(c)]);
   }

   /// Forms of a character in other places, as superscripts, stay as they are.
   bool isLetterOrSymbol(UChar32 c) const {
      const auto kind = static_cast<UDecompositionType>(u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE));
      icu::UnicodeString parts;
      const bool hasParts = decomposition_->getRawDecomposition(c, parts) != 0;
      switch (kind) {
      case U_DT_SUPER:
      case U_DT_SUB:
      case U_DT_CIRCLE: return false;
      case U_DT_FONT: return c >= 0x2100 && c < 0x2150;
      case U_DT_VERTICAL: return parts[0] != '_';
      case U_DT_SQUARE: return c >= 0x3371 && isAscii(parts.findAndReplace(u"\u2215", u"/")); // "m/s"
      case U_DT_CANONICAL: {
         icu::UnicodeString base;
         canonical_->getDecomposition(c, base);
         const UChar32 first = base.char32At(0);
         if (u_getIntPropertyValue(first, UCHAR_DECOMPOSITION_TYPE) != U_DT_NONE) return false;
         return hasParts && parts.countChar32() > 1 && (first < 0x80 ? u_isalpha(first) != 0 : losesAccents(first, c));
      }
      default: // arrows, the rupee sign and low lines stay
         return (c < 0x2190 || c > 0x2194) && c != 0x20a8 && !(kind != U_DT_WIDE && hasParts && parts == u"_");
      }
   }
   /// Whether letters that are no Latin ones lose their accents: Greek ones do, of Cyrillic ones only IO.
   static bool losesAccents(UChar32 base, UChar32 whole) {
      UErrorCode status = U_ZERO_ERROR;
      return uscript_getScript(base, &status) == USCRIPT_GREEK || whole == 0x401 || whole == 0x451;
   }

   icu::UnicodeString withoutMarks(UChar32 c) const {
      const icu::UnicodeString whole = decomposition_->normalize(icu::UnicodeString(c), status_);
      icu::UnicodeString base;
      for (int32_t i = 0; i < whole.length(); i += U16_LENGTH(whole.char32At(i)))
         if (u_charType(whole.char32At(i)) != U_NON_SPACING_MARK) base.append(whole.char32At(i));
      base.trim();
      const auto kind = static_cast<UDecompositionType>(u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE));
      const bool isLetter = base.countChar32() == 1 && kind == U_DT_CANONICAL && losesAccents(base.char32At(0), c);
      return isLetter || isAscii(base) ? base : icu::UnicodeString(c);
   }

   std::unique_ptr<icu::Transliterator> ascii_;
   const icu::Normalizer2 *decomposition_ = nullptr, *canonical_ = nullptr;
   mutable UErrorCode status_ = U_ZERO_ERROR;
   std::unordered_map<uint32_t, std::string> rules_;
};

/// Appends the text without its accents.
template <typename Out>
void appendPlain(Out& out, std::string_view all) {
   static const Rules rules;
   size_t plainFrom = 0;
   for (size_t at = 0; at < all.size();) {
      const size_t next = nextCharacter(all, at);
      const std::string* rule = next - at == 1 ? nullptr : rules.find(decodeCharacter(all.substr(at)));
      if (rule) {
         out.append(all.substr(plainFrom, at - plainFrom));
         out.append(*rule);
         plainFrom = next;
      }
      at = next;
   }
   out.append(all.substr(plainFrom));
}

StringView unaccent(const StringView& text, KernelEnv& env) {
   ValueBuilder result(env.strings);
   result.reserve(text.size());
   appendPlain(result, text.view());
   return result.finish();
}

} // namespace

std::string withoutAccents(std::string_view text) {
   std::string plain;
   appendPlain(plain, text);
   return plain;
}

void registerUnaccent() {
   addKernel<unaccent>("unaccent/unaccent", totalKernel);
}

} // namespace ouzel::executor
