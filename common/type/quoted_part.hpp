#pragma once
#include <string>
#include <string_view>

// A field of a record literal or a bound of a range literal: both are quoted in the same way.

namespace ouzel {

/// Takes the part of `text` from `at` up to one of the characters of `ends` outside of double quotes, and returns it
/// without quotes and backslashes; `at` is left there. `fail(detail)` throws when the text ends first.
template <typename Fail>
std::string takeQuotedPart(std::string_view text, size_t& at, std::string_view ends, Fail&& fail) {
   std::string value;
   bool isQuoted = false;
   while (isQuoted || at >= text.size() || ends.find(text[at]) == std::string_view::npos) {
      if (at >= text.size()) fail("Unexpected end of input.");
      const char c = text[at++];
      if (c == '\\') {
         if (at >= text.size()) fail("Unexpected end of input.");
         value.push_back(text[at++]);
      } else if (c != '"') {
         value.push_back(c);
      } else if (isQuoted && at < text.size() && text[at] == '"') {
         value.push_back(text[at++]);
      } else {
         isQuoted = !isQuoted;
      }
   }
   return value;
}

} // namespace ouzel
