#include "storage/block/bloom_filter.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "common/hash/vector_hash.hpp"
#include "common/number/decimal.hpp"
#include "storage/block/chunk_filter.hpp"
#include "storage/table/delta.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

using P = PhysicalType;

uint64_t hashOf(const Value& value) {
   alignas(16) std::byte place[16];
   value.store(place);
   return hashValue(value.type, place);
}

/// Encodes a chunk with these values, and a filter if the chunk gets one.
EncodedChunk encode(PhysicalType type, const std::vector<Value>& values, ColumnSketch& sketch) {
   MemoryLedger ledger(size_t{1} << 30);
   Reservation memory(ledger);
   Delta delta({type}, memory);
   Arena arena;
   for (size_t first = 0; first < values.size(); first += vectorRows)
      delta.append(makeBatch({{type, values}}, first, std::min<size_t>(vectorRows, values.size() - first), arena));
   const ColumnSlice slice = delta.slices(0, delta.rowCount())[0];
   EncodedChunk chunk = encodeChunk(slice, sketch);
   makeFilter(slice, chunk);
   return chunk;
}

EncodedChunk encode(PhysicalType type, const std::vector<Value>& values) {
   ColumnSketch sketch;
   return encode(type, values, sketch);
}

template <typename Make>
std::vector<Value> valuesOf(Make make, size_t count = rowGroupRows) {
   std::mt19937_64 random(count);
   std::vector<Value> values;
   for (size_t i = 0; i < count; ++i)
      values.push_back(make(random, i));
   return values;
}

Value word(uint64_t number, size_t length) {
   std::string text = std::to_string(number * 0x9e3779b97f4a7c15ULL);
   text.resize(length, 'x');
   return Value::string(text);
}

size_t filtersLeft(const std::vector<EncodedChunk>& chunks) {
   size_t left = 0;
   for (const EncodedChunk& chunk : chunks)
      left += !chunk.filter.empty();
   return left;
}

/// Number of chunks, out of `chunkCount`, that keep their filters. Values are make(random, position in the column).
template <typename Make>
size_t filtersOf(PhysicalType type, size_t chunkCount, Make make) {
   ColumnSketch sketch;
   std::vector<EncodedChunk> chunks;
   for (size_t c = 0; c < chunkCount; ++c)
      chunks.push_back(
          encode(type, valuesOf([&](auto& random, size_t i) { return make(random, c * rowGroupRows + i); }), sketch));
   dropNeedlessFilters(chunks, sketch);
   return filtersLeft(chunks);
}

} // namespace

CATCH_TEST_CASE("a Bloom filter forgets nothing, and takes few other hashes for its own") {
   for (const size_t count : {1u, 100u, 3000u, 32768u}) {
      for (const bool isSequential : {false, true}) {
         std::mt19937_64 random(count);
         BloomFilter filter(BloomFilter::bytesFor(static_cast<double>(count)));
         // Sequential hashes agree in their upper or lower halves, which choose blocks and bits.
         const auto hash = [&](uint64_t i) { return isSequential ? i << (i % 2 * 40) : random(); };
         std::vector<uint64_t> added;
         for (size_t i = 0; i < count; ++i)
            filter.add(added.emplace_back(hash(i)));
         for (const uint64_t one : added)
            CATCH_REQUIRE(BloomFilter::mayContain(filter.bytes(), one));
         const size_t others = 1'000'000;
         size_t falsePositives = 0;
         for (size_t i = 0; i < others; ++i)
            falsePositives += BloomFilter::mayContain(filter.bytes(), hash(i + 1'000'000'000));
         CATCH_INFO(count << " hashes, sequential " << isSequential);
         CATCH_CHECK(filter.bytes().size() <= count * 12 / 8 + 32);
         if (count >= 3000) CATCH_CHECK(static_cast<double>(falsePositives) / others == Approx(0.006).epsilon(0.25));
      }
   }
}

CATCH_TEST_CASE("what stored filters are made of does not change") {
   // With another hash or layout, filters of older blocks would exclude existing values: that needs a new format
   // version.
   Arena arena;
   const auto decimalOf = [&](const char* text) {
      return Value::string(std::string(decimal::parse(text, arena).view()), P::Decimal);
   };
   CATCH_CHECK(hashOf(Value::integer(P::I32, 42)) == hashOf(Value::integer(P::I64, 42)));
   CATCH_CHECK(hashOf(Value::integer(P::I64, 42)) == hashOf(Value::wide(42)));
   CATCH_CHECK(hashOf(Value::real(P::F32, -0.0)) == hashOf(Value::real(P::F64, 0)));
   CATCH_CHECK(hashOf(decimalOf("1.50")) == hashOf(decimalOf("1.5")));
   uint64_t all = 0;
   for (const Value& value :
        {Value::integer(P::I64, -42), Value::wide(static_cast<int128>(77) << 64 | 5), Value::real(P::F64, 0.25),
         Value::real(P::F64, std::nan("")), Value::ofInterval({5, 6, 7}), decimalOf("123.456"), Value::string(""),
         Value::string("twelve bytes"), Value::string("more than twelve bytes")})
      all = all * 31 + hashOf(value);
   CATCH_CHECK(all == 3310959027707610715);
   BloomFilter filter(64);
   filter.add(1);
   filter.add(2);
   CATCH_CHECK(checksumOf(filter.bytes()) == 3296426044933065156);
}

CATCH_TEST_CASE("chunks get a filter when their values are wide and differ") {
   const auto sizeOf = [](PhysicalType type, auto make) { return encode(type, valuesOf(make)).filter.size(); };
   const size_t full = BloomFilter::bytesFor(rowGroupRows);
   // UUIDs, hashes, 64-bit ids.
   CATCH_CHECK(sizeOf(P::I128, [](auto& r, size_t) { return Value::wide(static_cast<int128>(r()) << 64 | r()); }) ==
               Approx(full).epsilon(0.1));
   CATCH_CHECK(sizeOf(P::String, [](auto& r, size_t) { return word(r(), 32); }) == Approx(full).epsilon(0.1));
   CATCH_CHECK(sizeOf(P::I64, [](auto& r, size_t) { return Value::integer(P::I64, static_cast<int64_t>(r())); }) ==
               Approx(full).epsilon(0.1));
   CATCH_CHECK(sizeOf(P::F64, [](auto& r, size_t) { return Value::real(P::F64, static_cast<double>(r())); }) ==
               Approx(full).epsilon(0.1));
   // Repeated values without a dictionary get a smaller filter.
   const size_t repeated = sizeOf(P::String, [](auto& r, size_t) { return word(r() % 20'000, 40); });
   CATCH_CHECK(repeated > 0);
   CATCH_CHECK(repeated < full * 2 / 3);
   // Narrow numbers, sequences, dictionaries, constants, and small chunks get no filter.
   CATCH_CHECK(sizeOf(P::I32, [](auto& r, size_t) { return Value::integer(P::I32, static_cast<int32_t>(r())); }) == 0);
   CATCH_CHECK(sizeOf(P::I64, [](auto&, size_t i) { return Value::integer(P::I64, static_cast<int64_t>(i)); }) == 0);
   CATCH_CHECK(sizeOf(P::String, [](auto& r, size_t) { return word(r() % 100, 40); }) == 0);
   CATCH_CHECK(sizeOf(P::String, [](auto&, size_t) { return word(7, 40); }) == 0);
   CATCH_CHECK(sizeOf(P::String, [](auto&, size_t) { return Value::null(P::String); }) == 0);
   const auto few = valuesOf([](auto& r, size_t) { return word(r(), 32); }, 500);
   CATCH_CHECK(encode(P::String, few).filter.empty());
}

CATCH_TEST_CASE("a chunk's filter knows its values, and NULL is none of them") {
   const auto values = valuesOf([](auto& r, size_t i) { return i % 3 == 0 ? Value::null(P::String) : word(r(), 32); });
   const EncodedChunk chunk = encode(P::String, values);
   CATCH_REQUIRE(!chunk.filter.empty());
   CATCH_CHECK(chunk.filter.size() < BloomFilter::bytesFor(rowGroupRows) * 3 / 4);
   for (const Value& value : values)
      if (!value.isNull) CATCH_REQUIRE(BloomFilter::mayContain(chunk.filter, hashOf(value)));
   CATCH_CHECK_FALSE(BloomFilter::mayContain(chunk.filter, hashOfNull));
}

CATCH_TEST_CASE("filters that say no more than zone maps are not kept") {
   const auto random = [](auto& r, size_t i) {
      return Value::wide(static_cast<int128>(r() ^ i * 0x9e3779b97f4a7c15ULL) << 64 | r());
   };
   for (const size_t chunks : {1u, 2u, 8u})
      CATCH_CHECK(filtersOf(P::I128, chunks, random) == chunks);
   const auto sorted = [](auto& r, size_t i) { return Value::wide(static_cast<int128>(i) << 80 | r()); };
   CATCH_CHECK(filtersOf(P::I128, 1, sorted) == 1);
   CATCH_CHECK(filtersOf(P::I128, 2, sorted) == 0);
   CATCH_CHECK(filtersOf(P::I128, 8, sorted) == 0);
   // Sorted texts with a common beginning longer than zone maps hold.
   const auto addresses = [](auto& r, size_t i) {
      std::string text = "https://www.example.org/" + std::to_string(1'000'000'000 + i) + std::to_string(r());
      return Value::string(text);
   };
   CATCH_CHECK(filtersOf(P::String, 4, addresses) == 4);
   // Values that occur in most chunks.
   const auto everywhere = [](auto& r, size_t) { return word(r() % 20'000, 40); };
   CATCH_CHECK(filtersOf(P::String, 8, everywhere) == 0);
}
