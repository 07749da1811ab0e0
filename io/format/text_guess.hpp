#pragma once
#include <string_view>

#include "common/value/sql_type.hpp"

// What a text of a file without types looks like. Only ISO forms count as dates and times: a text that merely can be
// read as one ("May 2024", "infinity") is more likely a text.

namespace ouzel::io {

/// Whether the type's input function accepts the text.
bool parsesAs(Oid type, std::string_view text);
/// YYYY-MM-DD, a day that exists.
bool looksLikeDate(std::string_view text);
/// YYYY-MM-DD HH:MM..., or with T; with or without an offset from UTC at the end.
bool looksLikeTimestamp(std::string_view text, bool hasZone);

} // namespace ouzel::io
