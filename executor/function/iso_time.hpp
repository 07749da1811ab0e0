#pragma once
#include <string>

#include "common/value/sql_type.hpp"
#include "executor/function/context.hpp"

namespace ouzel::executor {

/// A date, timestamp or timestamptz as ISO 8601 and XML Schema write it, 2024-01-02T03:04:05+00:00, whatever DateStyle
/// says. Values that are not finite keep their names.
std::string isoTimeText(const FunctionContext& context, const SqlType& type, Representation repr, const void* value);

} // namespace ouzel::executor
