#include <cstdio>
#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/xml/concatenation.hpp"
#include "common/xml/document.hpp"
#include "common/xml/names.hpp"
#include "common/xml/path.hpp"
#include "tests/fuzz/target.hpp"

// Input: after its first byte, text that may be xml; if the byte is odd, a path, a line feed and a document. What is
// accepted prints as text that is accepted and prints alike. Names come back from XML. Paths never lead out of memory.

namespace ouzel::fuzz {

bool isText() {
   return false;
}

bool isWellFormed(const std::string&) {
   return true;
}

namespace {

constexpr const char* values[] = {
    "<?xml version=\"1.1\" encoding='utf-8' standalone=\"yes\"?>\n<a b=\"c&lt;\">d<e/><![CDATA[f]]><!--g--><?h i?></a>",
    "<!DOCTYPE a [<!ENTITY b \"c\"><!ENTITY d SYSTEM \"/e\"><!ENTITY % f SYSTEM \"g\"> %f; <!ATTLIST a h CDATA \"i\">]>"
    "<a>&b;&d;&#233;</a>",
    "<a:b xmlns:a=\"urn:c\"><a:d a:e='1'/>\xc3\xa9</a:b><f/>", " text &amp; more "};
constexpr const char* paths[] = {"//b[@c='d' and position()<3]/text()\n<a><b c='d'>e</b><b/></a>",
                                 "count(/a/*) * 2 div 3\n<a><b/><c/></a>",
                                 "concat(string(//@x), substring('abc', 2))|//y\n<a x='1'><y/></a>",
                                 "ancestor-or-self::node()/following::*\n<a><b/><!--c--></a>"};

void require(bool holds, const char* what) {
   if (holds) return;
   std::fprintf(stderr, "broken: %s\n", what);
   std::abort();
}

void readValue(std::string_view text) {
   if (findInvalidUtf8(text) != text.size()) return; // as the server checks texts of clients
   for (const xml::NameEscapes escapes : {xml::NameEscapes::Partly, xml::NameEscapes::WithPeriods})
      require(xml::nameToSql(xml::nameFromSql(text, escapes)) == text, "a name comes back");
   for (const xml::Option option : {xml::Option::Content, xml::Option::Document}) {
      if (!xml::isWellFormed(text, option, nullptr)) continue;
      xml::check(text, option, nullptr);
      std::string printed, again;
      xml::appendForClient(printed, text);
      require(xml::isWellFormed(printed, option, nullptr), "a value's text is a value");
      xml::appendForClient(again, printed);
      // A line feed goes with each printing.
      require(printed == again || printed.starts_with('\n'), "a value's text prints alike");
   }
   xml::JoinedDeclaration declaration;
   declaration.add(text);
}

void evaluate(std::string_view input) {
   const size_t line = input.find('\n');
   if (line == std::string_view::npos || input.find('\0') != std::string_view::npos) return;
   xml::Errors errors(xml::Strictness::All);
   const xml::DocumentPtr document = xml::parseDocument(input.substr(line + 1), errors);
   const xml::PathContext context(document.get(), errors);
   const xml::Path path = context.compile(std::string(input.substr(0, line)), errors, sqlstate::internalError);
   const auto result = context.evaluate(path, errors);
   std::string text = result->text();
   if (result->kind() != xml::PathResult::Kind::Nodes) return;
   for (_xmlNode* node : result->nodes())
      xml::appendNode(text, node);
}

} // namespace

std::vector<std::string> seeds() {
   std::vector<std::string> all;
   for (const char* value : values)
      all.push_back(std::string(1, '\0') + value);
   for (const char* path : paths)
      all.push_back(std::string(1, '\1') + path);
   return all;
}

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   if (size == 0) return 0;
   const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
   try {
      if ((data[0] & 1) == 0)
         ouzel::fuzz::readValue(input);
      else
         ouzel::fuzz::evaluate(input);
   } catch (const ouzel::SqlError&) { // refused input
   }
   return 0;
}
