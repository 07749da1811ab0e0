#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/error/sql_error.hpp"

namespace ouzel::protocol {

inline uint16_t loadInt16(const char* bytes) {
   uint16_t value;
   std::memcpy(&value, bytes, 2);
   return __builtin_bswap16(value);
}
inline uint32_t loadInt32(const char* bytes) {
   uint32_t value;
   std::memcpy(&value, bytes, 4);
   return __builtin_bswap32(value);
}

/// Reads the fields of one message's payload; throws 08P01 when a field is missing. Does not own the payload.
class MessageReader {
public:
   explicit MessageReader(std::string_view payload) : rest_(payload) {}

   uint8_t int8() { return static_cast<uint8_t>(take(1)[0]); }
   int16_t int16() { return static_cast<int16_t>(loadInt16(take(2).data())); }
   int32_t int32() { return static_cast<int32_t>(loadInt32(take(4).data())); }
   std::string_view bytes(size_t count) { return take(count); }
   /// A zero-terminated string, without the zero. Does not check the encoding.
   std::string_view cstring() {
      const size_t length = rest_.find('\0');
      if (length == std::string_view::npos) throwMalformed("invalid string in message");
      const auto text = rest_.substr(0, length);
      rest_.remove_prefix(length + 1);
      return text;
   }
   bool atEnd() const { return rest_.empty(); }
   size_t remaining() const { return rest_.size(); }
   /// Throws 08P01 unless the whole message was read.
   void end() const {
      if (!rest_.empty()) throwMalformed("invalid message format");
   }

   [[noreturn, gnu::cold]] static void throwMalformed(const char* message) {
      throw SqlError(sqlstate::protocolViolation, message);
   }

private:
   std::string_view take(size_t count) {
      if (rest_.size() < count) throwMalformed("insufficient data left in message");
      const auto taken = rest_.substr(0, count);
      rest_.remove_prefix(count);
      return taken;
   }

   std::string_view rest_;
};

} // namespace ouzel::protocol
