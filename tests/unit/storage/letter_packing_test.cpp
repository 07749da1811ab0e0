#include "storage/block/letter_packing.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "common/error/sql_error.hpp"
#include "storage/block/chunk_encoder.hpp"

using namespace ouzel;
using namespace ouzel::storage;

namespace {

/// A page of plain strings.
std::string pageOf(const std::vector<std::string>& strings) {
   PageHeader header;
   header.encoding = PageEncoding::PlainStrings;
   header.rowCount = static_cast<uint32_t>(strings.size());
   header.bodyOffset = sizeof header;
   StringBody body;
   body.lengthWidth = 4;
   body.lengthsOffset = sizeof body + static_cast<uint32_t>((strings.size() + stringGranule - 1) / stringGranule * 4);
   body.bytesOffset = body.lengthsOffset + static_cast<uint32_t>(strings.size() * 4);
   std::string page(header.bodyOffset + body.bytesOffset, '\0');
   std::memcpy(page.data(), &header, sizeof header);
   std::memcpy(page.data() + header.bodyOffset, &body, sizeof body);
   for (size_t i = 0; i < strings.size(); ++i) {
      const auto length = static_cast<uint32_t>(strings[i].size());
      std::memcpy(page.data() + header.bodyOffset + body.lengthsOffset + i * 4, &length, 4);
   }
   for (const std::string& string : strings)
      page += string;
   return page;
}

std::string random(std::mt19937_64& rng, std::string_view letters, size_t length) {
   std::string text;
   for (size_t i = 0; i < length; ++i)
      text.push_back(letters[rng() % letters.size()]);
   return text;
}

size_t checkRoundTrip(const std::vector<std::string>& strings) {
   const std::string page = pageOf(strings);
   const std::string packed = packLetters(page, SIZE_MAX);
   CATCH_REQUIRE(!packed.empty());
   std::string out(page.size() + 8, '?');
   unpackLetters(packed, out.data(), page.size());
   CATCH_REQUIRE(std::string_view(out).substr(0, page.size()) == page);
   CATCH_CHECK(packLetters(page, packed.size()).size() == packed.size());
   CATCH_CHECK(packLetters(page, packed.size() - 1).empty());
   return packed.size();
}

constexpr std::string_view base32 = "abcdefghijklmnopqrstuvwxyz234567";

} // namespace

CATCH_TEST_CASE("letters of base 32 take five bits, and those that never change none") {
   std::mt19937_64 rng(1);
   std::vector<std::string> ids;
   for (int i = 0; i < 4000; ++i)
      ids.push_back("did:plc:" + random(rng, base32, 24));
   const size_t size = checkRoundTrip(ids);
   CATCH_CHECK(size < ids.size() * 15 + 1024); // 24 * 5 bits
   CATCH_CHECK(size >= ids.size() * 15);
}

CATCH_TEST_CASE("few strings with other letters do not widen the rest") {
   std::mt19937_64 rng(2);
   std::vector<std::string> ids;
   for (int i = 0; i < 4096; ++i)
      ids.push_back(i % 1024 == 7 ? "did:web:WWW.Example.COM-\xc3\xa4\xff" : "did:plc:" + random(rng, base32, 24));
   CATCH_CHECK(checkRoundTrip(ids) < ids.size() * 15 + 2048);
}

CATCH_TEST_CASE("packed text gives back any strings") {
   std::mt19937_64 rng(3);
   checkRoundTrip({""});
   checkRoundTrip({"", "", ""});
   checkRoundTrip({"x"});
   checkRoundTrip({std::string(1000, 'x'), ""});
   checkRoundTrip({std::string(255, 'a'), std::string(256, 'b'), std::string(257, 'c')});
   std::string all;
   for (int c = 0; c < 256; ++c)
      all.push_back(static_cast<char>(c));
   for (int round = 0; round < 300; ++round) {
      const std::string_view letters =
          std::string_view(all).substr(rng() % 200, 1 + rng() % (round % 3 == 0 ? 256 : 40));
      const size_t longest = 1 + rng() % (round % 7 == 0 ? 600 : 40);
      std::vector<std::string> strings;
      for (size_t i = 0, count = 1 + rng() % 700; i < count; ++i)
         strings.push_back(random(rng, letters, round % 2 ? longest : rng() % (longest + 1)));
      for (size_t i = 0; i < strings.size() && round % 5 == 0; i += 300 + rng() % 400)
         strings[i] = random(rng, all, rng() % 100);
      checkRoundTrip(strings);
   }
}

CATCH_TEST_CASE("a damaged packed page is refused or gives other bytes, and nothing is read outside of it") {
   std::mt19937_64 rng(4);
   std::vector<std::string> strings;
   for (int i = 0; i < 100; ++i)
      strings.push_back(i == 50 ? "EXCEPTION" : random(rng, base32, rng() % 300));
   const std::string page = pageOf(strings);
   const std::string packed = packLetters(page, SIZE_MAX);
   for (int round = 0; round < 3000; ++round) {
      std::string damaged = packed;
      if (round % 3 == 0) damaged.resize(rng() % packed.size());
      for (uint64_t i = 0; i < 1 + rng() % 4 && !damaged.empty(); ++i)
         damaged[rng() % (round % 2 ? damaged.size() : std::min<size_t>(damaged.size(), 200))] =
             static_cast<char>(rng());
      const std::vector<char> copy(damaged.begin(), damaged.end()); // exactly as large, for AddressSanitizer
      std::vector<char> out(page.size() + 8);
      try {
         unpackLetters({copy.data(), copy.size()}, out.data(), page.size());
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
      }
   }
}
