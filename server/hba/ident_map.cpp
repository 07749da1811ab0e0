#include "server/hba/ident_map.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

namespace ouzel::server {

namespace {

constexpr std::string_view firstMatch = "\\1";

std::shared_ptr<const re2::RE2> compile(const std::string& pattern, std::string& problem) {
   re2::RE2::Options options;
   options.set_log_errors(false);
   auto expression = std::make_shared<const re2::RE2>(pattern, options);
   if (!expression->ok()) problem = fmt::format("invalid regular expression \"{}\": {}", pattern, expression->error());
   return expression;
}

/// Empty: the line is right.
std::string parseLine(const RuleLine& line, IdentMap::Line& out) {
   if (line.fields.size() < 3) return "missing entry at end of line";
   if (line.fields.size() > 3) return "a line has three entries: map, system user, role";
   for (const RuleField& field : line.fields)
      if (field.size() > 1) return "multiple values in ident field";
   out.number = line.number;
   out.map = line.fields[0][0].text;
   out.systemName = line.fields[1][0].text;
   out.role = line.fields[2][0].text;
   std::string problem;
   if (!out.systemName.starts_with('/')) return problem;
   out.expression = compile(out.systemName.substr(1), problem);
   if (problem.empty() && out.role.find(firstMatch) != std::string::npos &&
       out.expression->NumberOfCapturingGroups() < 1)
      problem = fmt::format("regular expression \"{}\" has no subexpressions as requested by backreference in \"{}\"",
                            out.systemName.substr(1), out.role);
   return problem;
}

bool matches(const IdentMap::Line& line, const std::string& systemName, const std::string& role) {
   if (!line.expression) return line.systemName == systemName && line.role == role;
   re2::StringPiece parts[2];
   const int wanted = line.expression->NumberOfCapturingGroups() > 0 ? 2 : 1;
   if (!line.expression->Match(systemName, 0, systemName.size(), re2::RE2::UNANCHORED, parts, wanted)) return false;
   std::string expected = line.role;
   if (const size_t at = expected.find(firstMatch); at != std::string::npos)
      expected.replace(at, firstMatch.size(), parts[1].data() != nullptr ? parts[1].as_string() : "");
   return expected == role;
}

} // namespace

IdentMap::IdentMap() = default;
IdentMap::IdentMap(IdentMap&&) noexcept = default;
IdentMap& IdentMap::operator=(IdentMap&&) noexcept = default;
IdentMap::~IdentMap() = default;

IdentMap IdentMap::parse(std::string_view text, std::vector<RuleProblem>& problems) {
   IdentMap map;
   for (const RuleLine& line : cutRuleLines(text, problems)) {
      Line parsed;
      std::string problem = parseLine(line, parsed);
      if (problem.empty())
         map.lines_.push_back(std::move(parsed));
      else
         problems.push_back({line.number, std::move(problem)});
   }
   return map;
}

bool IdentMap::isAllowed(const std::string& map, const std::string& systemName, const std::string& role,
                         std::string& reason) const {
   if (map.empty()) {
      if (systemName == role) return true;
      reason = fmt::format("provided user name ({}) and authenticated user name ({}) do not match", role, systemName);
      return false;
   }
   for (const Line& line : lines_)
      if (line.map == map && matches(line, systemName, role)) return true;
   reason = fmt::format("no match in usermap \"{}\" for user \"{}\" authenticated as \"{}\"", map, role, systemName);
   return false;
}

} // namespace ouzel::server
