#include "engine/program/array_element.hpp"

#include <cstring>
#include <limits>

namespace ouzel::engine {

namespace {

constexpr size_t physicalAt = 4, nullsAt = 5, countAt = 6, lengthAt = 8, lowerAt = 12, elementsAt = 16;
constexpr size_t bytesMax = size_t{1} << 29; // larger arrays are left to those who know the limit

template <typename T>
T read(const std::string& from, size_t at) {
   T value;
   std::memcpy(&value, from.data() + at, sizeof value);
   return value;
}
template <typename T>
void write(std::string& to, size_t at, T value) {
   std::memcpy(to.data() + at, &value, sizeof value);
}

/// The bytes of the element as it lies in an array.
void encode(char* out, PhysicalType physical, int64_t bits) {
   switch (physical) {
   case PhysicalType::Bool: *out = bits != 0 ? 1 : 0; return;
   case PhysicalType::I16: {
      const auto value = static_cast<int16_t>(bits);
      std::memcpy(out, &value, sizeof value);
      return;
   }
   case PhysicalType::I32: {
      const auto value = static_cast<int32_t>(bits);
      std::memcpy(out, &value, sizeof value);
      return;
   }
   default: std::memcpy(out, &bits, sizeof bits); return;
   }
}

} // namespace

bool replaceElement(std::string& array, int64_t subscript, PhysicalType physical, int64_t bits) {
   if (array.size() < lengthAt || static_cast<PhysicalType>(array[physicalAt]) != physical || array[nullsAt] != 0)
      return false;
   const size_t width = physicalSize(physical);
   const auto dimensions = read<uint16_t>(array, countAt);
   if (dimensions == 0 && array.size() == lengthAt) { // the first element sets the lower bound
      if (subscript != static_cast<int32_t>(subscript) || subscript == std::numeric_limits<int32_t>::max())
         return false;
      array.resize(elementsAt + width);
      write(array, countAt, uint16_t{1});
      write(array, lengthAt, int32_t{1});
      write(array, lowerAt, static_cast<int32_t>(subscript));
      encode(array.data() + elementsAt, physical, bits);
      return true;
   }
   if (dimensions != 1) return false;
   const auto length = read<int32_t>(array, lengthAt), lower = read<int32_t>(array, lowerAt);
   const int64_t at = subscript - lower;
   if (at < 0 || at > length) return false;
   if (at == length) {
      if (array.size() >= bytesMax || subscript >= std::numeric_limits<int32_t>::max()) return false;
      array.resize(array.size() + width);
      write(array, lengthAt, length + 1);
   }
   encode(array.data() + elementsAt + static_cast<size_t>(at) * width, physical, bits);
   return true;
}

} // namespace ouzel::engine
