#pragma once
#include "common/value/sql_type.hpp"

namespace ouzel::executor {

/// The element type of an array type; invalidOid if the type is no array type.
Oid elementTypeOf(Oid arrayType);

} // namespace ouzel::executor
