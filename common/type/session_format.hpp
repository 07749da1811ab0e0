#pragma once
#include <cstdint>

// How a session wants its values written and how it reads ambiguous ones: DateStyle, TimeZone and their like.

namespace ouzel {

class TimeZone; // common/type/time_zone.hpp

enum class DateStyle : uint8_t { Iso, Sql, Postgres, German };
enum class DateOrder : uint8_t { Mdy, Dmy, Ymd };
enum class IntervalStyle : uint8_t { Postgres, PostgresVerbose, SqlStandard, Iso8601 };
enum class ByteaOutput : uint8_t { Hex, Escape };

/// Read-only while a statement runs; cheap to copy.
struct SessionFormat {
   const TimeZone* zone = nullptr; ///< null is UTC; zones live as long as the process
   int64_t now = 0;                ///< start of the transaction: 'now', 'today'; microseconds since 2000-01-01 UTC
   int32_t extraFloatDigits = 1;
   DateStyle dateStyle = DateStyle::Iso;
   DateOrder dateOrder = DateOrder::Mdy;
   IntervalStyle intervalStyle = IntervalStyle::Postgres;
   ByteaOutput byteaOutput = ByteaOutput::Hex;
};

} // namespace ouzel
