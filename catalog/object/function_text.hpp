#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/object/function.hpp"

// How functions of users are written: in messages, and in the texts that the catalog keeps (views, defaults, checks,
// expressions of indexes, ...). Those call a function by its OID, "ouzel#16384"(1, 2), so that they mean it whatever
// its name is, and whatever functions of the name there are. What depends on a function is found in the texts.

namespace ouzel::catalog {

/// "function", "procedure" or "aggregate".
std::string_view routineNoun(FunctionKind kind);
/// The type as messages name it: schema-qualified unless visible.
std::string typeText(const Snapshot& snapshot, const SearchPath& path, Oid type);
/// "f(integer,text)", as regprocedure prints it.
std::string signatureOf(const Snapshot& snapshot, const SearchPath& path, const Function& function);

/// The name of a function in stored texts, in quotes.
std::string storedFunctionName(Oid function);
/// The OID in such a name, without quotes; empty: it is another name.
std::optional<Oid> functionOfStoredName(std::string_view name);
/// Calls `visit` with each function of users that a stored text calls.
void forEachCall(std::string_view sql, const std::function<void(Oid function)>& visit);
/// Whether a stored text calls the function.
bool callsFunction(std::string_view sql, Oid function);

} // namespace ouzel::catalog
