#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The settings that decide how a session's values are printed and how ambiguous input is read: DateStyle, TimeZone,
// IntervalStyle, extra_float_digits, bytea_output, xmloption, xmlbinary.

namespace ouzel {

class TimeZone;  // common/type/time_zone.hpp
class UserTypes; // common/type/user_types.hpp

enum class DateStyle : uint8_t { Iso, Sql, Postgres, German };
enum class DateOrder : uint8_t { Mdy, Dmy, Ymd };
enum class IntervalStyle : uint8_t { Postgres, PostgresVerbose, SqlStandard, Iso8601 };
enum class ByteaOutput : uint8_t { Hex, Escape };
enum class XmlBinary : uint8_t { Base64, Hex };

/// Read-only while a statement runs; cheap to copy.
struct SessionFormat {
   const TimeZone* zone = nullptr; ///< null is UTC; zones live as long as the process
   int64_t now = 0;                ///< start of the transaction: 'now', 'today'; microseconds since 2000-01-01 UTC
   int32_t extraFloatDigits = 1;
   DateStyle dateStyle = DateStyle::Iso;
   DateOrder dateOrder = DateOrder::Mdy;
   IntervalStyle intervalStyle = IntervalStyle::Postgres;
   ByteaOutput byteaOutput = ByteaOutput::Hex;
   XmlBinary xmlBinary = XmlBinary::Base64; ///< how bytea becomes the content of an element
   bool readsXmlDocuments = false;          ///< xmloption is document: a text of xml has one root element
   const UserTypes* types = nullptr; ///< null: values of users' types cannot be read or printed; lives as the session

   /// From the values of the settings of the same names, in their canonical spelling.
   static SessionFormat fromSettings(std::string_view timeZone, std::string_view dateStyle,
                                     std::string_view intervalStyle, int32_t extraFloatDigits, bool byteaEscape);
};

/// The canonical spelling of a TimeZone setting ("europe/berlin" -> "Europe/Berlin", "3" -> "<+03>-03"), or nullopt if
/// there is no zone of this name.
std::optional<std::string> parseTimeZoneSetting(std::string_view value);
/// "german" over "ISO, MDY" -> "German, DMY"; nullopt if a word is unknown or contradicts another.
std::optional<std::string> parseDateStyleSetting(std::string_view value, std::string_view current);

} // namespace ouzel
