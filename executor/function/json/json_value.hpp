#pragma once
#include <string>

#include "common/json/jsonb_writer.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"

// Values of any type as JSON: to_json, to_jsonb and all that builds documents out of values.
//
//    boolean, numbers       as JSON's own; NaN and the infinities are strings
//    date, timestamps       strings of ISO 8601, whatever DateStyle says
//    json, jsonb            themselves
//    arrays                 arrays, nested by dimension
//    record, row types      an object
//    others                 strings with the text of the value

namespace ouzel::executor {

/// A value that is not NULL.
struct SqlValue {
   const FunctionContext& context;
   const SqlType& type;
   Representation repr;
   const void* value;
};
/// The value of a vector at a row, where it is not NULL.
SqlValue valueAt(const FunctionContext& context, const SqlType& type, Representation repr, const Vector& vector,
                 uint32_t row);

/// `isPretty`: with a line feed behind the commas of an array's or record's outermost level.
void appendJson(std::string& out, const SqlValue& value, bool isPretty = false);
/// `value` stays until the writer's finish().
void writeJsonb(json::JsonbWriter& writer, const SqlValue& value);
/// The text of a value that becomes a key. Throws 22023 for arrays, records and JSON.
std::string keyText(const SqlValue& value);
/// True for types whose JSON is made of parts: json_agg() puts each on a line of its own.
bool isComposite(Oid type);

} // namespace ouzel::executor
