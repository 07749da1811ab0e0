#include "common/text/utf8.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "common/error/sql_error.hpp"

using namespace ouzel;

CATCH_TEST_CASE("valid UTF-8 passes at every alignment") {
   for (size_t pad = 0; pad < 20; ++pad) {
      const std::string text =
          std::string(pad, 'a') + "\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
      CATCH_CHECK(findInvalidUtf8(text) == text.size());
   }
}

CATCH_TEST_CASE("malformed UTF-8 is found where it starts") {
   for (const char* bad : {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98"}) {
      for (size_t pad = 0; pad < 20; ++pad)
         CATCH_CHECK(findInvalidUtf8(std::string(pad, 'a') + bad) == pad);
   }
   for (size_t pad = 0; pad < 20; ++pad)
      CATCH_CHECK(findInvalidUtf8(std::string(pad, 'a') + std::string(1, '\0') + "bcdefghijklm") == pad);
}

CATCH_TEST_CASE("the error names the bytes as PostgreSQL does") {
   try {
      checkUtf8("ab\xe2\x28\xa1");
      CATCH_FAIL("not refused");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::characterNotInRepertoire);
      CATCH_CHECK(std::string(error.what()) == "invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1");
   }
}

CATCH_TEST_CASE("characters of texts of every length are counted") {
   const std::string_view parts[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\xa6"};
   for (uint32_t first = 0; first < 4; ++first)
      for (uint32_t characters = 0; characters < 150; ++characters) {
         std::string text;
         for (uint32_t i = 0; i < characters; ++i)
            text += parts[(first + i * i) % 4];
         CATCH_CHECK(characterCount(text) == characters);
         CATCH_CHECK(characterCount(text + std::string(characters, 'x')) == 2 * characters);
      }
}
