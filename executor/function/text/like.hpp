#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::executor {

/// A LIKE pattern ready for many texts. `%` any characters, `_` one character, backslash takes the next literally.
class LikePattern {
public:
   enum class Kind : uint8_t {
      Exact,    ///< no wildcard: equality with literal()
      Prefix,   ///< abc%
      Suffix,   ///< %abc
      Contains, ///< %abc%
      Segments, ///< literals with % between: each is searched after the last
      General,  ///< with _ or a dangling escape
   };

   /// `foldCase`: ILIKE; texts must be folded too.
   explicit LikePattern(std::string_view pattern, bool foldCase = false);

   Kind kind() const { return kind_; }
   const std::string& literal() const { return segments_.front(); }
   /// Throws 22025 if matching gets to an escape character at the pattern's end.
   bool matches(std::string_view text) const;

private:
   bool matchesSegments(std::string_view text) const;

   Kind kind_ = Kind::General;
   bool startsOpen_ = false, endsOpen_ = false; // a % at that end
   std::vector<std::string> segments_;          // literal runs, unescaped
   std::string pattern_;                        // for General
};

} // namespace ouzel::executor
