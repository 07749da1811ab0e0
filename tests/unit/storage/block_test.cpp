#include "storage/block/block.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "io/directory/directory_store.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/block/bloom_filter.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/table/scan_state.hpp"
#include "tests/unit/storage/block_fixture.hpp"
#include "tests/unit/storage/random_documents.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

enum class Nulls { None, Some, All };

struct Generator {
   const char* name;
   PhysicalType type;
   std::function<Value(std::mt19937_64&, size_t)> make;
   bool isDocument = false;
};

const std::vector<Generator>& generators() {
   using P = PhysicalType;
   static const std::vector<Generator> all = {
       {"bool", P::Bool, [](auto& r, size_t) { return Value::boolean(r() % 2 != 0); }},
       {"constant", P::I32, [](auto&, size_t) { return Value::integer(P::I32, 42); }},
       {"i16", P::I16, [](auto& r, size_t) { return Value::integer(P::I16, static_cast<int16_t>(r())); }},
       {"dates", P::I32,
        [](auto& r, size_t) { return Value::integer(P::I32, static_cast<int64_t>(r() % 2500) - 2000); }},
       {"sequence", P::I64, [](auto&, size_t i) { return Value::integer(P::I64, static_cast<int64_t>(i) * 3 + 7); }},
       {"far apart", P::I64,
        [](auto& r, size_t i) { return Value::integer(P::I64, static_cast<int64_t>(i * 100'000'000 + r() % 10)); }},
       {"runs", P::I64,
        [](auto&, size_t i) { return Value::integer(P::I64, static_cast<int64_t>(i / 300 % 7) * 99991); }},
       {"cents", P::I64,
        [](auto& r, size_t) { return Value::integer(P::I64, static_cast<int64_t>(r() % 50) * 100 - 300); }},
       {"any i64", P::I64, [](auto& r, size_t) { return Value::integer(P::I64, static_cast<int64_t>(r())); }},
       {"narrow i128", P::I128, [](auto& r, size_t) { return Value::wide(static_cast<int64_t>(r())); }},
       {"wide i128", P::I128, [](auto& r, size_t) { return Value::wide(static_cast<int128>(r()) << 64 | r()); }},
       {"float", P::F32, [](auto& r, size_t) { return Value::real(P::F32, static_cast<double>(r() % 1000)); }},
       {"double", P::F64, [](auto& r, size_t) { return Value::real(P::F64, static_cast<double>(r()) / 7); }},
       {"interval", P::Interval,
        [](auto& r, size_t) {
           return Value::ofInterval({static_cast<int64_t>(r() % 1000), static_cast<int32_t>(r() % 30), 1});
        }},
       {"decimal bytes", P::Decimal,
        [](auto& r, size_t) {
           const StringView value =
               decimal::fromInt64(static_cast<int64_t>(r() % 999) - 300, static_cast<int32_t>(r() % 3));
           return Value::string(std::string(value.view()), P::Decimal);
        }},
       {"flags", P::String, [](auto& r, size_t) { return Value::string(std::string(1, "ANR"[r() % 3])); }},
       {"same text", P::String, [](auto&, size_t) { return Value::string("a constant text of some length"); }},
       {"few long", P::String, [](auto& r, size_t) { return Value::string(digits(r() % 40, 30)); }},
       {"comments", P::String, [](auto& r, size_t) { return Value::string(digits(r(), 10 + r() % 30)); }},
       {"empty or long", P::String,
        [](auto& r, size_t) { return Value::string(r() % 2 ? std::string() : digits(r(), 300)); }},
       {"very long", P::String,
        [](auto& r, size_t i) {
           return Value::string(std::string(i % 1000 == 0 ? 70'000 : 13, 'x') + digits(r(), 1));
        }},
       {"documents of few shapes", P::String, [](auto& r, size_t) { return orderDocument(r); }, true},
       {"documents of any kind", P::String, [](auto& r, size_t) { return Value::string(RandomDocuments(r()).next()); },
        true},
       {"documents that are one string", P::String,
        [](auto& r, size_t) {
           json::JsonbWriter writer;
           writer.string(digits(r(), 10 + r() % 30));
           return Value::string(writer.finish());
        },
        true},
   };
   return all;
}

std::vector<Value> makeValues(const Generator& generator, size_t count, Nulls nulls) {
   std::mt19937_64 random(count + static_cast<size_t>(nulls));
   std::vector<Value> values;
   for (size_t i = 0; i < count; ++i) {
      Value value = generator.make(random, i);
      const bool isNull = nulls == Nulls::All || (nulls == Nulls::Some && random() % 4 == 0);
      values.push_back(isNull ? Value::null(generator.type) : std::move(value));
   }
   return values;
}

} // namespace

CATCH_TEST_CASE("every encoding gives back what was put in") {
   for (const Generator& generator : generators()) {
      for (const Nulls nulls : {Nulls::None, Nulls::Some, Nulls::All}) {
         for (const size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 2047u, 2048u, 2049u, 32768u, 32769u}) {
            CATCH_INFO(generator.name << ", nulls " << static_cast<int>(nulls) << ", rows " << count);
            const auto values = makeValues(generator, count, nulls);
            BlockFixture fixture(generator.type, values,
                                 generator.isDocument ? DocumentColumns{{0}} : DocumentColumns{});
            CATCH_REQUIRE(fixture.block->header().rowCount == count);
            fixture.block->verify();
            RowGroupReader reader(fixture.scan);
            std::mt19937_64 random(count);
            for (uint32_t group = 0; group * rowGroupRows < count; ++group) {
               const auto groupRows =
                   static_cast<uint32_t>(std::min<size_t>(rowGroupRows, count - group * rowGroupRows));
               reader.open({0, group, groupRows});
               for (uint32_t first = 0; first < groupRows; first += vectorRows) {
                  const uint32_t here = std::min(vectorRows, groupRows - first);
                  const auto check = [&](uint32_t from, uint32_t rows, const Selection& selection) {
                     const Vector vector = reader.read(0, from, rows, selection);
                     bool same = true;
                     forEachRow(selection, [&](uint32_t row) {
                        same &= Value::fromVector(vector, row).identical(values[group * rowGroupRows + from + row]);
                     });
                     CATCH_REQUIRE(same);
                  };
                  std::vector<RowIndex> few, many;
                  for (uint32_t i = 0; i < here; ++i) {
                     if (random() % 50 == 0) few.push_back(static_cast<RowIndex>(i));
                     if (random() % 2 == 0) many.push_back(static_cast<RowIndex>(i));
                  }
                  check(first, here, Selection::list(few));
                  check(first, here, Selection::list(many));
                  check(first, here, Selection::dense(here));
                  const auto offset = static_cast<uint32_t>(random() % here);
                  const uint32_t rest = std::min(here - offset, 100u);
                  check(first + offset, rest, Selection::dense(rest));
                  const Vector ids = reader.read(1, first, here, Selection::dense(here));
                  CATCH_REQUIRE(ids.value<int64_t>(0) ==
                                static_cast<int64_t>(makeRowId(5, group * rowGroupRows + first)));
               }
            }
         }
      }
   }
}

CATCH_TEST_CASE("a scan of long strings pins few pages at a time") {
   std::vector<Value> values;
   std::mt19937_64 random(11);
   for (uint32_t i = 0; i < 3000; ++i)
      values.push_back(i % 7 == 3 ? Value::null(PhysicalType::String)
                                  : Value::string(digits(random(), i % 500 == 0 ? 600'000 : random() % 20'000)));
   BlockFixture fixture(PhysicalType::String, values);
   fixture.block->verify();
   const auto& pages = fixture.block->header().chunk(0, 0).pages;
   CATCH_CHECK(std::any_of(pages.begin(), pages.end(), [](const PageEntry& page) { return page.firstRow % 64 != 0; }));
   CATCH_CHECK(std::all_of(pages.begin(), pages.end(), [](const PageEntry& page) {
      return page.rawSize <= pageSizeMax + 4096 || page.rowCount == 1;
   }));
   RowGroupReader reader(fixture.scan);
   reader.open({0, 0, 3000});
   constexpr size_t bytes = 2 * 512 << 10; // the fixture's scan has two columns, which share them
   uint32_t reads = 0;
   for (uint32_t first = 0; first < 3000; ++reads) {
      const uint32_t rest = std::min(3000 - first, vectorRows - first % vectorRows);
      const uint32_t count = reader.rowsWithin(first, rest, bytes);
      CATCH_REQUIRE(count > 0);
      const Vector vector = reader.read(0, first, count, Selection::dense(count));
      bool same = true;
      for (uint32_t row = 0; row < count; ++row)
         same &= Value::fromVector(vector, row).identical(values[first + row]);
      CATCH_REQUIRE(same);
      CATCH_REQUIRE(fixture.governor.cache().pinnedBytes() < 1'500'000);
      first += count;
   }
   CATCH_CHECK(reads > 10);
   const Vector again = reader.read(0, 0, 100, Selection::dense(100)); // back to pages that were passed
   CATCH_CHECK(Value::fromVector(again, 99).identical(values[99]));
}

CATCH_TEST_CASE("range filters on packed integers agree with decoding") {
   for (const Generator& generator : generators()) {
      if (generator.type > PhysicalType::I64) continue;
      for (const Nulls nulls : {Nulls::None, Nulls::Some, Nulls::All}) {
         const size_t count = 5000;
         const auto values = makeValues(generator, count, nulls);
         BlockFixture fixture(generator.type, values);
         RowGroupReader reader(fixture.scan);
         reader.open({0, 0, static_cast<uint32_t>(count)});
         std::mt19937_64 random(3);
         for (uint32_t first = 0; first < count; first += vectorRows) {
            const uint32_t here = std::min<uint32_t>(vectorRows, static_cast<uint32_t>(count) - first);
            for (int round = 0; round < 8; ++round) {
               const Value &a = values[first + random() % here], &b = values[first + random() % here];
               int64_t lower = a.isNull ? -5 : std::min(a.i64, b.i64), upper = b.isNull ? 5 : std::max(a.i64, b.i64);
               if (round == 6) lower = INT64_MIN, upper = INT64_MAX;
               if (round == 7) lower = INT64_MAX, upper = INT64_MIN;
               std::vector<RowIndex> list;
               for (uint32_t i = 0; i < here; ++i)
                  if (random() % (round % 3 == 0 ? 40 : 3) == 0) list.push_back(static_cast<RowIndex>(i));
               for (int variant = 0; variant < 4; ++variant) {
                  const bool isDense = variant % 2 == 0;
                  const ValueRange range{lower, upper, variant >= 2};
                  const Selection rows = isDense ? Selection::dense(here) : Selection::list(list);
                  std::vector<RowIndex> out(rows.count()), expected;
                  out.resize(reader.filterRange(0, first, here, range, rows, out.data()));
                  forEachRow(rows, [&](uint32_t row) {
                     const Value& value = values[first + row];
                     if (!value.isNull && (value.i64 >= lower && value.i64 <= upper) != range.isOutside)
                        expected.push_back(static_cast<RowIndex>(row));
                  });
                  CATCH_INFO(generator.name << (range.isOutside ? " not " : " ") << lower << ".." << upper);
                  CATCH_REQUIRE(out == expected);
               }
            }
         }
      }
   }
}

CATCH_TEST_CASE("several ranges keep the rows that each of them keeps") {
   std::mt19937_64 random(17);
   for (const Generator& generator : generators()) {
      if (generator.type > PhysicalType::I64) continue;
      for (const Nulls nulls : {Nulls::None, Nulls::Some}) {
         constexpr uint32_t count = 5000;
         const auto values = makeValues(generator, count, nulls);
         BlockFixture fixture(generator.type, values);
         RowGroupReader reader(fixture.scan);
         reader.open({0, 0, count});
         for (uint32_t first = 0; first < count; first += vectorRows) {
            const uint32_t here = std::min(vectorRows, count - first);
            for (int round = 0; round < 16; ++round) {
               std::vector<ColumnRange> ranges;
               for (uint64_t n = random() % 4; n-- > 0;) {
                  const int64_t a = values[first + random() % here].i64, b = values[first + random() % here].i64;
                  ranges.push_back({0, {std::min(a, b), std::max(a, b), random() % 3 == 0}});
                  if (random() % 4 == 0) ranges.back().range = {INT64_MIN, INT64_MAX};
                  if (random() % 8 == 0) ranges.back().range = {a, a, true};
               }
               std::vector<RowIndex> list, expected, out(here + 8);
               for (uint32_t row = 0; row < here; ++row) {
                  if (round % 2 == 0 || random() % 3 == 0) list.push_back(static_cast<RowIndex>(row));
                  const Value& value = values[first + row];
                  const bool isKept = std::all_of(ranges.begin(), ranges.end(), [&](const ColumnRange& range) {
                     return !value.isNull && range.range.contains(value.i64);
                  });
                  if (isKept && !list.empty() && list.back() == row) expected.push_back(static_cast<RowIndex>(row));
               }
               const Selection rows = round % 2 == 0 ? Selection::dense(here) : Selection::list(list);
               const uint32_t kept = reader.filterRanges(ranges, first, here, rows, out.data());
               out.resize(kept);
               if (kept == rows.count()) out = list;
               CATCH_INFO(generator.name << ", " << ranges.size() << " ranges, round " << round);
               CATCH_REQUIRE(out == expected);
            }
         }
      }
   }
}

CATCH_TEST_CASE("headers know bounds, nulls, distinct values and a sample") {
   const Generator generator{"", PhysicalType::I32, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I32, static_cast<int64_t>(r() % 1000));
                             }};
   BlockFixture fixture(PhysicalType::I32, makeValues(generator, 100'000, Nulls::Some));
   const BlockHeader& header = fixture.block->header();
   CATCH_CHECK(header.rowGroupCount() == 4);
   const ColumnSketch& sketch = header.sketches[0];
   CATCH_CHECK(sketch.zone.lower == 0);
   CATCH_CHECK(sketch.zone.upper == 999);
   CATCH_CHECK(sketch.distinct.estimate() == Approx(1000).epsilon(0.1));
   CATCH_CHECK(sketch.valueCount + sketch.nullCount == 100'000);
   CATCH_CHECK(static_cast<double>(sketch.nullCount) == Approx(25'000).epsilon(0.05));
   CATCH_CHECK(header.sample->batch.rowCount == blockSampleRows);
   // 10 bits for each value, one bit for NULL, and little overhead.
   CATCH_CHECK(header.objectSize < 100'000 * 12 / 8 + 20'000);
}

CATCH_TEST_CASE("a damaged page is an error of the statement and is not cached") {
   const Generator generator{"", PhysicalType::I64, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I64, static_cast<int64_t>(r()));
                             }};
   BlockFixture fixture(PhysicalType::I64, makeValues(generator, 3000, Nulls::None));
   {
      std::fstream file(fixture.directory.path() + "/table/1/block/x", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(fixture.block->header().chunks[0].pages[0].offset + 1000));
      file.put('!');
   }
   RowGroupReader reader(fixture.scan);
   reader.open({0, 0, 3000});
   for (int attempt = 0; attempt < 2; ++attempt) {
      try {
         reader.read(0, 0, 2048, Selection::dense(2048));
         CATCH_FAIL("no error");
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
      }
   }
   CATCH_CHECK(fixture.governor.cachedBytes() == 0);
   CATCH_CHECK_THROWS_AS(fixture.block->verify(), SqlError);
}

namespace {

/// The first page of the first chunk, read ahead with all of the chunk.
PagePin pageThroughLanding(const Block& block, MemoryGovernor& governor, bool mayKeep, const char*& landed) {
   const ChunkHeader& chunk = block.header().chunk(0, 0);
   const auto landing =
       Landing::tryMake(governor.cache(), chunk.pages[0].offset, block.storedBytes(0, 0) - pageAlignment, mayKeep);
   CATCH_REQUIRE(landing);
   landing->start(block.reader());
   landed = landing->wait(chunk.pages[0].offset);
   return block.page(0, 0, 0, landing.get());
}

std::vector<Value> randomIntegers(size_t count) {
   const Generator generator{"", PhysicalType::I64, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I64, static_cast<int64_t>(r()));
                             }};
   return makeValues(generator, count, Nulls::None);
}

} // namespace

CATCH_TEST_CASE("pages that were read ahead stay where they landed") {
   BlockFixture fixture(PhysicalType::I64, randomIntegers(100'000));
   for (const ChunkHeader& chunk : fixture.block->header().chunks)
      for (const PageEntry& page : chunk.pages)
         CATCH_CHECK(page.offset % pageAlignment == 0);
   const char* landed = nullptr;
   {
      const PagePin page = pageThroughLanding(*fixture.block, fixture.governor, true, landed);
      CATCH_CHECK(static_cast<const void*>(page.data()) == landed);
   }
   CATCH_CHECK(fixture.block->page(0, 0, 0).data() == landed);
   fixture.governor.cache().evictSegment(5);
   CATCH_CHECK(fixture.governor.cachedBytes() == 0);
   {
      const PagePin page = pageThroughLanding(*fixture.block, fixture.governor, false, landed);
      CATCH_CHECK(static_cast<const void*>(page.data()) != landed);
   }
   const PageEntry& entry = fixture.block->header().chunk(0, 0).pages[0];
   CATCH_CHECK(fixture.governor.cachedBytes() == frameSize(entry, false)); // the landing is destroyed
}

CATCH_TEST_CASE("pages of blocks that were written before pages were aligned are copied from where they landed") {
   BlockFixture fixture(PhysicalType::I64, randomIntegers(40'000));
   BlockHeader header = fixture.block->header();
   for (ChunkHeader& chunk : header.chunks)
      for (PageEntry& page : chunk.pages)
         page.offset += 8;
   header.objectSize += 8;
   fixture.store.put("table/1/block/old", "8 bytes." + *fixture.store.get("table/1/block/x"));
   const Block old(fixture.store, fixture.governor.cache(), "table/1/block/old", std::move(header));
   const char* landed = nullptr;
   const PagePin page = pageThroughLanding(old, fixture.governor, true, landed);
   CATCH_CHECK(static_cast<const void*>(page.data()) != landed);
   CATCH_CHECK(reinterpret_cast<uintptr_t>(page.data()) % pageAlignment == 0);
}

CATCH_TEST_CASE("the cache gives way when memory runs out and is charged to the ledger") {
   const Generator generator{"", PhysicalType::I64, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I64, static_cast<int64_t>(r()));
                             }};
   BlockFixture fixture(PhysicalType::I64, makeValues(generator, 100'000, Nulls::None));
   RowGroupReader reader(fixture.scan);
   for (uint32_t group = 0; group < 3; ++group) {
      reader.open({0, group, rowGroupRows});
      reader.read(0, 0, 2048, Selection::dense(2048));
      reader.read(0, 30720, 2048, Selection::dense(2048));
   }
   const size_t cached = fixture.governor.cachedBytes();
   CATCH_CHECK(cached > 3 * 250'000);
   CATCH_CHECK(fixture.governor.ledger().used() >= cached);
   fixture.governor.setLimit(600'000); // two pages are pinned by the reader
   CATCH_CHECK(fixture.governor.cachedBytes() <= 600'000);
   reader.open({0, 0, rowGroupRows}); // unpins them
   fixture.governor.cache().evictSegment(5);
   CATCH_CHECK(fixture.governor.cachedBytes() == 0);
}

CATCH_TEST_CASE("zone keys keep the order of values") {
   const auto ordered = [](const std::vector<Value>& values) {
      for (size_t i = 1; i < values.size(); ++i)
         CATCH_CHECK(zoneKeyOf(values[i - 1]) <= zoneKeyOf(values[i]));
      CATCH_CHECK(zoneKeyOf(values.front()) < zoneKeyOf(values.back()));
   };
   using P = PhysicalType;
   const double infinity = std::numeric_limits<double>::infinity();
   ordered({Value::real(P::F64, -infinity), Value::real(P::F64, -2.5), Value::real(P::F64, -1),
            Value::real(P::F64, -0.0), Value::real(P::F64, 0), Value::real(P::F64, 1e-300), Value::real(P::F64, 7),
            Value::real(P::F64, infinity), Value::real(P::F64, std::nan(""))});
   CATCH_CHECK(zoneKeyOfDouble(-0.0) == zoneKeyOfDouble(0.0));
   ordered({Value::string(""), Value::string("a"), Value::string("a\x01"), Value::string("ab"),
            Value::string("abcdefghijklmnop"), Value::string("abcdefghijklmnoq"), Value::string("\xff")});
   Arena arena;
   std::vector<Value> decimals;
   for (const char* text : {"-Infinity", "-1e40", "-10.5", "-10.25", "-0.001", "0", "0.5", "0.50", "3", "3.0001",
                            "1e50", "Infinity", "NaN"})
      decimals.push_back(Value::string(std::string(decimal::parse(text, arena).view()), P::Decimal));
   ordered(decimals);
   CATCH_CHECK(zoneKeyOf(decimals[6]) == zoneKeyOf(decimals[7]));
   for (const double v : {-3.25, 0.0, 1e9, -infinity})
      CATCH_CHECK(valueOfZoneKey(P::F64, zoneKeyOfDouble(v))->f64 == v);
   CATCH_CHECK(valueOfZoneKey(P::String, zoneKeyOfString("hello"))->bytes == "hello");
}

CATCH_TEST_CASE("filters lie behind the pages, and their damage is an error") {
   const Generator generator{"", PhysicalType::I64, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I64, static_cast<int64_t>(r()));
                             }};
   const auto values = makeValues(generator, 3 * rowGroupRows, Nulls::Some);
   BlockFixture fixture(PhysicalType::I64, values);
   const BlockHeader& header = fixture.block->header();
   uint64_t end = header.chunk(0, 2).pages.back().offset + header.chunk(0, 2).pages.back().storedSize;
   for (uint32_t group = 0; group < 3; ++group) {
      const FilterEntry& filter = header.chunk(0, group).filter;
      CATCH_CHECK(filter.size > 0);
      CATCH_CHECK(filter.offset == (end + pageAlignment - 1) / pageAlignment * pageAlignment);
      end = filter.offset + filter.size;
      const PagePin pin = fixture.block->filter(0, group);
      CATCH_CHECK(fixture.block->isFilterCached(0, group));
      for (uint32_t row = group * rowGroupRows; row < (group + 1) * rowGroupRows; ++row)
         if (!values[row].isNull)
            CATCH_REQUIRE(BloomFilter::mayContain({pin.data(), filter.size}, hashI64(values[row].i64)));
   }
   fixture.block->verify();
   fixture.governor.cache().evictSegment(5);
   {
      std::fstream file(fixture.directory.path() + "/table/1/block/x", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(header.chunk(0, 1).filter.offset + 1000));
      file.write("!?!?", 4);
   }
   fixture.block->filter(0, 0);
   for (int attempt = 0; attempt < 2; ++attempt) {
      try {
         fixture.block->filter(0, 1);
         CATCH_FAIL("no error");
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
      }
   }
   CATCH_CHECK_FALSE(fixture.block->isFilterCached(0, 1));
   CATCH_CHECK_THROWS_AS(fixture.block->verify(), SqlError);
}

CATCH_TEST_CASE("headers come back from their bytes with the places of filters") {
   const Generator generator{"", PhysicalType::I64, [](auto& r, size_t) {
                                return Value::integer(PhysicalType::I64, static_cast<int64_t>(r()));
                             }};
   BlockFixture fixture(PhysicalType::I64, makeValues(generator, rowGroupRows + 100, Nulls::None));
   const BlockHeader& header = fixture.block->header();
   CATCH_CHECK(header.chunk(0, 0).filter.size > 0);
   CATCH_CHECK(header.chunk(0, 1).filter.size == 0);
   std::string bytes;
   header.serialize(bytes);
   const BlockHeader again = BlockHeader::deserialize(bytes);
   for (uint32_t group = 0; group < 2; ++group) {
      const FilterEntry &before = header.chunk(0, group).filter, &after = again.chunk(0, group).filter;
      CATCH_CHECK(before.size == after.size);
      CATCH_CHECK(before.offset == after.offset);
      CATCH_CHECK(before.checksum == after.checksum);
   }
   bytes[0] = static_cast<char>(blockFormatVersion + 1);
   CATCH_CHECK_THROWS_AS(BlockHeader::deserialize(bytes), SqlError);
}

CATCH_TEST_CASE("blocks of format 1 are read") {
   // (7, 'old'), (NULL, 'a string beyond twelve bytes'), (-1, NULL), (1048576, 'old')
   std::ifstream file(OUZEL_SOURCE_DIR "/tests/unit/storage/data/block_format_1.bin", std::ios::binary);
   const std::string bytes(std::istreambuf_iterator<char>(file), {});
   TemporaryDirectory directory;
   io::DirectoryStore store(directory.path());
   store.put("table/1/block/old", bytes);
   MemoryGovernor governor{size_t{1} << 30};
   auto block = std::make_shared<Block>(store, governor.cache(), "table/1/block/old",
                                        Block::readHeader(*store.open("table/1/block/old"), "table/1/block/old"));
   block->verify();
   CATCH_CHECK(block->header().rowCount == 4);
   CATCH_CHECK(block->header().chunk(0, 0).filter.size == 0);
   CATCH_CHECK(block->header().sample->batch.rowCount == 4);
   auto scan = std::make_shared<ScanState>();
   scan->spec.columns = {0, 1};
   scan->columns = std::make_shared<const std::vector<ColumnDefinition>>(
       std::vector{ColumnDefinition::of({oid::int8, -1, 0}), ColumnDefinition::of({oid::text, -1, defaultCollation})});
   auto segment = std::make_shared<Segment>();
   segment->id = 5;
   segment->versions = std::make_shared<SegmentVersions>();
   segment->block = block;
   scan->sources.push_back({segment, 4});
   RowGroupReader reader(scan);
   reader.open({0, 0, 4});
   const Vector numbers = reader.read(0, 0, 4, Selection::dense(4)), texts = reader.read(1, 0, 4, Selection::dense(4));
   CATCH_CHECK(numbers.value<int64_t>(0) == 7);
   CATCH_CHECK(numbers.isNull(1));
   CATCH_CHECK(numbers.value<int64_t>(3) == 1 << 20);
   CATCH_CHECK(texts.value<StringView>(1).view() == "a string beyond twelve bytes");
   CATCH_CHECK(texts.isNull(2));
   CATCH_CHECK(texts.value<StringView>(3).view() == "old");
}

CATCH_TEST_CASE("documents are kept in parts where that pays") {
   const auto valuesOf = [](auto make) {
      std::vector<Value> values;
      std::mt19937_64 random(1);
      for (size_t i = 0; i < 5000; ++i)
         values.push_back(make(random));
      return values;
   };
   const auto keyless = [](auto& random) {
      json::JsonbWriter writer;
      writer.beginObject();
      writer.key("key" + std::to_string(random()));
      writer.string("a text of some length");
      writer.endObject();
      return Value::string(writer.finish());
   };
   BlockFixture orders(PhysicalType::String, valuesOf(orderDocument), {{0}});
   BlockFixture asStrings(PhysicalType::String, valuesOf(orderDocument));
   BlockFixture keys(PhysicalType::String, valuesOf(keyless), {{0}});
   const auto& parts = orders.block->header().chunk(0, 0).parts;
   CATCH_REQUIRE(parts.size() == partLeaves + 6); // order, name, line, price, day, flag
   CATCH_CHECK(parts[partResidues].pageCount == 1);
   CATCH_CHECK(orders.block->storedBytes(0, 0) * 2 < asStrings.block->storedBytes(0, 0));
   CATCH_CHECK(asStrings.block->header().chunk(0, 0).parts.empty());
   CATCH_CHECK(keys.block->header().chunk(0, 0).parts.empty());
}
