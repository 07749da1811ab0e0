#include <bit>

#include "common/type/array.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/decimal.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// ouzel_order_key(anyarray): bytes whose order, as bytea, is the order of the arrays (compareArrays), and which are
// equal where the arrays are. Sorts and windows order rows by bytes; the optimizer lets them order arrays by this key
// (optimizer/rewrite/order_keys.cpp).
//
//   per element   1 and its key; 2 for NULL, which is the largest
//   end           0: a shorter array precedes a longer one that begins like it
//   dimensions    their number, then length and lower bound of each
//
// Integers are big-endian with the sign bit flipped. A text ends with two zeros, a zero in it is followed by 1.

namespace ouzel::executor {

namespace {

template <typename T>
void appendBigEndian(ValueBuilder& out, T value) {
   char* at = out.extend(sizeof(T));
   for (size_t i = 0; i < sizeof(T); ++i)
      at[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
}

template <typename Signed, typename Unsigned>
void appendInteger(ValueBuilder& out, Signed value) {
   appendBigEndian(out, static_cast<Unsigned>(value) ^ (Unsigned{1} << (8 * sizeof(Unsigned) - 1)));
}

/// Negative numbers turn round. All NaNs are the largest value, and both zeros are equal.
template <typename Float, typename Bits>
void appendFloat(ValueBuilder& out, Float value) {
   constexpr Bits signBit = Bits{1} << (8 * sizeof(Bits) - 1);
   Bits bits = std::bit_cast<Bits>(value == 0 ? Float{0} : value);
   if (value != value) bits = ~signBit;
   appendBigEndian(out, (bits & signBit) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | signBit));
}

void appendText(ValueBuilder& out, std::string_view text) {
   for (size_t zero; (zero = text.find('\0')) != std::string_view::npos; text.remove_prefix(zero + 1)) {
      out.append(text.substr(0, zero + 1));
      out.push_back(1);
   }
   out.append(text).append(2, '\0');
}

void appendElement(ValueBuilder& out, PhysicalType type, const ArrayView::Cursor& element) {
   switch (type) {
   case PhysicalType::Bool: out.push_back(static_cast<char>(element.as<uint8_t>())); return;
   case PhysicalType::I16: return appendInteger<int16_t, uint16_t>(out, element.as<int16_t>());
   case PhysicalType::I32: return appendInteger<int32_t, uint32_t>(out, element.as<int32_t>());
   case PhysicalType::I64: return appendInteger<int64_t, uint64_t>(out, element.as<int64_t>());
   case PhysicalType::I128: return appendInteger<int128, uint128>(out, element.as<int128>());
   case PhysicalType::F32: return appendFloat<float, uint32_t>(out, element.as<float>());
   case PhysicalType::F64: return appendFloat<double, uint64_t>(out, element.as<double>());
   case PhysicalType::Interval: return appendInteger<int128, uint128>(out, intervalSpan(element.as<Interval>()));
   case PhysicalType::String: return appendText(out, element.as<StringView>().view());
   case PhysicalType::Decimal: {
      std::string key;
      decimal::appendSortKey(key, element.as<StringView>());
      out.append(key);
      return;
   }
   }
}

StringView orderKey(const StringView& bytes, KernelEnv& env) {
   const ArrayView array(bytes.view());
   ValueBuilder out(env.strings);
   for (ArrayView::Cursor element(array); element.next();) {
      out.push_back(element.isNull() ? 2 : 1);
      if (!element.isNull()) appendElement(out, array.physical(), element);
   }
   out.push_back(0);
   out.push_back(static_cast<char>(array.dimensionCount()));
   for (const ArrayDimension& dimension : array.dimensions()) {
      appendInteger<int32_t, uint32_t>(out, dimension.length);
      appendInteger<int32_t, uint32_t>(out, dimension.lower);
   }
   return out.finish();
}

} // namespace

void registerArrayKey() {
   addKernel<orderKey>("ouzel_order_key");
}

} // namespace ouzel::executor
