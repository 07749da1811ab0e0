#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

#include "common/memory/ledger.hpp"
#include "common/thread/run_on_threads.hpp"
#include "common/xml/concatenation.hpp"
#include "common/xml/document.hpp"
#include "common/xml/names.hpp"
#include "common/xml/path.hpp"

using namespace ouzel;
using xml::Option;

namespace {

std::string forClient(std::string_view value) {
   std::string out;
   xml::appendForClient(out, value);
   return out;
}

std::string detailOf(std::string_view text, Option option) {
   try {
      xml::check(text, option, nullptr);
   } catch (const SqlError& error) {
      return error.detailText();
   }
   return {};
}

/// A file that goes at the end.
struct TemporaryFile {
   explicit TemporaryFile(const char* content) {
      char name[] = "/tmp/ouzel-xml-XXXXXX";
      const int descriptor = mkstemp(name);
      CATCH_REQUIRE(descriptor >= 0);
      close(descriptor);
      path = name;
      std::ofstream(path) << content;
   }
   ~TemporaryFile() { std::remove(path.c_str()); }
   TemporaryFile(const TemporaryFile&) = delete;
   std::string path;
};

std::string firstText(std::string_view document, const std::string& text) {
   xml::Errors errors(xml::Strictness::All);
   const xml::DocumentPtr tree = xml::parseDocument(document, errors);
   const xml::PathContext context(tree.get(), errors);
   const xml::Path path = context.compile(text, errors, sqlstate::internalError);
   return context.evaluate(path, errors)->text();
}

} // namespace

CATCH_TEST_CASE("xml: a declaration is read in its parts and printed without the encoding") {
   xml::Declaration declaration;
   const std::string_view text = "<?xml version=\"1.1\" encoding='latin1' standalone=\"no\" ?><a/>";
   CATCH_REQUIRE_FALSE(xml::readDeclaration(text, declaration).detail);
   CATCH_CHECK(declaration.version == "1.1");
   CATCH_CHECK(declaration.encoding == "latin1");
   CATCH_CHECK(declaration.standalone == xml::Standalone::No);
   CATCH_CHECK(text.substr(declaration.size) == "<a/>");
   CATCH_CHECK(forClient(text) == "<?xml version=\"1.1\" standalone=\"no\"?><a/>");
   CATCH_CHECK(forClient("<?xml version='1.0' encoding='x'?>\n\n<a/>") == "\n<a/>");
   CATCH_CHECK(forClient("<?xml-stylesheet?>") == "<?xml-stylesheet?>");
   CATCH_CHECK(xml::readDeclaration("<?xml version='1.0' standalone='y'?>", declaration).detail);
   CATCH_CHECK(xml::readDeclaration("<?xml version='1.0'", declaration).detail);
   CATCH_CHECK(xml::readDeclaration("<?xml", declaration).detail);
}

CATCH_TEST_CASE("xml: names of SQL become names of XML and come back") {
   using xml::NameEscapes;
   CATCH_CHECK(xml::nameFromSql("a b", NameEscapes::Partly) == "a_x0020_b");
   CATCH_CHECK(xml::nameFromSql("xmlName", NameEscapes::Partly) == "xmlName");
   CATCH_CHECK(xml::nameFromSql("xmlName", NameEscapes::Fully) == "_x0078_mlName");
   CATCH_CHECK(xml::nameFromSql("a.b:c", NameEscapes::WithPeriods) == "a_x002E_b_x003A_c");
   for (const char* name : {"plain", ":a:b", "1x", "_x0041_", "\xc3\xa9t\xc3\xa9", "\xe2\x82\xac", "Xml", "<&>", ""})
      for (const NameEscapes escapes : {NameEscapes::Partly, NameEscapes::Fully, NameEscapes::WithPeriods})
         CATCH_CHECK(xml::nameToSql(xml::nameFromSql(name, escapes)) == name);
   CATCH_CHECK(xml::nameToSql("_xD800_") == "_xD800_");
}

CATCH_TEST_CASE("xml: joined values have the declaration that all of them have") {
   const auto joined = [](std::initializer_list<std::string_view> values) {
      xml::JoinedDeclaration declaration;
      std::string content, text;
      for (const std::string_view value : values)
         content.append(value.substr(declaration.add(value)));
      declaration.append(text);
      return text + content;
   };
   CATCH_CHECK(joined({"<a/>", "<b/>"}) == "<a/><b/>");
   CATCH_CHECK(joined({"<?xml version='1.1'?><a/>", "<?xml version='1.1'?><b/>"}) == "<?xml version=\"1.1\"?><a/><b/>");
   CATCH_CHECK(joined({"<?xml version='1.1' standalone='yes'?><a/>", "<?xml version='1.0' standalone='no'?><b/>"}) ==
               "<?xml version=\"1.0\" standalone=\"no\"?><a/><b/>");
}

CATCH_TEST_CASE("xml: nothing outside of the text is read") {
   const TemporaryFile broken("<not closed");
   const std::string file = "SYSTEM \"" + broken.path + "\"";
   // Each would be an error if the file were read.
   CATCH_CHECK_NOTHROW(xml::check("<!DOCTYPE a [<!ENTITY c " + file + ">]><a>&c;</a>", Option::Document, nullptr));
   CATCH_CHECK_NOTHROW(xml::check("<!DOCTYPE a [<!ENTITY % c " + file + "> %c;]><a/>", Option::Content, nullptr));
   CATCH_CHECK_NOTHROW(xml::check("<!DOCTYPE a " + file + "><a/>", Option::Document, nullptr));
   CATCH_CHECK(firstText("<!DOCTYPE a [<!ENTITY c " + file + ">]><a>x&c;y</a>", "/a") == "xy");
   CATCH_CHECK_THROWS_AS(xml::check("<a>&c;</a>", Option::Content, nullptr), SqlError);
}

CATCH_TEST_CASE("xml: threads that parse at the same time get their own errors") {
   std::atomic<int> next = 0, wrong = 0;
   runOnThreads(8, [&] {
      const std::string name = "name" + std::to_string(next.fetch_add(1));
      for (int i = 0; i < 500; ++i) {
         const std::string text = "<" + name + ">" + std::string(static_cast<size_t>(i % 50), 'x');
         const std::string detail = detailOf(text, i % 2 ? Option::Document : Option::Content);
         if (detail.find("in tag " + name + " line 1") == std::string::npos) ++wrong;
         if (firstText(text + "</" + name + ">", "name(/*)") != name) ++wrong;
         if (!detailOf(text + "</" + name + ">", Option::Document).empty()) ++wrong;
      }
   });
   CATCH_CHECK(wrong == 0);
}

CATCH_TEST_CASE("xml: a tree is charged while it lives, and refused when it does not fit") {
   MemoryLedger ledger(1 << 20);
   Reservation reservation(ledger);
   std::string text = "<a>";
   for (int i = 0; i < 10000; ++i)
      text += "<b/>";
   text += "</a>";
   CATCH_CHECK_THROWS_AS(xml::check(text, Option::Content, &reservation), SqlError);
   CATCH_CHECK(reservation.used() == 0);
   CATCH_CHECK_NOTHROW(xml::check("<a><b/></a>", Option::Content, &reservation));
   CATCH_CHECK(reservation.used() == 0);
   CATCH_CHECK(reservation.peak() > 0);
}

CATCH_TEST_CASE("xml: deep nesting and entities that grow are errors") {
   const auto repeated = [](std::string_view part, int count) {
      std::string text;
      for (int i = 0; i < count; ++i)
         text += part;
      return text;
   };
   CATCH_CHECK_FALSE(xml::isWellFormed(repeated("<a>", 5000) + repeated("</a>", 5000), Option::Content, nullptr));
   std::string entities = "<!DOCTYPE a [<!ENTITY e0 \"" + repeated("x", 1000) + "\">";
   for (int i = 1; i < 10; ++i)
      entities += "<!ENTITY e" + std::to_string(i) + " \"" + repeated("&e" + std::to_string(i - 1) + ";", 10) + "\">";
   CATCH_CHECK_FALSE(xml::isWellFormed(entities + "]><a>&e9;</a>", Option::Document, nullptr));
   xml::Errors errors(xml::Strictness::All);
   const xml::DocumentPtr tree = xml::parseDocument("<a/>", errors);
   const xml::PathContext context(tree.get(), errors);
   CATCH_CHECK_THROWS_AS(context.compile(repeated("(", 100000), errors, sqlstate::internalError), SqlError);
}
