#pragma once
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

namespace ouzel {

/// A numeric with a scale of its own for one that a column keeps as an integer of `representation`; other values as
/// they are.
Value withOwnScale(Value value, Oid type, Representation representation);

} // namespace ouzel
