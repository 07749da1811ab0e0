#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"
#include "catalog/object/search_path.hpp"

namespace ouzel::catalog {

/// The list of a built-in function or language: what GRANT and REVOKE have made of it, or what PostgreSQL begins with;
/// empty: the default privileges of its kind.
Acl systemAcl(const Snapshot& snapshot, Oid classOid, Oid object);
/// The list that PostgreSQL begins with (pg_init_privs).
Acl initialAcl(Oid classOid, Oid object);
/// "function pg_sleep(double precision)", "language plpgsql".
std::string systemObjectText(const Snapshot& snapshot, const SearchPath& path, Oid classOid, Oid object);
std::string_view languageName(Oid language);
/// invalidOid: there is no such language.
Oid findLanguage(std::string_view name);
/// The built-in functions that not everybody may call at first, ascending.
std::vector<Oid> functionsWithInitialAcl();

} // namespace ouzel::catalog
