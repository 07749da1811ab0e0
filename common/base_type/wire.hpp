#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Big-endian numbers of the protocol's binary forms.

namespace ouzel {

template <typename T>
T swapBytes(T v) {
   if constexpr (sizeof(T) == 2)
      return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(v)));
   else if constexpr (sizeof(T) == 4)
      return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(v)));
   else
      return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(v)));
}

template <typename T>
void appendBig(std::string& out, T v) {
   const T swapped = swapBytes(v);
   out.append(reinterpret_cast<const char*>(&swapped), sizeof swapped);
}

/// The message is shorter or longer than the value's type needs.
[[noreturn, gnu::cold]] void throwTooShort();
[[noreturn, gnu::cold]] void throwIncorrect();

/// Takes big-endian numbers off the front of a message.
class WireReader {
public:
   explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
   template <typename T>
   T take() {
      if (bytes_.size() < sizeof(T)) throwTooShort();
      T v;
      std::memcpy(&v, bytes_.data(), sizeof v);
      bytes_.remove_prefix(sizeof v);
      if constexpr (sizeof(T) == 1)
         return v;
      else
         return swapBytes(v);
   }
   std::string_view takeBytes(size_t count) {
      if (bytes_.size() < count) throwTooShort();
      const std::string_view taken = bytes_.substr(0, count);
      bytes_.remove_prefix(count);
      return taken;
   }
   void finish() const {
      if (!bytes_.empty()) throwIncorrect();
   }
   size_t size() const { return bytes_.size(); }

private:
   std::string_view bytes_;
};

/// One number and nothing behind it.
template <typename T>
T readOnly(std::string_view bytes) {
   WireReader reader(bytes);
   const T v = reader.take<T>();
   reader.finish();
   return v;
}

} // namespace ouzel
