#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"
#include "executor/function/date_time/format_template.hpp"

// Reading a text by a template of to_date() and its relatives. Used by formatting_parse.cpp only.

namespace ouzel::formatting {

/// The fields that were read. Zero means not set, as in PostgreSQL: a field may be set twice only to the same value.
struct Fields {
   Keyword::Calendar calendar = Keyword::Calendar::Any;
   int32_t hour = 0, pm = 0, minute = 0, second = 0, secondOfDay = 0;
   int32_t dayOfWeek = 0, day = 0, dayOfYear = 0, month = 0, millis = 0, micros = 0, year = 0, bc = 0, week = 0,
           weekOfMonth = 0, century = 0, julian = 0, fractionDigits = 0;
   int32_t yearSize = 0;
   bool is12Hour = false;
   int32_t zoneSign = 0, zoneHour = 0, zoneMinute = 0;
};

/// How exactly the text has to be the template's.
enum class ReadMode : uint8_t {
   Lenient, ///< to_timestamp(): blanks and separators may differ
   Standard ///< the SQL standard's: every character of the template stands in the text, and nothing else
};

/// Throws 22007, 22008, 0A000.
Fields readFields(std::string_view text, const std::vector<Node>& nodes, ReadMode mode);

[[gnu::cold]] SqlError badText(const std::string& message); ///< 22007

} // namespace ouzel::formatting
