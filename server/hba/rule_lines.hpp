#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The words of pg_hba.conf and pg_ident.conf: lines of fields, fields of one word or of several with commas between.

namespace ouzel::server {

struct RuleWord {
   std::string text;
   bool isQuoted = false; ///< it begins with a quote: it is a name also where keywords stand
   bool is(std::string_view keyword) const { return !isQuoted && text == keyword; }
};
using RuleField = std::vector<RuleWord>;

struct RuleLine {
   size_t number = 0; ///< from 1; of the first line when a backslash continues it
   std::string text;
   std::vector<RuleField> fields; ///< one at least
};

/// What is wrong with a line.
struct RuleProblem {
   size_t line = 0;
   std::string message;
};

/// "line 3: invalid connection type \"hots\"; line 7: ...".
std::string describe(const std::vector<RuleProblem>& problems);

/// Cut a file into its lines. Blank lines and comments are left out, lines that are wrong go to `problems`.
std::vector<RuleLine> cutRuleLines(std::string_view text, std::vector<RuleProblem>& problems);

} // namespace ouzel::server
