#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/type/session_format.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/string_view.hpp"

// to_char(), to_date(), to_timestamp(), to_number(): PostgreSQL's template patterns.

namespace ouzel {

void formatTimestamp(std::string& out, std::string_view pattern, int64_t timestamp);
void formatTimestampTz(std::string& out, std::string_view pattern, int64_t timestamp, const SessionFormat& format);
void formatInterval(std::string& out, std::string_view pattern, const Interval& v);
int32_t toDate(std::string_view text, std::string_view pattern);                                   ///< 22007, 22008
int64_t toTimestamp(std::string_view text, std::string_view pattern, const SessionFormat& format); ///< timestamptz

/// A date or time whose type the template told.
struct DateTimeValue {
   Oid type = invalidOid; ///< date, time, timetz, timestamp or timestamptz
   int64_t value = 0;     ///< as the type keeps it; of timetz the time
   int32_t zone = 0;      ///< what the text said, in seconds west of Greenwich; 0 for types without time zone
};
/// As jsonpath's datetime() reads a text: the template's fields and separators must stand in it exactly. Throws 22007,
/// 22008, 0A000.
DateTimeValue parseDateTime(std::string_view text, std::string_view pattern);
/// Throws what parseDateTime() throws for a template that is wrong for any text.
void checkDateTimeTemplate(std::string_view pattern);
/// The same for the templates of ISO 8601 that datetime() tries when it has none; nullopt: the text fits none of them.
std::optional<DateTimeValue> parseIsoDateTime(std::string_view text);

void formatDecimal(std::string& out, std::string_view pattern, StringView decimal);
void formatInteger(std::string& out, std::string_view pattern, int64_t v);
void formatDouble(std::string& out, std::string_view pattern, double v);
void formatFloat(std::string& out, std::string_view pattern, float v);
StringView toNumber(std::string_view text, std::string_view pattern, Arena& arena); ///< 22P02

} // namespace ouzel
