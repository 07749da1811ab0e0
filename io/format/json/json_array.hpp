#pragma once
#include <string>
#include <string_view>

namespace ouzel::io {

/// Appends the text of an SQL array, {"a",NULL,{...}}, with the elements of a JSON array. Arrays inside become further
/// dimensions; strings give their text, other values their JSON. `areJson`: elements are json or jsonb, so that strings
/// stay in their quotes. REQUIRES: the text is a JSON array.
void appendArrayOfJson(std::string& out, std::string_view json, bool areJson);

} // namespace ouzel::io
