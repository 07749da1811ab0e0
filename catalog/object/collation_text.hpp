#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/object/collation.hpp"

// Collations of users in the texts that the catalog keeps: views, defaults, checks, expressions of indexes, ... name
// them as COLLATE schema.name. What depends on a collation is found in the texts, and so is what changes with its name.

namespace ouzel::catalog {

/// Whether the text says COLLATE and the collation's name, with its schema's or without a schema.
bool namesCollation(std::string_view sql, std::string_view schema, std::string_view name);
/// The text with `renamed`, an SQL name, in the place of each such name.
std::string withCollationNamed(std::string_view sql, std::string_view schema, std::string_view name,
                               std::string_view renamed);
/// The text with another schema in the place of each name of a collation of this schema.
std::string withCollationsMoved(std::string_view sql, std::string_view schema, std::string_view newSchema);

/// Calls `change` for each text of the relation: views, defaults, checks, expressions, policies, rules.
void forEachText(Relation& relation, const std::function<void(std::string&)>& change);
/// The same of a relation that stays as it is.
void forEachText(const Relation& relation, const std::function<void(const std::string&)>& visit);
/// Whether a column, a key or a text of the relation needs the collation. `schema`: the name of its schema.
bool usesCollation(const Relation& relation, const Collation& collation, std::string_view schema);

} // namespace ouzel::catalog
