#pragma once
#include <string>

#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"

// Values of SQL as content of XML (SQL/XML, 9.8):
//
//    boolean              true, false
//    date, timestamps     as XML Schema writes them; infinities are errors
//    bytea                base64 or hex, as xmlbinary says
//    xml                  itself
//    arrays               <element>...</element> for each element that is not NULL
//    others               the text of the value

namespace ouzel::executor {

/// `isEscaped`: & and < in texts are escaped. Throws 22008.
void appendXmlValue(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                    const void* value, bool isEscaped);
/// The same for a vector's value at a row, which is not NULL.
void appendXmlValue(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                    const Vector& vector, uint32_t row, bool isEscaped);

} // namespace ouzel::executor
