#include "executor/materialize/row_packing.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "common/value/string_view.hpp"
#include "executor/materialize/key_hash.hpp"

// Packing and unpacking returns the same bytes, except for the addresses of strings.

namespace ouzel::executor {
namespace {

/// A layout with columns of all sizes and states with a string in their middle.
struct Rows {
   RowLayout layout;
   std::vector<std::byte> bytes;
   std::vector<std::unique_ptr<std::string>> strings;

   std::byte* begin() { return bytes.data(); }
   std::byte* end() { return bytes.data() + bytes.size(); }
   StringView& string(size_t row, uint32_t offset) {
      return *reinterpret_cast<StringView*>(bytes.data() + row * layout.rowSize() + offset);
   }
};

std::unique_ptr<Rows> randomRows(uint32_t count, uint32_t seed, uint32_t longest, uint32_t different) {
   auto rows = std::make_unique<Rows>();
   RowLayout& layout = rows->layout;
   for (const PhysicalType type : {PhysicalType::I32, PhysicalType::String, PhysicalType::Bool, PhysicalType::I64,
                                   PhysicalType::I128, PhysicalType::I16, PhysicalType::String, PhysicalType::F64})
      layout.addColumn(type);
   const uint32_t state = layout.addExtra(40, 16);
   layout.addExtra(3, 1);
   layout.addExtraString(state, 8);
   layout.seal();
   std::mt19937_64 random(seed);
   rows->bytes.resize(size_t{count} * layout.rowSize());
   // Each byte of a row is random in its own range, so that fields of every width occur; some are all the same.
   std::vector<uint32_t> ranges(layout.rowSize());
   for (uint32_t& range : ranges)
      range = random() % 4 == 0 ? 256 : 1 + static_cast<uint32_t>(random() % 3);
   for (size_t i = 0; i < rows->bytes.size(); ++i)
      rows->bytes[i] = static_cast<std::byte>(random() % ranges[i % layout.rowSize()]);
   for (uint32_t row = 0; row < count; ++row) {
      std::vector<uint32_t> offsets = layout.stringOffsets();
      offsets.insert(offsets.end(), layout.extraStringOffsets().begin(), layout.extraStringOffsets().end());
      for (const uint32_t offset : offsets) {
         // In some columns only a few strings differ.
         if (different > 0 && offset != offsets[0] && row >= different) {
            rows->string(row, offset) = rows->string(random() % different, offset);
            continue;
         }
         auto& text = *rows->strings.emplace_back(std::make_unique<std::string>(random() % (longest + 1), ' '));
         for (char& c : text)
            c = static_cast<char>(random());
         text.shrink_to_fit(); // so that a sanitizer detects reads behind the end
         rows->string(row, offset) = StringView(text);
      }
   }
   return rows;
}

void checkRoundTrip(uint32_t count, uint32_t seed, uint32_t longest, uint32_t different) {
   const auto rows = randomRows(count, seed, longest, different);
   const RowLayout& layout = rows->layout;
   const RowPacking packing(layout);
   size_t heapBytesMax = 0;
   for (const auto& offsets : {layout.stringOffsets(), layout.extraStringOffsets()})
      for (const uint32_t offset : offsets)
         for (uint32_t row = 0; row < count; ++row)
            heapBytesMax += rows->string(row, offset).isInline() ? 0 : rows->string(row, offset).size();
   const size_t bound = packing.bound(count, heapBytesMax);
   const std::unique_ptr<std::byte[]> packed(new std::byte[bound]);
   const RowPacking::Packed result = packing.pack(rows->begin(), rows->end(), packed.get());
   const size_t heapBytes = result.heapBytes;
   CATCH_INFO(count << " rows, strings of up to " << longest << " bytes, " << different << " different ones");
   CATCH_REQUIRE(heapBytes <= heapBytesMax);
   if (different == 0) CATCH_REQUIRE((heapBytes == heapBytesMax || longest == 0));
   if (different == 32 && count >= 1000 && longest > 100) CATCH_REQUIRE(heapBytes * 2 < heapBytesMax);
   const auto packedBytes = static_cast<size_t>(result.end - packed.get());
   CATCH_REQUIRE(packedBytes + RowPacking::slackBytes <= bound);

   const std::unique_ptr<std::byte[]> back(new std::byte[rows->bytes.size()]);
   const std::unique_ptr<char[]> heap(new char[heapBytes]);
   std::memset(back.get(), 0xff, rows->bytes.size());
   CATCH_REQUIRE(packing.unpack({packed.get(), packedBytes}, back.get(), back.get() + rows->bytes.size(), heap.get()));
   std::vector<bool> isString(layout.rowSize());
   for (const auto& offsets : {layout.stringOffsets(), layout.extraStringOffsets()})
      for (const uint32_t offset : offsets)
         std::fill_n(isString.begin() + offset, sizeof(StringView), true);
   std::vector<bool> isField = isString;
   const auto markField = [&](uint32_t offset, uint32_t size) { std::fill_n(isField.begin() + offset, size, true); };
   markField(0, RowLayout::headerSize);
   for (uint32_t c = 0; c < layout.columnCount(); ++c)
      markField(layout.offset(c), physicalSize(layout.type(c)));
   for (const auto& [offset, size] : layout.extraParts())
      markField(offset, size);
   markField(layout.nullsOffset(), layout.rowSize() - layout.nullsOffset());
   for (uint32_t row = 0; row < count; ++row) {
      const std::byte *before = rows->begin() + size_t{row} * layout.rowSize(),
                      *after = back.get() + size_t{row} * layout.rowSize();
      for (uint32_t i = 0; i < layout.rowSize(); ++i)
         if (!isString[i]) CATCH_REQUIRE(after[i] == (isField[i] ? before[i] : std::byte{0}));
      for (const auto& offsets : {layout.stringOffsets(), layout.extraStringOffsets()})
         for (const uint32_t offset : offsets) {
            const auto& expected = *reinterpret_cast<const StringView*>(before + offset);
            const auto& got = *reinterpret_cast<const StringView*>(after + offset);
            CATCH_REQUIRE(got == expected);
            if (!got.isInline()) CATCH_REQUIRE((got.data() >= heap.get() && got.data() < heap.get() + heapBytes));
         }
   }
   // Truncated pages are detected.
   if (count > 0)
      CATCH_CHECK_FALSE(
          packing.unpack({packed.get(), packedBytes - 1}, back.get(), back.get() + rows->bytes.size(), heap.get()));
}

} // namespace

CATCH_TEST_CASE("packed rows come back", "[packing]") {
   for (const uint32_t count : {0u, 1u, 7u, 1023u, 1024u, 1025u, 3000u})
      for (const uint32_t longest : {0u, 5u, 13u, 20u, 300u})
         for (const uint32_t different : {0u, 1u, 4u, 32u, 33u, 200u})
            checkRoundTrip(count, count * 31 + longest, longest, different);
   for (uint32_t seed = 0; seed < 30; ++seed)
      checkRoundTrip(50, seed, 40, seed % 7);
}

CATCH_TEST_CASE("what is the same in all rows takes no space", "[packing]") {
   RowLayout layout;
   for (int i = 0; i < 4; ++i)
      layout.addColumn(PhysicalType::I64);
   layout.addColumn(PhysicalType::String);
   layout.seal();
   const uint32_t count = 1024;
   std::vector<std::byte> rows(size_t{count} * layout.rowSize());
   for (uint32_t row = 0; row < count; ++row) {
      const int64_t value = 1'000'000'000'000 + row % 200;
      std::memcpy(rows.data() + size_t{row} * layout.rowSize() + layout.offset(0), &value, sizeof value);
   }
   const RowPacking packing(layout);
   const std::unique_ptr<std::byte[]> packed(new std::byte[packing.bound(count, 0)]);
   const auto bytes = packing.pack(rows.data(), rows.data() + rows.size(), packed.get()).end - packed.get();
   CATCH_CHECK(bytes < count + 100); // one byte of the value; the hash, too, is the same
}

CATCH_TEST_CASE("hashes of the keys are not stored", "[packing]") {
   RowLayout layout;
   layout.addColumn(PhysicalType::String);
   layout.addColumn(PhysicalType::I32);
   layout.addColumn(PhysicalType::I64);
   layout.setHashedColumns(2);
   layout.seal();
   layout.noteNulls(1);
   const uint32_t count = 2500;
   std::vector<std::byte> rows(size_t{count} * layout.rowSize());
   std::mt19937_64 random(7);
   for (uint32_t row = 0; row < count; ++row) {
      std::byte* at = rows.data() + size_t{row} * layout.rowSize();
      *reinterpret_cast<StringView*>(at + layout.offset(0)) = StringView(random() % 2 == 0 ? "one" : "two");
      const auto key = static_cast<int32_t>(random() % 100);
      std::memcpy(at + layout.offset(1), &key, sizeof key);
      if (random() % 10 == 0) at[layout.nullsOffset()] = std::byte{2};
   }
   std::vector<uint64_t> hashes(count);
   hashRows(layout, 2, rows.data(), count, hashes.data());
   for (uint32_t row = 0; row < count; ++row)
      std::memcpy(rows.data() + size_t{row} * layout.rowSize(), &hashes[row], sizeof(uint64_t));
   const RowPacking packing(layout);
   const std::unique_ptr<std::byte[]> packed(new std::byte[packing.bound(count, 0)]);
   const auto check = [&](size_t bytesMax) {
      const auto bytes =
          static_cast<size_t>(packing.pack(rows.data(), rows.data() + rows.size(), packed.get()).end - packed.get());
      CATCH_CHECK(bytes < bytesMax);
      std::vector<std::byte> back(rows.size());
      CATCH_REQUIRE(packing.unpack({packed.get(), bytes}, back.data(), back.data() + back.size(), nullptr));
      CATCH_CHECK(back == rows);
   };
   check(4 * count);
   // Hashes that do not follow from the keys come back, too: one run stores them, the other runs compute theirs.
   std::memset(rows.data() + size_t{1500} * layout.rowSize(), 0, sizeof(uint64_t));
   check(4 * count + 9 * 1024);
}

} // namespace ouzel::executor
