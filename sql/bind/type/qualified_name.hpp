#pragma once
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

/// Checks the dotted name of a type or function: with three parts, the first must be the name of the session's
/// database. Throws 0A000 for another one's, 42601 for more parts.
void requireOwnDatabase(ListOf<> parts, const catalog::Snapshot& catalog, uint32_t position);

/// The type of an extension that a dotted name means; null: there is none.
const catalog::TypeInfo* extensionTypeNamed(const catalog::Snapshot& catalog, const catalog::SearchPath& path,
                                            ListOf<> parts);

} // namespace ouzel::sql
