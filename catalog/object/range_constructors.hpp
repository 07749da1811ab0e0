#pragma once
#include <span>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// The functions that PostgreSQL makes with a range type or multirange type of a user, which have the type's name: they
/// make its values. Empty for other relations. The rows live as long as the process.
std::span<const FunctionInfo* const> rangeConstructors(const Relation& type);

} // namespace ouzel::catalog
