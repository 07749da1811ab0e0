#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/hba/rule_lines.hpp"

namespace re2 {
class RE2;
}

namespace ouzel::server {

/// The lines of pg_ident.conf: which role a user of the system, or the owner of a certificate, may come in as.
class IdentMap {
public:
   IdentMap();
   IdentMap(IdentMap&&) noexcept;
   IdentMap& operator=(IdentMap&&) noexcept;
   ~IdentMap();

   /// Read the text of a file. Lines that are wrong go to `problems`.
   static IdentMap parse(std::string_view text, std::vector<RuleProblem>& problems);

   struct Line {
      size_t number = 0;
      std::string map;
      std::string systemName;                     ///< behind a / it is a regular expression
      std::string role;                           ///< \1 stands for what the expression's first parentheses match
      std::shared_ptr<const re2::RE2> expression; ///< null: `systemName` is a name
   };
   const std::vector<Line>& lines() const { return lines_; }

   /// Whether somebody whom the system knows by `systemName` may come in as `role`. Without a map both have to be the
   /// same. `reason`, for the log, tells why not.
   bool isAllowed(const std::string& map, const std::string& systemName, const std::string& role,
                  std::string& reason) const;

private:
   std::vector<Line> lines_;
};

} // namespace ouzel::server
