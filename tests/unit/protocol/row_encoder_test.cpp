#include "protocol/row_encoder.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel;
using namespace ouzel::protocol;
using namespace ouzel::protocol::test;

namespace {

class IntEncoder : public ValueEncoder {
public:
   void append(const Vector& values, const Selection& selection, const ResultColumn&, ValueFormat, std::string& bytes,
               uint32_t* ends) const override {
      for (uint32_t i = 0; i < selection.count(); ++i) {
         if (!values.isNull(selection.row(i))) bytes += std::to_string(values.value<int32_t>(selection.row(i)));
         ends[i] = static_cast<uint32_t>(bytes.size());
      }
   }
};

std::vector<ResultColumn> intAndText() {
   return {{"i", SqlType{oid::int4, -1, 0}, {PhysicalType::I32, 0}, 0, 0},
           {"t", SqlType{oid::text, -1, 100}, {PhysicalType::String, 0}, 0, 0}};
}

} // namespace

CATCH_TEST_CASE("rows of flat, constant and dictionary vectors, with NULLs and a selection") {
   const std::vector<ResultColumn> columns = intAndText();
   const IntEncoder values;
   RowEncoder encoder;
   encoder.begin(columns, {}, values);

   std::vector<int32_t> ints(2048);
   std::vector<StringView> dictionary = {StringView("short"), StringView("a text that is longer than twelve bytes"),
                                         StringView("")};
   std::vector<uint16_t> codes(2048);
   std::vector<ValidityWord> validity(validityWords(2048), ~ValidityWord{0});
   std::vector<RowIndex> rows;
   for (uint32_t i = 0; i < 2048; ++i) {
      ints[i] = static_cast<int32_t>(i * 1000);
      codes[i] = static_cast<uint16_t>(i % 3);
      if (i % 7 == 0) setValidBit(validity.data(), i, false);
      if (i % 2 == 0) rows.push_back(static_cast<RowIndex>(i));
   }
   const ValidityWord dictionaryValidity = 0b011;
   for (const bool selected : {false, true}) {
      for (const bool constant : {false, true}) {
         const int32_t five = 5;
         Batch batch;
         batch.rowCount = 2048;
         batch.selection = selected ? Selection::list(rows) : Selection::dense(2048);
         batch.columns = {
             constant ? Vector::constant(PhysicalType::I32, &five, nullptr)
                      : Vector::flat(PhysicalType::I32, ints.data(), validity.data()),
             {PhysicalType::String, Encoding::Dictionary, dictionary.data(), &dictionaryValidity, codes.data(), 3, 0}};
         std::string out, expected;
         CATCH_CHECK(encoder.encode(batch, 0, out) == batch.liveRows());
         forEachRow(batch.selection, [&](uint32_t row) {
            const std::string first = constant ? "5" : row % 7 == 0 ? "" : std::to_string(ints[row]);
            const std::string second = row % 3 == 2 ? "" : std::string(dictionary[row % 3].view());
            expected += message('D', int16(2) + (!constant && row % 7 == 0 ? int32(-1) : int32(int64_t(first.size()))) +
                                         first + (row % 3 == 2 ? int32(-1) : int32(int64_t(second.size()))) + second);
         });
         CATCH_CHECK(out == expected);
      }
   }
}

CATCH_TEST_CASE("an all-NULL constant, no rows, no columns") {
   const std::vector<ResultColumn> columns = intAndText();
   const IntEncoder values;
   RowEncoder encoder;
   encoder.begin(columns, {}, values);
   const int32_t five = 5;
   const StringView text("x");
   const ValidityWord none = 0;
   Batch batch;
   batch.columns = {Vector::constant(PhysicalType::I32, &five, &none),
                    Vector::constant(PhysicalType::String, &text, &none)};
   batch.setDense(2);
   std::string out;
   encoder.encode(batch, 0, out);
   CATCH_CHECK(readable(out) == "D NULL|NULL\nD NULL|NULL\n");
   out.clear();
   batch.setDense(0);
   CATCH_CHECK(encoder.encode(batch, 0, out) == 0);
   CATCH_CHECK(out.empty());

   encoder.begin({}, {}, values);
   Batch nothing;
   nothing.setDense(2);
   encoder.encode(nothing, 0, out);
   CATCH_CHECK(out == message('D', int16(0)) + message('D', int16(0)));
}

CATCH_TEST_CASE("large values are sent in slices") {
   const std::vector<ResultColumn> columns = intAndText();
   const IntEncoder values;
   RowEncoder encoder;
   encoder.begin(columns, {}, values);
   const std::string large(5 << 20, 'x');
   std::vector<int32_t> ints = {1, 2, 3, 4};
   std::vector<StringView> texts(4, StringView(large));
   Batch batch;
   batch.columns = {Vector::flat(PhysicalType::I32, ints.data(), nullptr),
                    Vector::flat(PhysicalType::String, texts.data(), nullptr)};
   batch.setDense(4);
   std::string out;
   uint32_t row = 0, slices = 0;
   while (row < 4) {
      out.clear();
      const uint32_t before = row;
      row = encoder.encode(batch, row, out);
      CATCH_REQUIRE(row > before);
      CATCH_CHECK(out.size() == (row - before) * (large.size() + 16));
      ++slices;
   }
   CATCH_CHECK(slices == 4);
}
