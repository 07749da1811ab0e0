#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "common/error/sql_error.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/json/jsonpath.hpp"
#include "common/number/decimal.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/interruption.hpp"
#include "executor/function/jsonpath/path_query.hpp"
#include "executor/function/registry.hpp"
#include "tests/fuzz/target.hpp"

// Input: a jsonpath. An even first byte: its text, which is read, encoded, decoded, printed and run over a document; an
// odd one: its bytes, as a damaged block would give them. Failures are findings of sanitizers, failed DCHECKs,
// exceptions other than SqlError, XX000, and texts whose bytes do not give the path again.

namespace ouzel::fuzz {

bool isText() {
   return false;
}
bool isWellFormed(const std::string&) {
   return true;
}

std::vector<std::string> seeds() {
   std::vector<std::string> all;
   std::ifstream in(OUZEL_JSONPATHS);
   for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("parse\t")) continue;
      const size_t begin = line.find('\t') + 1;
      const std::string text = line.substr(begin, line.find('\t', begin) - begin);
      all.push_back('\0' + text);
      try {
         all.push_back('\1' + json::pathFromText(text));
      } catch (const SqlError&) {
      }
   }
   return all;
}

namespace {

void require(bool holds, const char* what) {
   if (holds) return;
   std::fprintf(stderr, "broken: %s\n", what);
   std::abort();
}

/// {"a": [1, "x", {"b": null, "c d": [true, 2.50]}], "b": "2024-02-29", "key": {"value": 3}}
std::string document() {
   json::JsonbWriter writer;
   writer.beginObject();
   writer.key("a");
   writer.beginArray();
   writer.number(decimal::fromInt64(1));
   writer.string("x");
   writer.beginObject();
   writer.key("b");
   writer.null();
   writer.key("c d");
   writer.beginArray();
   writer.boolean(true);
   writer.number(decimal::fromInt64(250, 2));
   writer.endArray();
   writer.endObject();
   writer.endArray();
   writer.key("b");
   writer.string("2024-02-29");
   writer.key("key");
   writer.beginObject();
   writer.key("value");
   writer.number(decimal::fromInt64(3));
   writer.endObject();
   writer.endObject();
   return writer.finish();
}

void run(const std::string& path) {
   static const std::string target = document();
   int64_t checksLeft = 20; // paths like $.**.**.**.** find very much
   const std::function<void()> check = [&checksLeft] {
      if (--checksLeft < 0) throw SqlError(sqlstate::queryCanceled, "enough");
   };
   const Interruptible interruptible(check);
   const executor::FunctionContext context;
   for (const bool isSilent : {true, false}) {
      try {
         executor::PathQuery query(context, true, nullptr);
         const executor::PathQuery::Row row{target, path, target, isSilent};
         query.exists(row);
         Arena results;
         query.find(row, [&](const executor::PathItems& found) { query.array(found, results); });
      } catch (const SqlError& error) {
         require(error.state() != sqlstate::internalError, error.what());
      }
   }
}

std::string printed(std::string_view bytes) {
   std::string text;
   json::appendPathText(text, bytes);
   return text;
}

} // namespace

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   using namespace ouzel;
   using namespace ouzel::fuzz;
   static const bool isRegistered = (executor::registerAllKernels(), true);
   if (!isRegistered || size == 0) return 0;
   const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
   try {
      if (data[0] % 2 == 1) {
         printed(input);
         run(std::string(input));
         return 0;
      }
      if (findInvalidUtf8(input) != input.size()) return 0; // no text
      const std::string bytes = json::pathFromText(input);
      Arena arena;
      const json::JsonPath path = json::decodePath(bytes, arena);
      require(json::encodePath(path) == bytes, "bytes that decode to another path");
      std::string text;
      json::appendPath(text, json::parsePath(input, arena));
      require(text == printed(bytes), "a path that prints in two ways");
      run(bytes);
   } catch (const SqlError& error) {
      require(error.state() != sqlstate::internalError, error.what());
   }
   return 0;
}
