#pragma once
#include <string_view>

#include "catalog/object/snapshot.hpp"

// Languages of CREATE LANGUAGE. Each is another name for PL/pgSQL, whose handler it has: a function in such a language
// is one of PL/pgSQL that remembers the name.

namespace ouzel::catalog {

/// pg_proc's OIDs of the functions that run and check PL/pgSQL.
inline constexpr Oid plpgsqlCallHandler = 13560, plpgsqlInlineHandler = 13561, plpgsqlValidator = 13562;

/// A language of a user in the snapshot's database; null: there is none. Valid while the snapshot lives.
const Language* findUserLanguage(const Snapshot& snapshot, std::string_view name);
const Language* userLanguage(const Snapshot& snapshot, Oid oid);
/// Of a built-in language, too.
std::string_view nameOfLanguage(const Snapshot& snapshot, Oid oid);

} // namespace ouzel::catalog
