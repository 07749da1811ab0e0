#include "executor/function/text/collation_keys.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <unicode/coll.h>
#include <unicode/unistr.h>
#include <vector>

using namespace ouzel::executor;

// Keys have the order that ICU's comparison gives.

namespace {

/// A text of some letters, among them such as contract, expand, are ignored, or are in no table.
std::string randomText(std::mt19937& random) {
   static const std::vector<std::string> pieces{
       "a",  "b",  "c",  "h",    "ch", "l",  "ll", "dz", "A", "B", "Z", "z", "s",      "ss", "ß", "ä",  "Ä",  "ö",
       "å",  "aa", "æ",  "œ",    "é",  "è",  "e",  "ê",  "ñ", "n", "ŋ", "ĳ", "ŉ",      "'",  "-", " ",  "_",  "1",
       "2",  "10", "\t", ".",    "·",  "l·", "ı",  "i",  "İ", "I", "ж", "я", "\u0301", "ά",  "ｶ", "カ", "中", "ko",
       "한", "th", "y",  "\x01", "ø",  "õ",  "w",  "v",  "đ", "ž", "𝒜", "ﬁ", "\u0308", "qu", "º", "²",  "€",  "%"};
   std::string text;
   for (size_t i = random() % 7; i > 0; --i)
      text += pieces[random() % pieces.size()];
   return text;
}

int sign(int value) {
   return (value > 0) - (value < 0);
}

} // namespace

CATCH_TEST_CASE("collation keys have ICU's order in every locale", "[collation]") {
   int32_t count = 0;
   const icu::Locale* locales = icu::Collator::getAvailableLocales(count);
   CATCH_REQUIRE(count > 100);
   std::mt19937 random(7);
   size_t withElements = 0, wrong = 0;
   for (int32_t i = 0; i < count; ++i) {
      UErrorCode status = U_ZERO_ERROR;
      const std::string tag = locales[i].toLanguageTag<std::string>(status);
      CollationKeys keys(tag);
      withElements += keys.hasElements() ? 1 : 0;
      const std::unique_ptr<icu::Collator> collator(icu::Collator::createInstance(locales[i], status));
      CATCH_REQUIRE(U_SUCCESS(status));
      for (int n = 0; n < 400; ++n) {
         const std::string a = randomText(random);
         std::string b = randomText(random);
         if (n % 3 == 0) b = a + b;
         const std::string key(keys.key(a));
         const int expected = collator->compareUTF8(a, b, status), got = sign(key.compare(keys.key(b)));
         if (expected == got && key.find('\0') == key.size() - 1) continue;
         if (++wrong < 10)
            CATCH_UNSCOPED_INFO(tag << ": '" << a << "' and '" << b << "': " << got << ", ICU: " << expected);
      }
   }
   CATCH_CHECK(wrong == 0);
   CATCH_CHECK(withElements > 20);
   for (const char* fast : {"", "en-US", "de", "sv", "es", "cs", "en-u-ks-level2", "und-u-ks-level1"})
      CATCH_CHECK(CollationKeys(fast).hasElements());
   for (const char* slow : {"en-u-kn-true", "en-u-ka-shifted", "und-u-ks-level4", "fr-u-kb-true"})
      CATCH_CHECK_FALSE(CollationKeys(slow).hasElements());
}

CATCH_TEST_CASE("texts whose keys differ in levels that do not count are equal", "[collation]") {
   std::mt19937 random(9);
   size_t wrong = 0;
   for (const char* base : {"und", "de", "sv", "es", "cs", "lt", "da", "ja", "vi", "th"})
      for (const char* level : {"-u-ks-level1", "-u-ks-level2"}) {
         UErrorCode status = U_ZERO_ERROR;
         const std::string tag = std::string(base) + level;
         CollationKeys keys(tag);
         const std::unique_ptr<icu::Collator> collator(
             icu::Collator::createInstance(icu::Locale::forLanguageTag(tag, status), status));
         CATCH_REQUIRE(U_SUCCESS(status));
         for (int n = 0; n < 1000; ++n) {
            const std::string a = randomText(random);
            std::string b = n % 5 == 0 ? a : randomText(random);
            for (char& c : b)
               if (n % 5 == 0 && c >= 'a' && c <= 'z' && random() % 2) c = static_cast<char>(c - 'a' + 'A');
            const std::string key(keys.key(a));
            wrong += sign(key.compare(keys.key(b))) != collator->compareUTF8(a, b, status) ? 1 : 0;
         }
      }
   CATCH_CHECK(wrong == 0);
}

CATCH_TEST_CASE("long runs of letters of one weight keep the order", "[collation]") {
   CollationKeys keys("de");
   const std::string many(100, 'a');
   const std::string plain(keys.key(many)), accent(keys.key(many + "ä")), longer(keys.key(many + "a")),
       early(keys.key("ä" + many)), upper(keys.key(many + "A"));
   CATCH_CHECK(plain < longer);
   CATCH_CHECK(longer < upper);
   CATCH_CHECK(upper < accent);
   CATCH_CHECK(accent < early);
}
