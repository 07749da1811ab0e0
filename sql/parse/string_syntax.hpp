#pragma once

namespace ouzel::sql {

/// While it lives, backslashes in '...' are escapes for the statements that this thread parses, unless `isStandard`:
/// the setting standard_conforming_strings.
class StringSyntax {
public:
   explicit StringSyntax(bool isStandard);
   ~StringSyntax();
   StringSyntax(const StringSyntax&) = delete;
   StringSyntax& operator=(const StringSyntax&) = delete;

private:
   const bool previous_;
};

} // namespace ouzel::sql
