#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "common/type/session_format.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// Arrays as text: {1,2,NULL}, [0:1]={1,2}; int2vector and oidvector: 1 2 3. For text_codec.cpp.

namespace ouzel {

/// The text of an element that is not NULL.
using ElementText = std::function<std::string(const SqlType& type, const Value& value)>;
/// `bytes` as array.hpp lays them out.
void appendArrayText(std::string& out, std::string_view bytes, const ElementText& elementText);
/// `element`: of the array's type. A regclass[] that was cast to oid[] has elements of type regclass, and is numbers.
void appendArrayText(std::string& out, std::string_view bytes, Oid element, const SessionFormat& format);
void appendVectorText(std::string& out, std::string_view bytes, const SessionFormat& format);
/// array_in: the bytes of an array with elements of type `element`. Throws 22P02 "malformed array literal" with
/// PostgreSQL's detail.
std::string parseArrayText(std::string_view text, const SqlType& element, const SessionFormat& format);
std::string parseVectorText(std::string_view text, Oid element, const SessionFormat& format);

} // namespace ouzel
