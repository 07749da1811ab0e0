#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

/// What SQL calls a kind of objects after CREATE, ALTER, DROP and COMMENT ON: "TEXT SEARCH PARSER". Columns and
/// constraints of tables are TABLE, as in command tags.
std::string_view objectKindName(::ObjectType type);
/// What messages call an object of a kind: "text search parser".
std::string_view objectKindNoun(::ObjectType type);
enum class Verb : uint8_t { Create, Alter, Drop };
/// The tag of a statement: tagOf(Verb::Drop, OBJECT_VIEW) is "DROP VIEW". Static.
std::string_view tagOf(Verb verb, ::ObjectType type);

} // namespace ouzel::engine
