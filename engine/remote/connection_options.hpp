#pragma once
#include <string>
#include <string_view>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "engine/core/session_core.hpp"

// The options of the extension postgres_fdw: of servers, user mappings, foreign tables and their columns.

namespace ouzel::engine {

/// What the function postgres_fdw_validator does. `catalog`: of the object that has the options, each "name=value".
/// Throws HV00D for one that the object cannot have, 42601 and 22023 for a wrong value, 42501 for one that only
/// superusers set. Warns of extensions that are not installed.
void checkPostgresOptions(SessionCore& core, const catalog::ForeignOptions& options, Oid catalog);

/// Whether libpq knows the option, so that it is passed on to the connection.
bool isConnectionOption(std::string_view name);

/// The value of an option; null: it is not given.
const std::string* findOption(const catalog::ForeignOptions& options, std::string_view name);
/// The value of one of the options with a Boolean or a positive whole number as value. REQUIRES: the value was checked.
bool booleanOption(const catalog::ForeignOptions& options, std::string_view name, bool otherwise);
int integerOption(const catalog::ForeignOptions& options, std::string_view name, int otherwise);

} // namespace ouzel::engine
