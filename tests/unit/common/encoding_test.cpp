#include <catch2/catch.hpp>
#include <random>

#include "common/error/sql_error.hpp"
#include "common/text/client_text.hpp"
#include "common/text/encoding_converter.hpp"
#include "common/text/utf8.hpp"

using namespace ouzel;

namespace {

using Convert = void (*)(CharacterEncoding, std::string_view, const TextSink&);

/// Empty if a character has no equivalent.
std::optional<std::string> converted(Convert convert, CharacterEncoding encoding, std::string_view text) {
   std::string result;
   try {
      convert(encoding, text, [&result](std::string_view part) { result += part; });
   } catch (const SqlError& error) {
      CATCH_REQUIRE(error.state() == sqlstate::untranslatableCharacter);
      return std::nullopt;
   }
   return result;
}

bool isValid(CharacterEncoding encoding, std::string_view text) {
   try {
      checkEncoded(encoding, text);
   } catch (const SqlError& error) {
      CATCH_REQUIRE(error.state() == sqlstate::characterNotInRepertoire);
      return false;
   }
   return true;
}

} // namespace

CATCH_TEST_CASE("each byte of an encoding of bytes comes back from its character") {
   for (int32_t number = 0; number < encodingCount; ++number) {
      const CharacterEncoding encoding = *encodingOf(number);
      if (!canConvert(encoding) || characterBytesMax(encoding) > 1) continue;
      for (int byte = 1; byte < 256; ++byte) {
         const std::string text(1, static_cast<char>(byte));
         CATCH_REQUIRE(isValid(encoding, text));
         const auto utf8 = converted(toUtf8, encoding, text);
         if (!utf8) continue;
         CATCH_REQUIRE(isValid(CharacterEncoding::Utf8, *utf8));
         CATCH_REQUIRE(converted(fromUtf8, encoding, *utf8) == text);
      }
   }
}

CATCH_TEST_CASE("any bytes are refused or converted to valid text") {
   std::mt19937_64 random(17);
   for (int round = 0; round < 40'000; ++round) {
      const CharacterEncoding encoding = *encodingOf(static_cast<int32_t>(random() % encodingCount));
      std::string text(random() % 6, '\0');
      for (char& c : text)
         c = static_cast<char>(random() % 3 ? 0x80 + random() % 128 : random() % 128);
      if (!isValid(encoding, text) || !canConvert(encoding)) continue;
      size_t characters = 0;
      for (std::string_view rest = text; !rest.empty(); ++characters)
         rest.remove_prefix(characterBytes(encoding, rest));
      const auto utf8 = converted(toUtf8, encoding, text);
      if (!utf8) continue;
      CATCH_REQUIRE(isValid(CharacterEncoding::Utf8, *utf8));
      CATCH_REQUIRE(characterCount(*utf8) >= characters);
   }
}

CATCH_TEST_CASE("encodings are found by their names") {
   CATCH_CHECK(encodingNamed("utf-8") == CharacterEncoding::Utf8);
   CATCH_CHECK(encodingNamed("Windows-1252") == CharacterEncoding::Win1252);
   CATCH_CHECK(encodingNamed("nosuch") == std::nullopt);
   CATCH_CHECK(encodingName(CharacterEncoding::ShiftJis2004) == "SHIFT_JIS_2004");
   CATCH_CHECK(encodingOf(42) == std::nullopt);
}

CATCH_TEST_CASE("a text that is cut anywhere has whole characters and the beginning of one") {
   std::mt19937_64 random(18);
   for (int round = 0; round < 20'000; ++round) {
      const CharacterEncoding encoding = *encodingOf(static_cast<int32_t>(random() % encodingCount));
      std::string text(random() % 12, '\0');
      for (char& c : text)
         c = static_cast<char>(random() % 2 ? 0x81 + random() % 126 : 0x30 + random() % 50);
      if (!isValid(encoding, text)) continue;
      const std::string_view first = std::string_view(text).substr(0, random() % (text.size() + 1));
      const size_t whole = wholeCharacterBytes(encoding, first);
      CATCH_REQUIRE(whole <= first.size());
      CATCH_REQUIRE(first.size() - whole < static_cast<size_t>(std::max(1, characterBytesMax(encoding))));
      CATCH_REQUIRE(isValid(encoding, text.substr(0, whole)));
      CATCH_REQUIRE(isValid(encoding, text.substr(whole)));
   }
}

CATCH_TEST_CASE("messages come through in every encoding") {
   std::string storage;
   const ClientText latin(CharacterEncoding::Latin1), own(CharacterEncoding::SqlAscii);
   CATCH_CHECK(latin.toClientAnyway("a€ü") == "a?\xfc");
   CATCH_CHECK(own.toClientAnyway("a€ü") == "a€ü");
   CATCH_CHECK(latin.toClient("ü", storage) == "\xfc");
   CATCH_CHECK(latin.fromClient("\xfc", storage) == "ü");
   CATCH_CHECK_THROWS_AS(latin.toClient("€", storage), SqlError);
   CATCH_CHECK_THROWS_AS(own.fromClient("\xfc", storage), SqlError);
}
