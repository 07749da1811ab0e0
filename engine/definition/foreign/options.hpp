#pragma once
#include <string>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "engine/query/command_context.hpp"

// OPTIONS (...) of foreign data: what ADD, SET and DROP make of a list, and who checks it.

struct List;

namespace ouzel::engine {

/// The options after OPTIONS (...). Throws 42704 for one to set or drop that is missing, 42710 for one to add that is
/// there, 22023 for a name with "=".
catalog::ForeignOptions changedOptions(catalog::ForeignOptions options, const ::List* list);

/// Calls the wrapper's validator for options of an object in a system catalog, and passes on what it throws. `catalog`:
/// pg_foreign_server, pg_attribute for columns, ...
void validateOptions(SessionCore& core, const catalog::ForeignWrapper& wrapper, Oid catalog,
                     const catalog::ForeignOptions& options);

/// Both, as CREATE does it. ALTER calls it only if the statement has OPTIONS.
catalog::ForeignOptions validatedOptions(SessionCore& core, const catalog::ForeignWrapper& wrapper, Oid catalog,
                                         catalog::ForeignOptions options, const ::List* list);

} // namespace ouzel::engine
