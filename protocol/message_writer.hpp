#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "common/error/check.hpp"

namespace ouzel::protocol {

inline void storeInt16(char* target, uint16_t value) {
   value = __builtin_bswap16(value);
   std::memcpy(target, &value, 2);
}
inline void storeInt32(char* target, uint32_t value) {
   value = __builtin_bswap32(value);
   std::memcpy(target, &value, 4);
}

/// Appends one message to `out`; the length is filled in by finish().
class MessageWriter {
public:
   MessageWriter(std::string& out, char type) : out_(out), lengthAt_(out.size() + 1) {
      out_ += type;
      out_.append(4, '\0');
   }
   MessageWriter& int8(uint8_t value) {
      out_ += static_cast<char>(value);
      return *this;
   }
   MessageWriter& int16(uint16_t value) {
      char bytes[2];
      storeInt16(bytes, value);
      out_.append(bytes, 2);
      return *this;
   }
   MessageWriter& int32(uint32_t value) {
      char bytes[4];
      storeInt32(bytes, value);
      out_.append(bytes, 4);
      return *this;
   }
   /// Append a zero-terminated string. A zero inside ends the text early, since a client would misread the message.
   MessageWriter& cstring(std::string_view text) {
      out_.append(text.substr(0, text.find('\0')));
      out_ += '\0';
      return *this;
   }
   MessageWriter& bytes(std::string_view data) {
      out_.append(data);
      return *this;
   }
   void finish() {
      DCHECK(out_.size() >= lengthAt_ + 4); // nothing was taken back
      DCHECK(out_.size() - lengthAt_ <= INT32_MAX);
      storeInt32(out_.data() + lengthAt_, static_cast<uint32_t>(out_.size() - lengthAt_));
   }

private:
   std::string& out_;
   size_t lengthAt_;
};

/// A message without payload.
inline void appendEmptyMessage(std::string& out, char type) {
   MessageWriter(out, type).finish();
}

} // namespace ouzel::protocol
