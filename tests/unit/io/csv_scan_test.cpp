#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "catch2/catch.hpp"
#include "common/error/sql_error.hpp"
#include "io/format/csv/csv_sniffer.hpp"
#include "io/format/csv/csv_table.hpp"

using namespace ouzel;
using namespace ouzel::io;

namespace {

struct Directory {
   std::string path = std::filesystem::temp_directory_path() / ("ouzel-csv-" + std::to_string(::getpid()));
   Directory() { std::filesystem::create_directories(path); }
   ~Directory() { std::filesystem::remove_all(path); }
   std::string write(const std::string& name, const std::string& text) const {
      std::ofstream(path + "/" + name, std::ios::binary) << text;
      return path + "/" + name;
   }
};

std::string typesOf(const std::string& text) {
   CsvOptions options = parseCsvOptions({});
   const CsvShape shape = sniffCsv(text, true, options, {}, "x");
   std::string out = shape.rows.header ? "header" : "no header";
   for (const ExternalColumn& column : shape.columns)
      out += "; " + column.name + " " + formatType(column.type);
   return out;
}

} // namespace

CATCH_TEST_CASE("csv: shape found out from a sample") {
   CATCH_CHECK(typesOf("a,b\n1,x\n2,y\n") == "header; a bigint; b text");
   CATCH_CHECK(typesOf("1,x\n2,y\n") == "no header; column0 bigint; column1 text");
   CATCH_CHECK(typesOf("a|b\nx|y\n") == "header; a text; b text");
   CATCH_CHECK(typesOf("1;2.5\n2;1e3\n") == "no header; column0 bigint; column1 double precision");
   CATCH_CHECK(typesOf("d\n2020-01-01\n") == "header; d date");
   CATCH_CHECK(typesOf("d\n2020-01-01\n2020-01-01 10:00\n") == "header; d timestamp without time zone");
   CATCH_CHECK(typesOf("d\n2020-01-01 10:00:00+02\n") == "header; d timestamp with time zone");
   CATCH_CHECK(typesOf("d\n2020-02-31\n") == "header; d text");
   CATCH_CHECK(typesOf("a,b\n,true\n,false\n") == "header; a text; b boolean");
   CATCH_CHECK(typesOf("a,a,\n1,2,3\n") == "header; a bigint; a_1 bigint; column2 bigint");
   CATCH_CHECK(typesOf("a\n99999999999999999999\n") == "header; a double precision");
   CATCH_CHECK(typesOf("\"a,b\";c\n\"1,5\";2\n") == "header; a,b text; c bigint");
   CATCH_CHECK_THROWS_AS(typesOf(""), SqlError);
}

CATCH_TEST_CASE("csv: several readers read every row once") {
   const Directory directory;
   std::string text = "id,name\r\n";
   constexpr int64_t rows = 200'000;
   for (int64_t i = 0; i < rows; ++i)
      text += std::to_string(i) + ",\"row\n" + std::to_string(i) + "\"\r\n";
   ExternalRequest request;
   request.patterns = {directory.write("a.csv", text), directory.write("b.csv", text),
                       directory.write("c.csv", "id,name\r\n")};
   const CsvTable table(request);
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   {
      ExternalScanSpec spec;
      spec.columns = {1, 0};
      spec.memory = &memory;
      const auto scan = table.scan(std::move(spec));
      std::atomic<int64_t> sum{0}, count{0}, bad{0};
      const auto work = [&] {
         const auto reader = scan->makeReader();
         Batch batch;
         while (reader->next(batch, batchRowsMax))
            for (uint32_t row = 0; row < batch.rowCount; ++row) {
               const int64_t id = batch.columns[1].value<int64_t>(row);
               bad += batch.columns[0].value<StringView>(row).view() != "row\n" + std::to_string(id);
               sum += id;
               ++count;
            }
      };
      std::thread other(work);
      work();
      other.join();
      CATCH_CHECK(count == 2 * rows);
      CATCH_CHECK(sum == rows * (rows - 1));
      CATCH_CHECK(bad == 0);
   }
   CATCH_CHECK(ledger.used() == 0);
}
