#include "storage/block/zone_key.hpp"

#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::storage {

namespace {
constexpr size_t prefixBytes = 15;
} // namespace

ZoneKey zoneKeyOfDouble(double value) {
   if (value != value) return static_cast<ZoneKey>(INT64_MAX); // NaN sorts last
   if (value == 0) value = 0;                                  // -0 equals 0
   int64_t bits;
   std::memcpy(&bits, &value, 8);
   return bits >= 0 ? bits : static_cast<int64_t>(static_cast<uint64_t>(INT64_MIN) - static_cast<uint64_t>(bits));
}

ZoneKey zoneKeyOfString(std::string_view bytes) {
   uint128 key = 0;
   for (size_t i = 0; i < prefixBytes; ++i)
      key = key << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0u);
   return static_cast<ZoneKey>(key);
}

ZoneKey zoneKeyOfDecimal(StringView value) {
   std::string key;
   decimal::appendSortKey(key, value);
   return zoneKeyOfString(key);
}

ZoneKey zoneKeyOf(const Value& value) {
   DCHECK(!value.isNull);
   switch (value.type) {
   case PhysicalType::Bool:
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return value.i64;
   case PhysicalType::I128: return value.i128;
   case PhysicalType::F32:
   case PhysicalType::F64: return zoneKeyOfDouble(value.f64);
   case PhysicalType::Interval: return intervalSpan(value.interval);
   case PhysicalType::String: return zoneKeyOfString(value.bytes);
   case PhysicalType::Decimal: return zoneKeyOfDecimal(StringView(value.bytes));
   }
   throwInternal("value of an unknown type");
}

std::optional<Value> valueOfZoneKey(PhysicalType type, ZoneKey key) {
   switch (type) {
   case PhysicalType::Bool:
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return Value::integer(type, static_cast<int64_t>(key));
   case PhysicalType::I128: return Value::wide(key);
   case PhysicalType::F32:
   case PhysicalType::F64: {
      auto bits = static_cast<int64_t>(key);
      if (bits < 0) bits = static_cast<int64_t>(static_cast<uint64_t>(INT64_MIN) - static_cast<uint64_t>(bits));
      double value;
      std::memcpy(&value, &bits, 8);
      return Value::real(type, value);
   }
   case PhysicalType::String: {
      std::string prefix(prefixBytes, '\0');
      auto rest = static_cast<uint128>(key);
      for (size_t i = prefixBytes; i-- > 0; rest >>= 8)
         prefix[i] = static_cast<char>(rest & 0xff);
      prefix.resize(prefix.find_last_not_of('\0') + 1);
      return Value::string(std::move(prefix));
   }
   case PhysicalType::Interval:
   case PhysicalType::Decimal: return std::nullopt;
   }
   return std::nullopt;
}

} // namespace ouzel::storage
