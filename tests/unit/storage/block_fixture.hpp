#pragma once
#include <memory>
#include <random>
#include <vector>

#include "io/directory/directory_store.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/table/scan_state.hpp"
#include "tests/unit/storage/random_documents.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

namespace ouzel::storage::test {

inline std::string digits(uint64_t v, size_t length) {
   std::string text = std::to_string(v);
   while (text.size() < length)
      text += static_cast<char>('a' + text.size() % 26);
   return text;
}

/// An order, or one of its lines.
inline Value orderDocument(std::mt19937_64& random) {
   json::JsonbWriter writer;
   const auto number = static_cast<int64_t>(random() % 1'000'000);
   writer.beginObject();
   if (random() % 4 == 0) {
      writer.key("order");
      writer.number(decimal::fromInt64(number));
      writer.key("customer");
      writer.beginObject();
      writer.key("name");
      writer.string(digits(random() % 100, 12));
      writer.endObject();
   } else {
      writer.key("line");
      writer.number(decimal::fromInt64(number % 7));
      writer.key("price");
      writer.number(decimal::fromInt64(number, 2));
      writer.key("day");
      writer.string("20" + std::to_string(10 + number % 80) + "-02-" + std::to_string(10 + number % 18));
      writer.key("flag");
      writer.boolean(random() % 2 != 0);
      if (random() % 500 == 0) {
         writer.key("note" + std::to_string(number));
         writer.null();
      }
   }
   writer.endObject();
   return Value::string(writer.finish());
}

/// One block with one column, and a reader over it.
struct BlockFixture {
   TemporaryDirectory directory;
   io::DirectoryStore store{directory.path()};
   MemoryGovernor governor{size_t{1} << 30};
   std::shared_ptr<Block> block;
   std::shared_ptr<ScanState> scan;

   /// `documents`: the column, if the block may take its documents apart.
   BlockFixture(PhysicalType type, const std::vector<Value>& values, DocumentColumns documents = {}) {
      Reservation memory(governor.ledger());
      Delta delta({type}, memory);
      Arena arena;
      const std::vector<TestColumn> columns{{type, values}};
      for (size_t first = 0; first < values.size(); first += 1500)
         delta.append(makeBatch(columns, first, std::min<size_t>(1500, values.size() - first), arena));
      BlockBuilder builder({type}, std::move(documents));
      for (uint32_t first = 0; first < delta.rowCount(); first += rowGroupRows) {
         const uint32_t count = std::min(rowGroupRows, delta.rowCount() - first);
         builder.addRowGroup(count, delta.slices(first, count));
      }
      builder.finish(store, "table/1/block/x", 5);
      const auto reader = store.open("table/1/block/x");
      block = std::make_shared<Block>(store, governor.cache(), "table/1/block/x",
                                      Block::readHeader(*reader, "table/1/block/x"));
      scan = std::make_shared<ScanState>();
      scan->spec.columns = {0, ScanSpec::rowIdColumn};
      ColumnDefinition definition;
      definition.representation.physical = type;
      scan->columns = std::make_shared<const std::vector<ColumnDefinition>>(1, definition);
      auto segment = std::make_shared<Segment>();
      segment->id = 5;
      segment->versions = std::make_shared<SegmentVersions>();
      segment->block = block;
      scan->sources.push_back({segment, block->header().rowCount});
   }
};

} // namespace ouzel::storage::test
