#pragma once
#include <bit>
#include <cstring>
#include <string>

#include "common/base_type/geometry.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/memory/arena.hpp"
#include "common/text/number_text.hpp"

// Geometric values as bytes in memory, as the parts of texts, and as parts of the protocol's binary forms.

namespace ouzel {

template <typename T>
T readGeometry(StringView value) {
   T result;
   if (value.size() != sizeof result) throwInternal("malformed geometric value");
   std::memcpy(&result, value.data(), sizeof result);
   return result;
}
template <typename T>
StringView geometryValue(const T& value, Arena& arena) {
   return arena.copyString({reinterpret_cast<const char*>(&value), sizeof value});
}

inline void appendPoint(std::string& out, const Point& point, int32_t extraFloatDigits) {
   out.push_back('(');
   appendDouble(out, point.x, extraFloatDigits);
   out.push_back(',');
   appendDouble(out, point.y, extraFloatDigits);
   out.push_back(')');
}

inline void appendWire(std::string& out, double value) {
   appendBig(out, std::bit_cast<uint64_t>(value));
}
inline double takeDouble(WireReader& reader) {
   return std::bit_cast<double>(reader.take<uint64_t>());
}
inline Point takePoint(WireReader& reader) {
   const double x = takeDouble(reader);
   return {x, takeDouble(reader)};
}

} // namespace ouzel
