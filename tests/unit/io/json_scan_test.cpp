#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

#include "catch2/catch.hpp"
#include "common/error/sql_error.hpp"
#include "io/format/decompressed_input.hpp"
#include "io/format/json/json_literal.hpp"
#include "io/format/json/json_rows.hpp"
#include "io/format/json/json_sniffer.hpp"
#include "io/format/json/json_splitter.hpp"
#include "io/format/json/json_table.hpp"

using namespace ouzel;
using namespace ouzel::io;

namespace {

struct Directory {
   std::string path = std::filesystem::temp_directory_path() / ("ouzel-json-" + std::to_string(::getpid()));
   Directory() { std::filesystem::create_directories(path); }
   ~Directory() { std::filesystem::remove_all(path); }
   std::string write(const std::string& name, const std::string& text) const {
      std::ofstream(path + "/" + name, std::ios::binary) << text;
      return path + "/" + name;
   }
};

/// All chunks of a text that is fed in pieces of `pieceSize` bytes.
std::vector<CopyChunk> chunksOf(std::string_view text, JsonLayout layout, size_t pieceSize = SIZE_MAX) {
   std::vector<CopyChunk> chunks;
   JsonSplitter splitter(layout);
   const auto emit = [&](CopyChunk&& chunk) { chunks.push_back(std::move(chunk)); };
   while (!text.empty()) {
      splitter.feed(text.substr(0, pieceSize), emit);
      splitter.cutRows(emit);
      text.remove_prefix(std::min(pieceSize, text.size()));
   }
   splitter.finish(emit);
   return chunks;
}

/// "1:first row|2:second row": what the splitter makes of a text, without blanks.
std::string rowsOf(std::string_view text, JsonLayout layout, size_t pieceSize = SIZE_MAX) {
   std::string out;
   for (const CopyChunk& chunk : chunksOf(text, layout, pieceSize)) {
      JsonLines lines(chunk);
      for (std::string_view row; lines.next(row);) {
         out += (out.empty() ? "" : "|") + std::to_string(lines.line()) + ':';
         std::copy_if(row.begin(), row.end(), std::back_inserter(out), [](char c) { return c != ' '; });
      }
   }
   return out;
}

std::string columnsOf(const std::string& text, const ExternalRequest& request = {}) {
   const JsonOptions options = parseJsonOptions(request.options);
   JsonSniffer sniffer(options, request);
   for (const CopyChunk& chunk : chunksOf(text, options.layout))
      sniffer.see(chunk, "x");
   const JsonShape shape = sniffer.shape("x");
   std::string out = shape.isDocument ? "document" : "";
   for (const ExternalColumn& column : shape.columns)
      out += (out.empty() ? "" : "; ") + column.name + " " + formatType(column.type);
   return out;
}

/// The error that reading columns a (bigint) and b (text) meets, with its context; rows before it are counted.
std::string errorOf(const std::string& text, JsonLayout layout = JsonLayout::Lines, bool refusesOthers = false) {
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   ChunkReader::Shape shape;
   shape.rows.format = CopyFormat::Json;
   shape.rows.refusesOthers = refusesOthers;
   shape.names = {"a", "b"};
   shape.columns = {{0, {oid::int8, -1, invalidOid}}, {1, {oid::text, -1, defaultCollation}}};
   shape.hint = "try";
   uint32_t rows = 0;
   try {
      JsonRows reader(shape, memory);
      for (CopyChunk& chunk : chunksOf(text, layout)) {
         reader.open(std::move(chunk), "COPY t");
         for (Batch batch; reader.next(batch, batchRowsMax);)
            rows += batch.rowCount;
      }
   } catch (const SqlError& error) {
      return std::to_string(rows) + " rows, " + std::string(error.state().text()) + " " + error.what() + "; " +
             error.detailText() + "; " + error.hintText() + "; " + error.contextText();
   }
   return std::to_string(rows) + " rows";
}

} // namespace

CATCH_TEST_CASE("json: lines and arrays are cut into rows") {
   const auto lines = JsonLayout::Lines, array = JsonLayout::Array, either = JsonLayout::Auto;
   CATCH_CHECK(rowsOf("1\n\n 2 \r\n3", lines) == "1:1|3:2|4:3");
   CATCH_CHECK(rowsOf("", either) == "");
   CATCH_CHECK(rowsOf("\xEF\xBB\xBF{}\n", either) == "1:{}");
   CATCH_CHECK(rowsOf("\xEF\xBB\xBF\n [1, 2]", either) == "1:1|2:2");
   CATCH_CHECK(rowsOf("[1, 2]\n[3]", lines) == "1:[1,2]|2:[3]");
   CATCH_CHECK(rowsOf("  [ {\"a\": [1,\n2], \"b\": \"],[{\\\"\"} ,\n {}\n]\n", either) ==
               "1:{\"a\":[1,2],\"b\":\"],[{\\\"\"}|2:{}");
   CATCH_CHECK(rowsOf("[]", array) == "");
   CATCH_CHECK(rowsOf(" ", array) == "");
   for (const char* bad :
        {"[1,]", "[,1]", "[1,,2]", "[1", "[", "[1]]", "[1] 2", "{}", "[1}", "[\"a\nb\"]", "[\"", "[}"})
      CATCH_CHECK_THROWS_AS(rowsOf(bad, array), SqlError);
}

CATCH_TEST_CASE("json: rows do not depend on how the input arrives") {
   std::string text = "[";
   for (int i = 0; i < 200; ++i)
      text += (i ? ",\n" : "") + std::string("{\"k\": \"") + std::string(static_cast<size_t>(i % 7), '\\') +
              (i % 7 % 2 ? "\\" : "") + "]\", \"v\": [" + std::to_string(i) + ", {}]}";
   text += "]\n";
   const std::string whole = rowsOf(text, JsonLayout::Auto);
   CATCH_CHECK(std::count(whole.begin(), whole.end(), '|') == 199);
   for (const size_t size : {1, 2, 3, 7, 64, 1000})
      CATCH_CHECK(rowsOf(text, JsonLayout::Auto, size) == whole);
   const std::string lines = "{}\r\n\n  \n[1,\t2]\n\"x\"";
   for (const size_t size : {1, 2, 3, 7})
      CATCH_CHECK(rowsOf(lines, JsonLayout::Lines, size) == rowsOf(lines, JsonLayout::Lines));
}

CATCH_TEST_CASE("json: a row longer than a chunk") {
   const std::string longRow = "{\"a\":\"" + std::string(3 << 20, 'x') + "\"}";
   CATCH_CHECK(rowsOf("{}\n" + longRow + "\n{}", JsonLayout::Lines, 100'000) == "1:{}|2:" + longRow + "|3:{}");
   CATCH_CHECK(rowsOf("[{}," + longRow + ",{}]", JsonLayout::Auto, 100'000) == "1:{}|2:" + longRow + "|3:{}");
}

CATCH_TEST_CASE("json: columns and types found out from a sample") {
   CATCH_CHECK(columnsOf("{\"b\":1,\"a\":\"x\"}\n{\"c\":true,\"a\":\"y\"}") == "b bigint; a text; c boolean");
   CATCH_CHECK(columnsOf("[{\"n\":1.5},{\"n\":2}]") == "n numeric");
   CATCH_CHECK(columnsOf("{\"n\":9223372036854775807}") == "n bigint");
   CATCH_CHECK(columnsOf("{\"n\":9223372036854775808}") == "n numeric");
   CATCH_CHECK(columnsOf("{\"n\":1e3}") == "n numeric");
   CATCH_CHECK(columnsOf("{\"d\":\"2024-02-29\"}") == "d date");
   CATCH_CHECK(columnsOf("{\"d\":\"2023-02-29\"}") == "d text");
   CATCH_CHECK(columnsOf("{\"d\":\"2024-02-29\"}\n{\"d\":\"2024-02-29T10:00:00.5\"}") ==
               "d timestamp without time zone");
   CATCH_CHECK(columnsOf("{\"d\":\"2024-02-29T10:00:00Z\"}") == "d timestamp with time zone");
   CATCH_CHECK(columnsOf("{\"d\":\"2024-02-29\"}\n{\"d\":\"2024-02-29T10:00:00Z\"}") == "d text");
   CATCH_CHECK(columnsOf("{\"m\":1}\n{\"m\":\"x\"}") == "m jsonb");
   CATCH_CHECK(columnsOf("{\"m\":null}\n{\"o\":{},\"l\":[]}") == "m jsonb; o jsonb; l jsonb");
   CATCH_CHECK(columnsOf("{\"m\":null}\n{\"m\":1}") == "m bigint");
   CATCH_CHECK(columnsOf("{\"\":1,\"\\u0061\":2,\"a\":3}") == "column0 bigint; a bigint");
   CATCH_CHECK(columnsOf("{\"" + std::string(70, 'k') + "\":1}") == std::string(63, 'k') + " bigint");
   CATCH_CHECK(columnsOf("{}\n{}") == "document; json jsonb");
   CATCH_CHECK(columnsOf("{\"a\":1}\n2") == "document; json jsonb");
   CATCH_CHECK_THROWS_AS(columnsOf(""), SqlError);
   CATCH_CHECK_THROWS_AS(columnsOf("{\"a\":1"), SqlError);
   CATCH_CHECK_THROWS_AS(columnsOf("{\"a\":\"\xff\"}"), SqlError);
}

CATCH_TEST_CASE("json: columns that the request names") {
   ExternalRequest request;
   request.names = {"b", "z"};
   CATCH_CHECK(columnsOf("{\"a\":1,\"b\":2}", request) == "b bigint; z jsonb");
   request.types = {{oid::text, -1, defaultCollation}};
   CATCH_CHECK_THROWS_AS(columnsOf("{}", request), SqlError);
   request.names = {"b"};
   CATCH_CHECK(columnsOf("", request) == "b text");
   request = {};
   request.options = {{"records", {"false"}}, {"format", {"newline_delimited"}}};
   CATCH_CHECK(columnsOf("{\"a\":1}", request) == "document; json jsonb");
   std::string many = "{";
   for (int i = 0; i <= 1600; ++i)
      many += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
   CATCH_CHECK(columnsOf(many + "}") == "document; json jsonb");
}

CATCH_TEST_CASE("json: errors name the first bad row") {
   CATCH_CHECK(errorOf("{\"a\":1}\n\n{\"a\":\"2\",\"b\":3}\r\n") == "2 rows");
   CATCH_CHECK(errorOf("{\"a\":1}\n\n{\"a\":x}\n") ==
               "1 rows, 22P02 invalid input syntax for type json; Token \"x\" is invalid.; ; "
               "JSON data, line 1: {\"a\":x...\nCOPY t, line 3");
   CATCH_CHECK(errorOf("{\"a\":1}\n{\"b\":\"\\u0000\"}\n{\"a\":true}") ==
               "1 rows, 22P05 unsupported Unicode escape sequence; \\u0000 cannot be converted to text.; ; "
               "JSON data, line 1: \"\\u0000...\nCOPY t, line 2");
   CATCH_CHECK(
       errorOf("{\"a\":1}\n{\"a\":true}\n") ==
       "1 rows, 22P02 invalid input syntax for type bigint: \"true\"; ; try; COPY t, line 2, column a: \"true\"");
   CATCH_CHECK(
       errorOf("[{\"a\":1},\n{\"a\":[]}]", JsonLayout::Auto) ==
       "1 rows, 22P02 invalid input syntax for type bigint: \"[]\"; ; try; COPY t, element 2, column a: \"[]\"");
   CATCH_CHECK(errorOf("{}\n7\n") == "1 rows, 22P04 expected a JSON object, but found a number; ; ; COPY t, line 2");
   CATCH_CHECK(errorOf("{\"c\":1}\n") == "1 rows");
   CATCH_CHECK(errorOf("{\"c\":1}\n", JsonLayout::Lines, true) ==
               "0 rows, 22P04 JSON member \"c\" is none of the columns; ; ; COPY t, line 1");
   CATCH_CHECK(errorOf("{}\n{\"b\":\"\xc3(\"}\n").starts_with("1 rows, 22021"));
   CATCH_CHECK(errorOf("{\"b\":" + std::string(9000, '[')).starts_with("0 rows, 54001"));
   CATCH_CHECK(errorOf("{\"a\":\"x\",\"a\":1}") == "1 rows"); // the last of equal keys counts
   CATCH_CHECK(errorOf("{\"a\":1} {}").starts_with("0 rows, 22P02"));
   CATCH_CHECK(errorOf("{\"a\":1,}").starts_with("0 rows, 22P02"));
   CATCH_CHECK(errorOf("{\"a\" 1}").starts_with("0 rows, 22P02"));
}

CATCH_TEST_CASE("json: damaged input gives rows or errors of SQL") {
   const uint64_t seed = std::random_device()();
   CATCH_INFO("seed " << seed);
   std::mt19937_64 random(seed);
   const std::string first = R"({"a": 1, "b": "x\u00e4\n", "l": [1, null, "2"], "j": {"k": [true, -1.5e3]}})";
   const std::string second = R"({"b": null, "a": "7", "l": [["{"]], "j": "\\"})";
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   ChunkReader::Shape shape;
   shape.rows.format = CopyFormat::Json;
   shape.names = {"a", "b", "l", "j"};
   shape.columns = {{0, {oid::int4, -1, invalidOid}},
                    {1, {oid::text, -1, defaultCollation}},
                    {2, {arrayTypeOf(oid::text), -1, defaultCollation}},
                    {3, {oid::jsonb, -1, invalidOid}}};
   uint64_t rows = 0, errors = 0;
   for (int round = 0; round < 20'000; ++round) {
      std::string text = round % 2 ? "[" + first + ",\n" + second + "]\r\n" : first + "\r\n\n" + second;
      for (uint64_t changes = random() % 3; changes > 0; --changes) {
         const size_t at = random() % text.size();
         constexpr std::string_view bytes = "\"\\[]{},: \n0u\xff";
         if (random() % 3 == 0)
            text.erase(at, 1 + random() % 5);
         else
            text[at] = bytes[random() % bytes.size()];
         if (text.empty()) text = " ";
      }
      try {
         JsonRows reader(shape, memory);
         for (CopyChunk& chunk : chunksOf(text, JsonLayout::Auto, 1 + random() % 50)) {
            reader.open(std::move(chunk), "COPY t");
            for (Batch batch; reader.next(batch, 2);)
               rows += batch.rowCount;
         }
      } catch (const SqlError&) {
         ++errors;
      }
   }
   CATCH_CHECK(rows > 10'000);
   CATCH_CHECK(errors > 5'000);
   CATCH_CHECK(ledger.used() == memory.used());
}

CATCH_TEST_CASE("json: an array as the text of an SQL array") {
   const auto text = [](Oid type, std::string_view json) {
      std::string out;
      appendLiteral(out, type, json, SessionFormat());
      return out;
   };
   CATCH_CHECK(text(arrayTypeOf(oid::text), "[1, null, \"a\\\"b\", {\"k\": [1]}]") ==
               R"({"1",NULL,"a\"b","{\"k\": [1]}"})");
   CATCH_CHECK(text(arrayTypeOf(oid::text), "[[1], [true]]") == R"({{"1"},{"true"}})");
   CATCH_CHECK(text(arrayTypeOf(oid::int4), "[ ]") == "{}");
   CATCH_CHECK(text(arrayTypeOf(oid::jsonb), "[\"a\",[1]]") == R"({"\"a\"","[1]"})");
   CATCH_CHECK(text(oid::text, "\"\\u0041\"") == "A");
   CATCH_CHECK(text(oid::json, "\"\\u0041\"") == "\"\\u0041\"");
}

CATCH_TEST_CASE("json: compressed files") {
   // {"a":1} and a line feed.
   const std::string gzip(
       "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x32\xac\xe5\x02\x00\x46\xa3\xe8\x74"
       "\x08\x00\x00\x00",
       28);
   const std::string zstd("\x28\xb5\x2f\xfd\x04\x58\x41\x00\x00{\"a\":1}\n\xe2\xef\xec\xe0", 21);
   const Directory directory;
   const auto textOf = [&](const std::string& name, const std::string& bytes) {
      std::string text;
      DecompressedInput input(directory.write(name, bytes), nullptr);
      while (const auto piece = input.next())
         text += *piece;
      return text;
   };
   for (const auto& [name, bytes] : {std::pair{"a.json.gz", gzip}, std::pair{"a.json.zst", zstd}}) {
      CATCH_CHECK(textOf(name, bytes) == "{\"a\":1}\n");
      CATCH_CHECK(textOf(name, bytes + bytes) == "{\"a\":1}\n{\"a\":1}\n"); // members and frames may follow each other
      CATCH_CHECK(textOf(name, "") == "");
      for (size_t size = 1; size < bytes.size(); ++size)
         CATCH_CHECK_THROWS_AS(textOf(name, bytes.substr(0, size)), SqlError);
      std::string damaged = bytes;
      damaged[damaged.size() - 2] ^= 1; // of the size, or of the checksum
      CATCH_CHECK_THROWS_AS(textOf(name, damaged), SqlError);
      CATCH_CHECK_THROWS_AS(textOf(name, "{\"a\":1}\n"), SqlError);
   }
   CATCH_CHECK(textOf("a.json", gzip) == gzip);
   ExternalRequest request;
   request.patterns = {directory.write("b.json.gz", gzip), directory.write("b.json.zst", zstd)};
   CATCH_CHECK(JsonTable(request).columns()[0].name == "a");
}

CATCH_TEST_CASE("json: several readers read every row once") {
   const Directory directory;
   std::string text;
   constexpr int64_t rows = 100'000;
   for (int64_t i = 0; i < rows; ++i)
      text += i % 2 ? "{\"id\":" + std::to_string(i) + ",\"name\":\"row\\n" + std::to_string(i) + "\"}\n"
                    : "{\"name\":\"row\\n" + std::to_string(i) + "\",\"other\":{},\"id\":" + std::to_string(i) + "}\n";
   ExternalRequest request;
   request.patterns = {directory.write("a.ndjson", text), directory.write("b.json", text),
                       directory.write("empty.json", ""), directory.write("c.json", "[]")};
   const JsonTable table(request);
   CATCH_REQUIRE(table.columns()[2].name == "id");
   MemoryLedger ledger(1 << 30);
   Reservation memory(ledger);
   {
      ExternalScanSpec spec;
      spec.columns = {2, 0};
      spec.memory = &memory;
      const auto scan = table.scan(std::move(spec));
      std::atomic<int64_t> sum{0}, count{0}, bad{0};
      const auto work = [&] {
         const auto reader = scan->makeReader();
         Batch batch;
         while (reader->next(batch, batchRowsMax))
            for (uint32_t row = 0; row < batch.rowCount; ++row) {
               const int64_t id = batch.columns[0].value<int64_t>(row);
               bad += batch.columns[1].value<StringView>(row).view() != "row\n" + std::to_string(id);
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
