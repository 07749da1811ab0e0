#pragma once
#include <string_view>

#include "catalog/builtin/builtin.hpp"

// Functions of users in language internal: names of their own for built-in functions, which AS names by their prosrc.

namespace ouzel::catalog {

/// Whether a built-in function has this prosrc.
bool isInternalFunction(std::string_view source);
/// The built-in function that a user's function stands for: of the same prosrc, kind, arguments and result; null: there
/// is none. Others could not take the values, since nothing converts them. One that is not strict does not stand for a
/// strict one of a user.
const FunctionInfo* internalFunction(const FunctionInfo& made);

} // namespace ouzel::catalog
