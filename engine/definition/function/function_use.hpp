#pragma once
#include <span>
#include <string>
#include <vector>

#include "catalog/object/function.hpp"
#include "engine/query/command_context.hpp"
#include "sql/parse/node_access.hpp"

// The functions that aggregates, operators and casts call.

namespace ouzel::engine {

/// The parts of a name in a definition: sfunc = s.f
std::vector<std::string> namesOf(const ::DefElem& option);
/// The function of this name with exactly these types. Throws 42883.
const catalog::FunctionInfo& requireFunction(SessionCore& core, const std::vector<std::string>& name,
                                             std::span<const Oid> types);

/// A function that an aggregate calls, and the type of its result for these arguments.
struct AggregateUse {
   const catalog::FunctionInfo* function = nullptr;
   Oid result = invalidOid;
};
/// Finds it as a call of it would, with types that may be polymorphic. Throws 42883 if there is none, 42804 for
/// arguments that would need a cast or for a set, 42501 if the role may not execute it. `takesAny`: the aggregate is
/// VARIADIC "any", and so must be the function.
AggregateUse requireAggregateUse(SessionCore& core, const std::vector<std::string>& name,
                                 std::span<const SqlType> types, bool takesAny);

/// Throws 42501 unless the session's role may execute the function.
void requireExecute(SessionCore& core, const catalog::FunctionInfo& function);
/// Whether a value of one type is one of the other as it lies.
bool isBinaryCoercible(Oid from, Oid to);
/// `f(integer, text)`
std::string shownSignature(std::string_view name, std::span<const Oid> types);
/// The type of an option. Throws as a cast to it does.
SqlType typeOf(CommandContext& context, const ::DefElem& option);
/// A type name with or without modifiers as a plain type.
SqlType plainTypeOf(CommandContext& context, const ::TypeName& name);
bool isTrue(const ::DefElem& option);
std::string textOf(const ::DefElem& option);

} // namespace ouzel::engine
