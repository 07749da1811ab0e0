#pragma once
#include <string>
#include <string_view>

// Names and characters: SQL's names as names of elements and back (SQL/XML, 9.1 and 9.3), characters that need escapes.

namespace ouzel::xml {

constexpr bool isBlank(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
/// Whether the text begins with a character that XML allows inside of names.
bool beginsWithNameCharacter(std::string_view text);

/// How much of a name of SQL becomes _xHHHH_: `Partly`, what cannot be in a name of XML; `Fully`, also colons and the
/// xml that it begins with; `WithPeriods`, also periods, which separate the parts of a name.
enum class NameEscapes { Partly, Fully, WithPeriods };
std::string nameFromSql(std::string_view identifier, NameEscapes escapes);
std::string nameToSql(std::string_view name);

/// Appends text as the content of an element: & < > and line feeds of Macintosh are escaped.
void appendEscaped(std::string& out, std::string_view text);
/// Appends text as the value of an attribute, in quotes; what is not ASCII becomes &#xHHHH;.
void appendAttributeValue(std::string& out, std::string_view text);

} // namespace ouzel::xml
