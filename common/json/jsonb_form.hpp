#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

// Numbers of jsonb's binary form (jsonb.hpp describes it), for the files that read and write it.

namespace ouzel::json::form {

enum class Type : uint8_t { Literal, Integer, Number, String, Array, Object };

inline constexpr uint32_t payloadBits = 5, payloadMask = 31;
inline constexpr uint8_t literalNull = 0, literalFalse = 1, literalTrue = 2;
inline constexpr uint32_t integerMax = 31; ///< the largest integer that lies in the header
inline constexpr uint32_t shortMax = 27;   ///< the longest number or string whose length lies in the header
/// In JsonbView: the number lies in the header, the bits below are its value.
inline constexpr uint32_t smallInteger = 1u << 31;

/// The order of keys in an object.
inline int compareKeys(std::string_view a, std::string_view b) {
   if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
   return std::memcmp(a.data(), b.data(), a.size());
}

} // namespace ouzel::json::form
