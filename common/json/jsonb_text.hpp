#pragma once
#include <string>
#include <string_view>

#include "common/json/jsonb.hpp"

// jsonb as text.

namespace ouzel::json {

/// Appends a text in quotes, with PostgreSQL's escapes (escape_json).
void appendQuoted(std::string& out, std::string_view text);

/// Appends a value as jsonb_out prints it: {"a": 1, "b": [2, 3]}. Throws 54001 where values nest too deeply.
void appendText(std::string& out, const JsonbView& value);

/// Appends a value as jsonb_pretty prints it: each member and element on a line of its own, with four blanks a level.
void appendPretty(std::string& out, const JsonbView& value);

/// Appends what ->> gives: a string without quotes, other values as appendText.
void appendPlain(std::string& out, const JsonbView& value);

} // namespace ouzel::json
