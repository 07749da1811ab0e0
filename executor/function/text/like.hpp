#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::executor {

/// A LIKE pattern, prepared for matching many texts. `%` matches any characters, `_` one character; a backslash makes
/// the next character literal. Immutable.
class LikePattern {
public:
   enum class Kind : uint8_t {
      Exact,    ///< no wildcard: equality with literal()
      Prefix,   ///< abc%
      Suffix,   ///< %abc
      Contains, ///< %abc%
      Segments, ///< literals with % between: each is searched after the one before
      General,  ///< with _ or an escape character at the end
   };

   /// `foldCase`: ILIKE; texts must be folded before matches().
   explicit LikePattern(std::string_view pattern, bool foldCase = false);

   Kind kind() const { return kind_; }
   const std::string& literal() const { return segments_.front(); }
   /// Throws 22025 if matching reaches an escape character at the end of the pattern.
   bool matches(std::string_view text) const;

private:
   bool matchesSegments(std::string_view text) const;

   Kind kind_ = Kind::General;
   bool startsOpen_ = false, endsOpen_ = false; // the pattern has a % at the start, at the end
   std::vector<std::string> segments_;          // the literals, without escape characters
   std::string pattern_;                        // for General
};

} // namespace ouzel::executor
