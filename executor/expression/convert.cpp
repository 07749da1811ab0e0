#include "executor/expression/convert.hpp"

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void throwDoesNotFit() {
   throw SqlError(sqlstate::numericValueOutOfRange, "numeric value out of range");
}

/// The value at another scale, rounded half away from zero when digits are dropped.
inline int128 rescaled(int128 value, int32_t fromScale, int32_t toScale) {
   if (toScale >= fromScale) {
      int128 result;
      if (__builtin_mul_overflow(value, static_cast<int128>(decimal::powerOfTen(toScale - fromScale)), &result))
         throwDoesNotFit();
      return result;
   }
   const int128 power = static_cast<int128>(decimal::powerOfTen(fromScale - toScale));
   const int128 quotient = value / power, rest = value % power;
   const int128 twice = rest < 0 ? -rest : rest;
   return twice >= power - twice ? quotient + (value < 0 ? -1 : 1) : quotient;
}

template <typename To>
inline To narrowTo(int128 value) {
   if (value != static_cast<To>(value)) [[unlikely]]
      throwDoesNotFit();
   return static_cast<To>(value);
}

template <typename From, typename To>
void convertIntegers(const Vector& in, int32_t fromScale, int32_t toScale, Selection rows, To* out) {
   const From* values = in.values<From>();
   const bool isFlat = in.encoding == Encoding::Flat;
   if (fromScale == toScale && sizeof(To) >= sizeof(From)) {
      if (isFlat) {
         forEachRow(rows, [=](uint32_t row) { out[row] = static_cast<To>(values[row]); });
      } else {
         forEachRow(rows, [&](uint32_t row) { out[row] = static_cast<To>(values[in.positionOf(row)]); });
      }
      return;
   }
   if (toScale > fromScale && toScale - fromScale <= 18 && sizeof(To) == 8 && sizeof(From) <= 8) {
      const int64_t power = static_cast<int64_t>(decimal::powerOfTen(toScale - fromScale));
      bool overflow = false;
      forEachRow(rows, [&](uint32_t row) {
         int64_t product;
         overflow |= __builtin_mul_overflow(static_cast<int64_t>(values[in.positionOf(row)]), power, &product);
         out[row] = static_cast<To>(product);
      });
      if (overflow) throwDoesNotFit();
      return;
   }
   forEachRow(rows,
              [&](uint32_t row) { out[row] = narrowTo<To>(rescaled(values[in.positionOf(row)], fromScale, toScale)); });
}

template <typename Body>
void dispatchInteger(PhysicalType type, Body&& body) {
   switch (type) {
   case PhysicalType::I16: return body(int16_t{});
   case PhysicalType::I32: return body(int32_t{});
   case PhysicalType::I64: return body(int64_t{});
   case PhysicalType::I128: return body(int128{});
   default: throwInternal("conversion of something that is no number");
   }
}

void toDecimal(const Vector& in, int32_t scale, Selection rows, StringView* out, Arena& strings) {
   dispatchInteger(in.type, [&](auto unit) {
      using From = decltype(unit);
      const From* values = in.values<From>();
      forEachRow(rows, [&](uint32_t row) {
         if constexpr (sizeof(From) <= 8) {
            out[row] = decimal::fromInt64(values[in.positionOf(row)], scale);
         } else {
            out[row] = decimal::fromInt128(values[in.positionOf(row)], scale, strings);
         }
      });
   });
}

void fromDecimal(const Vector& in, Representation to, Selection rows, void* out) {
   dispatchInteger(to.physical, [&](auto unit) {
      using To = decltype(unit);
      To* target = static_cast<To*>(out);
      const StringView* values = in.values<StringView>();
      forEachRow(rows, [&](uint32_t row) {
         const StringView& number = values[in.positionOf(row)];
         const std::optional<int128> value = decimal::toInt128(number, to.scale);
         if (!value && decimal::isNaN(number)) throwNotSupported("NaN in a numeric column of fixed scale");
         if (!value) throwDoesNotFit();
         target[row] = narrowTo<To>(*value);
      });
   });
}

void convertFloats(const Vector& in, Representation to, Selection rows, void* out) {
   if (in.type == PhysicalType::F32 && to.physical == PhysicalType::F64) {
      double* target = static_cast<double*>(out);
      forEachRow(rows, [&](uint32_t row) { target[row] = static_cast<double>(in.value<float>(row)); });
   } else {
      throwInternal("conversion between these representations");
   }
}

} // namespace

bool conversionIsTotal(Representation from, Representation to) {
   if (to.physical == PhysicalType::Decimal || to.physical == PhysicalType::F64) return true;
   if (from.physical == PhysicalType::Decimal) return false;
   return from.scale == to.scale && physicalSize(to.physical) >= physicalSize(from.physical);
}

void convertRows(const Vector& in, Representation from, Representation to, Selection rows, void* out, Arena& strings) {
   DCHECK(in.type == from.physical);
   if (to.physical == PhysicalType::Decimal && isInteger(from.physical)) {
      toDecimal(in, from.scale, rows, static_cast<StringView*>(out), strings);
   } else if (from.physical == PhysicalType::Decimal) {
      fromDecimal(in, to, rows, out);
   } else if (isInteger(from.physical) && isInteger(to.physical)) {
      dispatchInteger(from.physical, [&](auto source) {
         dispatchInteger(to.physical, [&](auto target) {
            convertIntegers<decltype(source), decltype(target)>(in, from.scale, to.scale, rows,
                                                                static_cast<decltype(target)*>(out));
         });
      });
   } else {
      convertFloats(in, to, rows, out);
   }
}

std::optional<Value> convertExactly(const Value& value, Representation from, Representation to) {
   if (value.isNull) return Value::null(to.physical);
   if (from == to) return value;
   if (from.physical == PhysicalType::Decimal) {
      const StringView bytes(value.bytes);
      if (!decimal::isFinite(bytes) || decimal::minScale(bytes) > to.scale) return std::nullopt;
   } else if (to.physical != PhysicalType::Decimal && from.scale > to.scale) {
      const int128 power = static_cast<int128>(decimal::powerOfTen(from.scale - to.scale));
      const int128 number = from.physical == PhysicalType::I128 ? value.i128 : value.i64;
      if (number % power != 0) return std::nullopt;
   }
   alignas(16) std::byte in[16], out[16];
   Arena strings;
   value.store(in);
   try {
      convertRows(Vector::flat(from.physical, in, nullptr), from, to, Selection::dense(1), out, strings);
   } catch (const SqlError&) { // the value is too large for the target
      return std::nullopt;
   }
   return Value::fromVector(Vector::flat(to.physical, out, nullptr), 0);
}

} // namespace ouzel::executor
