#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/type/session_format.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/string_view.hpp"

// to_char(), to_date(), to_timestamp(), to_number(): PostgreSQL's template patterns.

namespace ouzel {

void formatTimestamp(std::string& out, std::string_view pattern, int64_t timestamp);
void formatTimestampTz(std::string& out, std::string_view pattern, int64_t timestamp, const SessionFormat& format);
void formatInterval(std::string& out, std::string_view pattern, const Interval& v);
int32_t toDate(std::string_view text, std::string_view pattern);                                   ///< 22007, 22008
int64_t toTimestamp(std::string_view text, std::string_view pattern, const SessionFormat& format); ///< timestamptz

void formatDecimal(std::string& out, std::string_view pattern, StringView decimal);
void formatInteger(std::string& out, std::string_view pattern, int64_t v);
void formatDouble(std::string& out, std::string_view pattern, double v);
void formatFloat(std::string& out, std::string_view pattern, float v);
StringView toNumber(std::string_view text, std::string_view pattern, Arena& arena); ///< 22P02

} // namespace ouzel
