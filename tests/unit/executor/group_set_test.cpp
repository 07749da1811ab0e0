#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <vector>

#include "common/hash/hash_value.hpp"
#include "executor/operator/aggregate/group_table.hpp"

// Tests the table that unites the groups of workers: it begins small, grows as groups come, and loses none.

using namespace ouzel;
using namespace ouzel::executor;

namespace {

/// Rows of a key and a count, as a worker makes them.
struct Rows {
   RowLayout layout;
   uint32_t count = 0; ///< number of the extra part
   std::vector<std::byte> memory;
   std::vector<std::byte*> rows;

   explicit Rows(PhysicalType type) {
      layout.addColumn(type);
      count = layout.addExtra(sizeof(int64_t), 8);
      layout.seal();
   }
   template <typename T>
   void make(const std::vector<T>& keys) {
      memory.assign(keys.size() * layout.rowSize(), std::byte{0});
      for (size_t i = 0; i < keys.size(); ++i) {
         std::byte* row = memory.data() + i * layout.rowSize();
         const uint64_t hash = hashOf < sizeof(T) == 16 ? PhysicalType::String : PhysicalType::I64 > (keys[i]);
         std::memcpy(row, &hash, sizeof hash);
         std::memcpy(row + layout.offset(0), static_cast<const void*>(&keys[i]), sizeof(T));
         countOf(row) = 1;
         rows.push_back(row);
      }
   }
   int64_t& countOf(std::byte* row) const { return *reinterpret_cast<int64_t*>(row + layout.extraOffset(count)); }
};

/// Adds the rows in pieces and returns the count of each group, found by its row's address.
uint64_t unite(Rows& made, GroupSet& set, size_t piece) {
   const GroupSet::Combine combine = [&](std::byte* const* into, const std::byte* const* from, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
         made.countOf(into[i]) += made.countOf(const_cast<std::byte*>(from[i]));
   };
   uint64_t added = 0;
   for (size_t at = 0; at < made.rows.size(); at += piece)
      added += set.add(made.layout, 1, made.rows.data() + at, std::min(piece, made.rows.size() - at), &combine);
   return added;
}

} // namespace

CATCH_TEST_CASE("a set of groups grows from few groups to as many as rows", "[group_set]") {
   for (const uint64_t groups : {1u, 7u, 1'000u, 20'000u, 100'000u})
      for (const size_t piece : {1u, 300u, 100'000u}) {
         MemoryLedger ledger(size_t{1} << 30);
         Reservation memory(ledger);
         Rows made(PhysicalType::I64);
         std::vector<int64_t> keys;
         std::map<int64_t, int64_t> expected;
         for (uint64_t i = 0; i < 100'000; ++i) {
            keys.push_back(static_cast<int64_t>(hashU64(i) % groups));
            ++expected[keys.back()];
         }
         made.make(keys);
         GroupSet set(keys.size(), memory);
         CATCH_CHECK(unite(made, set, piece) == expected.size());
         CATCH_REQUIRE(set.groups().size() == expected.size());
         CATCH_CHECK(memory.used() <= keys.size() * GroupSet::bytesPerRow);
         bool isRight = true;
         for (std::byte* row : set.groups()) {
            int64_t key;
            std::memcpy(&key, row + made.layout.offset(0), sizeof key);
            isRight = isRight && made.countOf(row) == expected[key];
         }
         CATCH_CHECK(isRight);
      }
}

CATCH_TEST_CASE("a set of groups with strings", "[group_set]") {
   MemoryLedger ledger(size_t{1} << 30);
   Reservation memory(ledger);
   std::vector<std::string> texts;
   for (int i = 0; i < 5000; ++i)
      texts.push_back(i % 3 == 0 ? std::to_string(i) : "a string that is too long for its view " + std::to_string(i));
   std::vector<StringView> keys;
   for (int i = 0; i < 50'000; ++i)
      keys.emplace_back(texts[hashU64(static_cast<uint64_t>(i)) % texts.size()]);
   Rows made(PhysicalType::String);
   made.make(keys);
   GroupSet set(keys.size(), memory);
   CATCH_CHECK(unite(made, set, 777) == texts.size());
   int64_t rows = 0;
   for (std::byte* row : set.groups())
      rows += made.countOf(row);
   CATCH_CHECK(rows == 50'000);
}
