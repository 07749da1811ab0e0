#include "io/format/parquet/parquet.hpp"

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <unistd.h>

#include "catch2/catch.hpp"
#include "common/error/sql_error.hpp"
#include "tests/unit/io/s3/object_server.hpp"

using namespace ouzel;
using namespace ouzel::io;

namespace {

constexpr int64_t rowCount = 100'000;

struct File {
   std::string path = std::filesystem::temp_directory_path() / ("ouzel-" + std::to_string(::getpid()) + ".parquet");
   ~File() { std::filesystem::remove(path); }
};

/// Writes rows (i, "row i"), every seventh text NULL, in row groups of 7,000.
void writeRows(const std::string& path, Reservation& memory) {
   const std::vector<ExternalColumn> columns{{"id", {oid::int8, -1, invalidOid}},
                                             {"name", {oid::text, -1, defaultCollation}}};
   const auto file = openOutput(path, nullptr, memory);
   const auto writer = makeParquetWriter(*file, columns, {{PhysicalType::I64, 0}, {PhysicalType::String, 0}},
                                         {"snappy", 7'000}, memory);
   for (int64_t begin = 0; begin < rowCount; begin += 1'000) {
      std::vector<int64_t> ids;
      std::vector<std::string> texts;
      std::vector<StringView> names;
      std::vector<ValidityWord> valid(validityWords(1'000));
      for (int64_t i = begin; i < begin + 1'000; ++i) {
         ids.push_back(i);
         texts.push_back("the row " + std::to_string(i));
      }
      for (uint32_t i = 0; i < 1'000; ++i) {
         names.emplace_back(texts[i]);
         setValidBit(valid.data(), i, ids[i] % 7 != 0);
      }
      Batch batch;
      batch.columns = {Vector::flat(PhysicalType::I64, ids.data(), nullptr),
                       Vector::flat(PhysicalType::String, names.data(), valid.data())};
      batch.setDense(1'000);
      writer->write(batch);
   }
   writer->finish();
   file->finish();
}

void readRows(const std::string& path) {
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   ExternalRequest request;
   request.patterns = {path, path};
   const ExternalTablePtr table = openParquet(request);
   CATCH_CHECK(table->estimatedRows() == 2 * rowCount);
   for (const int64_t lower : {int64_t{0}, int64_t{50'000}}) {
      ExternalScanSpec spec;
      spec.columns = {1, 0, 1};
      spec.memory = &memory;
      spec.ranges.push_back({0, Value::integer(PhysicalType::I64, lower), Value::null(PhysicalType::I64)});
      const auto scan = table->scan(std::move(spec));
      CATCH_CHECK(scan->readersMax() == (lower == 0 ? 30u : 16u));
      std::atomic<int64_t> sum{0}, count{0}, bad{0};
      const auto work = [&] {
         const auto reader = scan->makeReader();
         Batch batch;
         while (reader->next(batch, 1'111))
            for (uint32_t row = 0; row < batch.rowCount; ++row) {
               const int64_t id = batch.columns[1].value<int64_t>(row);
               if (id < lower) continue;
               for (const size_t column : {0u, 2u})
                  bad += batch.columns[column].isNull(row)
                             ? id % 7 != 0
                             : batch.columns[column].value<StringView>(row).view() != "the row " + std::to_string(id);
               sum += id;
               ++count;
            }
      };
      std::thread other(work);
      work();
      other.join();
      CATCH_CHECK(count == 2 * (rowCount - lower));
      CATCH_CHECK(sum == rowCount * (rowCount - 1) - lower * (lower - 1));
      CATCH_CHECK(bad == 0);
   }
   CATCH_CHECK(ledger.used() == 0);

   MemoryLedger little(100'000);
   Reservation littleMemory(little);
   ExternalScanSpec spec;
   spec.columns = {0, 1};
   spec.memory = &littleMemory;
   const auto scan = table->scan(std::move(spec));
   const auto reader = scan->makeReader();
   Batch batch;
   try {
      while (reader->next(batch, batchRowsMax)) {
      }
      CATCH_FAIL("memory was not charged");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::outOfMemory);
   }
}

} // namespace

CATCH_TEST_CASE("parquet: several readers read every row once; memory is given back") {
   const File file;
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   std::vector<std::string> places{file.path};
   const ObjectServer server;
   ::setenv("AWS_ACCESS_KEY_ID", "testkey", 1);
   ::setenv("AWS_SECRET_ACCESS_KEY", "testsecret", 1);
   const std::string url = server.url("some");
   places.push_back(url.substr(0, url.find('?')) + "/file.parquet" + url.substr(url.find('?')));
   for (const std::string& place : places) {
      try {
         writeRows(place, memory);
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::featureNotSupported) throw;
         CATCH_WARN("skipped: this build is without Arrow");
         return;
      }
      CATCH_CHECK(ledger.used() == 0);
      readRows(place);
   }
}
