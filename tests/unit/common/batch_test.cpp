#include "common/value/batch.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

// Breaks each invariant of a batch.

using namespace ouzel;

namespace {

constexpr uint32_t rows = 4;

/// Four integers, four booleans, four texts (short, long, NULL, empty).
struct Sound {
   std::array<int32_t, rows> numbers{1, 2, 3, 4};
   std::array<uint8_t, rows> flags{0, 1, 1, 0};
   std::string text = "a text of more than twelve bytes";
   std::array<StringView, rows> texts{StringView("short"), StringView(text), StringView(), StringView("")};
   ValidityWord validity = 0b1011;
   std::array<uint16_t, rows> codes{3, 0, 1, 1};
   std::array<RowIndex, 3> list{0, 1, 3};
   Batch batch;

   Sound() {
      batch.columns = {Vector::flat(PhysicalType::I32, numbers.data(), nullptr),
                       Vector::flat(PhysicalType::Bool, flags.data(), nullptr),
                       Vector::flat(PhysicalType::String, texts.data(), &validity)};
      batch.setDense(rows);
   }
   void useDictionary() {
      batch.columns[0].encoding = Encoding::Dictionary;
      batch.columns[0].codes = codes.data();
      batch.columns[0].dictionarySize = rows;
   }
   bool breaks(const char* what) const { return batch.brokenPromise().find(what) != std::string::npos; }
};

/// Overwrites byte `at` of a StringView's representation.
void poke(StringView& string, size_t at, char byte) {
   std::memcpy(reinterpret_cast<char*>(&string) + at, &byte, 1);
}

} // namespace

CATCH_TEST_CASE("a sound batch breaks no promise") {
   Sound sound;
   CATCH_CHECK(sound.batch.brokenPromise().empty());
   sound.useDictionary();
   sound.batch.selection = Selection::list(sound.list);
   CATCH_CHECK(sound.batch.brokenPromise().empty());
   const PhysicalType types[] = {PhysicalType::I32, PhysicalType::Bool, PhysicalType::String};
   CATCH_CHECK(sound.batch.brokenPromise(types).empty());
}

CATCH_TEST_CASE("selections that promise too much are found") {
   Sound sound;
   sound.batch.selection = Selection::dense(rows - 1);
   CATCH_CHECK(sound.breaks("dense selection of fewer rows"));
   sound.list = {0, 3, 1};
   sound.batch.selection = Selection::list(sound.list);
   CATCH_CHECK(sound.breaks("not ascending"));
   sound.list = {0, 1, 1};
   CATCH_CHECK(sound.breaks("not ascending"));
   sound.list = {0, 1, rows};
   CATCH_CHECK(sound.breaks("past the end"));
   sound.batch.rowCount = 2;
   CATCH_CHECK(sound.breaks("more live rows than rows"));
   sound.batch.rowCount = batchRowsMax + 1;
   CATCH_CHECK(sound.breaks("more than batchRowsMax"));
}

CATCH_TEST_CASE("vectors that cannot be read are found") {
   Sound sound;
   sound.batch.columns[0].data = nullptr;
   CATCH_CHECK(sound.breaks("no data in column 0"));
   sound = Sound();
   sound.batch.columns[1].type = static_cast<PhysicalType>(physicalTypeCount);
   CATCH_CHECK(sound.breaks("type that does not exist"));
   sound = Sound();
   sound.batch.columns[1].encoding = static_cast<Encoding>(7);
   CATCH_CHECK(sound.breaks("encoding that does not exist"));
}

CATCH_TEST_CASE("dictionaries that promise too much are found") {
   Sound sound;
   sound.useDictionary();
   sound.batch.columns[0].dictionarySize = 3;
   CATCH_CHECK(sound.breaks("code past the dictionary's end"));
   sound.list = {1, 2, 3}; // row 0 is not selected
   sound.batch.selection = Selection::list(sound.list);
   CATCH_CHECK(sound.batch.brokenPromise().empty());
   sound.batch.columns[0].dictionarySize = 0;
   CATCH_CHECK(sound.breaks("empty dictionary"));
   sound.batch.columns[0].codes = nullptr;
   CATCH_CHECK(sound.breaks("without codes"));
}

CATCH_TEST_CASE("values that are none are found") {
   Sound flags;
   flags.flags[2] = 2;
   CATCH_CHECK(flags.breaks("boolean that is neither 0 nor 1 in column 1"));
   Sound padding;
   poke(padding.texts[0], 10, 'x');
   CATCH_CHECK(padding.breaks("unused bytes are not zero"));
   Sound reused;
   reused.text[0] = 'b'; // reused memory
   CATCH_CHECK(reused.breaks("differ from its prefix"));
   Sound storage;
   storage.texts[1] = StringView(storage.text, static_cast<StringView::Storage>(2));
   CATCH_CHECK(storage.breaks("no storage class"));
   Sound nowhere;
   std::memset(reinterpret_cast<char*>(&nowhere.texts[1]) + 8, 0, 8);
   CATCH_CHECK(nowhere.breaks("points nowhere"));
   Sound null;
   poke(null.texts[2], 10, 'x'); // bytes of a NULL must only be readable
   CATCH_CHECK(null.batch.brokenPromise().empty());
}

CATCH_TEST_CASE("columns that are not those of the plan are found") {
   const Sound sound;
   const PhysicalType few[] = {PhysicalType::I32, PhysicalType::Bool};
   CATCH_CHECK(sound.batch.brokenPromise(few) == "3 columns instead of 2");
   const PhysicalType others[] = {PhysicalType::I32, PhysicalType::I16, PhysicalType::String};
   CATCH_CHECK(sound.batch.brokenPromise(others).find("another type") == 0);
}
