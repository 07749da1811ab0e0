#include "common/value/value.hpp"

#include <cstring>

namespace ouzel {

namespace {
template <typename T>
void put(void* target, T value) {
   std::memcpy(target, &value, sizeof value);
}
} // namespace

Value Value::fromVector(const Vector& vector, uint32_t row) {
   if (vector.isNull(row)) return null(vector.type);
   switch (vector.type) {
   case PhysicalType::Bool: return boolean(vector.value<uint8_t>(row) != 0);
   case PhysicalType::I16: return integer(vector.type, vector.value<int16_t>(row));
   case PhysicalType::I32: return integer(vector.type, vector.value<int32_t>(row));
   case PhysicalType::I64: return integer(vector.type, vector.value<int64_t>(row));
   case PhysicalType::I128: return wide(vector.value<int128>(row));
   case PhysicalType::F32: return real(vector.type, static_cast<double>(vector.value<float>(row)));
   case PhysicalType::F64: return real(vector.type, vector.value<double>(row));
   case PhysicalType::Interval: return ofInterval(vector.value<Interval>(row));
   case PhysicalType::Decimal:
   case PhysicalType::String: return string(std::string(vector.value<StringView>(row).view()), vector.type);
   }
   return null(vector.type);
}

void Value::store(void* target) const {
   DCHECK(!isNull);
   switch (type) {
   case PhysicalType::Bool: return put(target, static_cast<uint8_t>(i64));
   case PhysicalType::I16: return put(target, static_cast<int16_t>(i64));
   case PhysicalType::I32: return put(target, static_cast<int32_t>(i64));
   case PhysicalType::I64: return put(target, i64);
   case PhysicalType::I128: return put(target, i128);
   case PhysicalType::F32: return put(target, static_cast<float>(f64));
   case PhysicalType::F64: return put(target, f64);
   case PhysicalType::Interval: return put(target, interval);
   case PhysicalType::Decimal:
   case PhysicalType::String: return put(target, StringView(bytes, StringView::Storage::Permanent));
   }
}

bool Value::identical(const Value& other) const {
   if (type != other.type || isNull != other.isNull) return false;
   if (isNull) return true;
   if (isVariableSize(type)) return bytes == other.bytes;
   unsigned char a[16] = {}, b[16] = {};
   store(a);
   other.store(b);
   return std::memcmp(a, b, sizeof a) == 0;
}

} // namespace ouzel
