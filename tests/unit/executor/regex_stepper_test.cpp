#include "executor/function/text/regex_stepper.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "executor/function/text/regex_dissector.hpp"
#include "executor/function/text/regex_syntax.hpp"

using namespace ouzel::executor;

namespace {

using Outcome = RegexStepper::Outcome;

std::optional<RegexStepper> stepperOf(const std::string& pattern) {
   const RegexSyntax syntax = parseRegex(pattern, {});
   return RegexStepper::compile(*syntax.root, syntax.root->children.size());
}

/// The spans as text: "0-5 1-2 ?".
std::string textOf(std::span<const RegexSpan> spans) {
   std::string out;
   for (const RegexSpan& span : spans)
      out += (out.empty() ? "" : " ") +
             (span.isMatched() ? std::to_string(span.begin) + "-" + std::to_string(span.end) : "?");
   return out;
}

std::string stepped(const RegexStepper& stepper, std::string_view text, size_t captures) {
   std::vector<RegexSpan> spans(captures + 1);
   switch (stepper.match(text, spans)) {
   case Outcome::Match: return textOf(spans);
   case Outcome::NoMatch: return "no match";
   case Outcome::TooManyTries: return "too many tries";
   }
   return {};
}

std::string searched(const std::string& pattern, std::string_view text, size_t captures) {
   const RegexSyntax syntax = parseRegex(pattern, {});
   std::string re2;
   writeRe2(*syntax.root, RegexLaziness::AsGiven, true, re2);
   std::vector<re2::StringPiece> found(captures + 1);
   if (!compileRe2(re2, false)
            ->Match(piece(text), 0, text.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size())))
      return "no match";
   std::vector<RegexSpan> spans(captures + 1);
   for (size_t i = 0; i < found.size(); ++i)
      if (found[i].data())
         spans[i] = {static_cast<size_t>(found[i].data() - text.data()),
                     static_cast<size_t>(found[i].data() - text.data()) + found[i].size()};
   return textOf(spans);
}

} // namespace

CATCH_TEST_CASE("a stepper takes simple expressions only", "[regex]") {
   for (const char* simple :
        {"^https?://(?:www\\.)?([^/]+)/", "^a", "^(a)(b)$", "^\\d+-\\d{2,4}?$", "^.*x", "^[[.a.]]"}) {
      CATCH_INFO(simple);
      CATCH_CHECK(stepperOf(simple).has_value());
   }
   for (const char* other :
        {"a", "^a|b", "^(a|b)", "^(ab)+", "^(?:a*)?", "^[[:alpha:]]", "^é", "^\\ya", "^a\\Z|^b", "^"}) {
      CATCH_INFO(other);
      CATCH_CHECK(!stepperOf(other).has_value());
   }
}

CATCH_TEST_CASE("a stepper finds the parts of a match", "[regex]") {
   const auto stepper = stepperOf("^https?://(?:www\\.)?([^/]+)/");
   CATCH_REQUIRE(stepper);
   CATCH_CHECK(stepped(*stepper, "https://www.example.org/a/b", 1) == "0-24 12-23");
   CATCH_CHECK(stepped(*stepper, "http://www./", 1) == "0-12 7-11");
   CATCH_CHECK(stepped(*stepper, "http://wwwé.de/", 1) == "0-16 7-15");
   CATCH_CHECK(stepped(*stepper, "https://example.org", 1) == "no match");
   CATCH_CHECK(stepped(*stepper, "", 1) == "no match");
}

CATCH_TEST_CASE("a stepper gives up when its tries grow", "[regex]") {
   const auto stepper = stepperOf("^a*a*a*a*a*b");
   CATCH_REQUIRE(stepper);
   CATCH_CHECK(stepped(*stepper, std::string(1000, 'a'), 0) == "too many tries");
   CATCH_CHECK(stepped(*stepper, std::string(1000, 'a') + "b", 0) == "0-1001");
}

// Leftmost-first search by RE2 is the referee.
CATCH_TEST_CASE("a stepper matches as leftmost-first search does", "[regex]") {
   std::mt19937 random(1);
   const auto pick = [&](std::initializer_list<const char*> choices) {
      return std::string(choices.begin()[random() % choices.size()]);
   };
   uint32_t matches = 0, tried = 0;
   for (int round = 0; round < 3000; ++round) {
      std::string pattern = "^";
      size_t captures = 0;
      for (size_t atoms = 1 + random() % 5; atoms > 0; --atoms) {
         std::string atom = pick({"a", "b", "ab", ".", "[ab]", "[^b]", "\\d", "[^a1]"});
         const bool isCaptured = random() % 3 == 0;
         captures += isCaptured ? 1 : 0;
         if (isCaptured) {
            pattern += "(" + atom + (atom == "ab" ? "" : pick({"", "*", "+?"})) + ")" + pick({"", "?", "??"});
         } else if (atom == "ab") {
            pattern += "(?:ab)" + pick({"", "?", "??"});
         } else {
            pattern += atom + pick({"", "*", "+", "?", "*?", "{2}", "{1,2}", "{2,}?"});
         }
      }
      pattern += pick({"", "$"});
      const auto stepper = stepperOf(pattern);
      if (!stepper) continue; // an optional group that may be empty
      for (int texts = 0; texts < 20; ++texts) {
         std::string text;
         for (size_t characters = random() % 8; characters > 0; --characters)
            text += pick({"a", "a", "b", "1", "é", "漢"});
         const std::string expected = searched(pattern, text, captures), found = stepped(*stepper, text, captures);
         ++tried;
         if (found == "too many tries") continue;
         matches += expected != "no match" ? 1 : 0;
         CATCH_INFO(pattern << " on " << text);
         CATCH_REQUIRE(found == expected);
      }
   }
   CATCH_CHECK(tried > 20'000);
   CATCH_CHECK(matches > 5'000);
}
