#pragma once
#include <cstdint>

#include "common/value/physical_type.hpp"
#include "common/value/selection.hpp"
#include "common/value/string_view.hpp"

namespace ouzel {

enum class Encoding : uint8_t { Flat, Constant, Dictionary };

using ValidityWord = uint64_t;
constexpr uint32_t validityWords(uint32_t count) {
   return (count + 63) / 64;
}

inline bool isValidBit(const ValidityWord* validity, uint32_t position) {
   return validity == nullptr || ((validity[position >> 6] >> (position & 63)) & 1) != 0;
}
inline void setValidBit(ValidityWord* validity, uint32_t position, bool valid) {
   const ValidityWord bit = ValidityWord{1} << (position & 63);
   validity[position >> 6] = valid ? validity[position >> 6] | bit : validity[position >> 6] & ~bit;
}

/// A view of one column of a batch. Owns nothing: the memory it points to is valid until the operator that made it
/// produces its next batch (or, for a permanent dictionary, until the query ends).
///
/// Every encoding reads alike: row r lies at position p = positionOf(r); its value is data[p], and it is NULL when bit
/// p of `validity` is clear. A null `validity` means no NULLs. Positions with NULL hold unspecified but readable bytes
/// (StringViews there are empty or valid).
///   Flat        p = r
///   Constant    p = 0
///   Dictionary  p = codes[r], p < dictionarySize. Never nested: composing codes flattens.
struct Vector {
   PhysicalType type = PhysicalType::I32;
   Encoding encoding = Encoding::Flat;
   const void* data = nullptr;
   const ValidityWord* validity = nullptr;
   const uint16_t* codes = nullptr;
   uint32_t dictionarySize = 0;
   /// Non-zero names a dictionary that stays the same over many batches (a stored one), so that work done on it can be
   /// kept between batches; 0 is a dictionary of this batch only (a join's or filter's indirection).
   uint64_t dictionaryId = 0;

   uint32_t positionOf(uint32_t row) const {
      return encoding == Encoding::Flat ? row : encoding == Encoding::Constant ? 0 : codes[row];
   }
   bool isNull(uint32_t row) const { return !isValidBit(validity, positionOf(row)); }
   bool mayHaveNulls() const { return validity != nullptr; }
   template <typename T>
   const T* values() const {
      DCHECK(sizeof(T) == physicalSize(type));
      return static_cast<const T*>(data);
   }
   template <typename T>
   const T& value(uint32_t row) const {
      return values<T>()[positionOf(row)];
   }

   static Vector flat(PhysicalType type, const void* data, const ValidityWord* validity) {
      return {type, Encoding::Flat, data, validity, nullptr, 0, 0};
   }
   static Vector constant(PhysicalType type, const void* value, const ValidityWord* validity) {
      DCHECK(value != nullptr);
      return {type, Encoding::Constant, value, validity, nullptr, 0, 0};
   }
};

/// Maps the C++ value type to the physical type it is stored as, for templates over vectors.
template <PhysicalType type>
struct PhysicalValue;
#define OUZEL_PHYSICAL_VALUE(tag, ctype)                                                                               \
   template <>                                                                                                         \
   struct PhysicalValue<PhysicalType::tag> {                                                                           \
      using type = ctype;                                                                                              \
   };
OUZEL_PHYSICAL_VALUE(Bool, uint8_t)
OUZEL_PHYSICAL_VALUE(I16, int16_t)
OUZEL_PHYSICAL_VALUE(I32, int32_t)
OUZEL_PHYSICAL_VALUE(I64, int64_t)
OUZEL_PHYSICAL_VALUE(I128, int128)
OUZEL_PHYSICAL_VALUE(F32, float)
OUZEL_PHYSICAL_VALUE(F64, double)
OUZEL_PHYSICAL_VALUE(Interval, Interval)
OUZEL_PHYSICAL_VALUE(Decimal, StringView)
OUZEL_PHYSICAL_VALUE(String, StringView)
#undef OUZEL_PHYSICAL_VALUE
template <PhysicalType type>
using PhysicalValueType = typename PhysicalValue<type>::type;

} // namespace ouzel
