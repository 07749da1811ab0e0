#pragma once
#include <functional>

#include "engine/definition/definition.hpp"

namespace ouzel::engine {

/// Makes the table of CREATE TABLE or CREATE FOREIGN TABLE (define.cpp). `check` runs before the elements are read,
/// once it is known that they count; `complete` adds to the draft what only a foreign table has. Both may be null.
/// Empty: IF NOT EXISTS, and a relation of the name is there.
std::optional<Oid> makeTable(CommandContext& context, const ::CreateStmt& statement, const std::function<void()>& check,
                             const std::function<void(catalog::Relation&)>& complete);

} // namespace ouzel::engine
