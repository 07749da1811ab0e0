#pragma once
#include <string>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"
#include "executor/function/value_builder.hpp"

// The text of values of any type, as given by the type's output function. Includes types whose text needs the catalog.

namespace ouzel::executor {

const SessionFormat& sessionFormat(const FunctionContext& context);
/// Append the text of the value at `value` (not NULL).
void appendValueText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                     const void* value);
/// Append the text of a vector's value at `row`.
void appendRowText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                   const Vector& vector, uint32_t row);
void appendRowText(ValueBuilder& out, const FunctionContext& context, const SqlType& type, Representation repr,
                   const Vector& vector, uint32_t row);
/// Parse a value of `type` and write it to `target` in storedRepresentation(type); bytes go to the arena.
void parseValueText(void* target, const FunctionContext& context, const SqlType& type, std::string_view text,
                    Arena& arena);

} // namespace ouzel::executor
