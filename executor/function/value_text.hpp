#pragma once
#include <string>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"

// The text of any value, as its output function gives it; also for types whose text needs the catalog.

namespace ouzel::executor {

const SessionFormat& sessionFormat(const FunctionContext& context);
/// Append the text of the value at `value` (not NULL).
void appendValueText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                     const void* value);
/// The same of a vector's row.
void appendRowText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                   const Vector& vector, uint32_t row);
/// Read a value of `type` into a place of storedRepresentation(type); bytes go to the arena.
void parseValueText(void* target, const FunctionContext& context, const SqlType& type, std::string_view text,
                    Arena& arena);

} // namespace ouzel::executor
