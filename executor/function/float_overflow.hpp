#pragma once
#include "common/error/sql_error.hpp"

namespace ouzel::executor {

[[noreturn, gnu::cold]] inline void throwOverflow() {
   throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: overflow");
}

} // namespace ouzel::executor
