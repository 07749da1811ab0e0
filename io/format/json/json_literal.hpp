#pragma once
#include <string>
#include <string_view>

#include "common/type/session_format.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::io {

/// Whether JSON arrays or objects have a meaning for values of the type: arrays and rows.
bool hasParts(Oid type);

/// Appends the text of an SQL value, as its input function wants it, that a JSON value stands for. A JSON array gives
/// {"a",NULL}, if the type is an array; arrays inside become further dimensions. An object gives ("a",), if the type is
/// a row's: the members by name, absent ones NULL. A string gives its text, anything else, and all for json and jsonb,
/// its JSON. REQUIRES: valid JSON.
void appendLiteral(std::string& out, Oid type, std::string_view json, const SessionFormat& format);

} // namespace ouzel::io
