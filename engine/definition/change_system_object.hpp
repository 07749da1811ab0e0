#pragma once
#include "catalog/builtin/builtin.hpp"
#include "engine/definition/system_object.hpp"

namespace ouzel::engine {

/// DROP of kinds of objects that only the system has. Missing ones are errors, or with IF EXISTS notices; the system
/// needs those that exist (2BP01).
std::string dropSystemObjects(CommandContext& context, const ::DropStmt& statement);
/// Throws the error of a DROP of a built-in collation.
[[noreturn]] void refuseToDrop(::ObjectType type, const catalog::CollationInfo& collation);
/// Throws the error of an ALTER: the object does not exist, or 0A000, since a built-in object cannot be changed.
[[noreturn]] void refuseToAlter(::ObjectType type, const SystemObject& object);

} // namespace ouzel::engine
