#include "common/type/array.hpp"

#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr size_t headerSize = 8;

template <typename T>
void append(std::string& out, const T& value) {
   char bytes[sizeof(T)];
   std::memcpy(bytes, &value, sizeof(T));
   out.append(bytes, sizeof(T));
}

/// Takes numbers and bytes off the front; throws where the text ends early.
class Cursor {
public:
   explicit Cursor(std::string_view bytes) : rest_(bytes) {}
   std::string_view take(size_t size) {
      if (size > rest_.size()) throwInternal("malformed array value");
      const std::string_view front = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return front;
   }
   template <typename T>
   T number() {
      T value;
      std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
      return value;
   }

private:
   std::string_view rest_;
};

Value takeElement(Cursor& cursor, PhysicalType physical) {
   switch (physical) {
   case PhysicalType::Bool: return Value::boolean(cursor.number<uint8_t>() != 0);
   case PhysicalType::I16: return Value::integer(physical, cursor.number<int16_t>());
   case PhysicalType::I32: return Value::integer(physical, cursor.number<int32_t>());
   case PhysicalType::I64: return Value::integer(physical, cursor.number<int64_t>());
   case PhysicalType::I128: return Value::wide(cursor.number<int128>());
   case PhysicalType::F32: return Value::real(physical, static_cast<double>(cursor.number<float>()));
   case PhysicalType::F64: return Value::real(physical, cursor.number<double>());
   case PhysicalType::Interval: return Value::ofInterval(cursor.number<Interval>());
   case PhysicalType::Decimal:
   case PhysicalType::String: {
      const uint32_t size = cursor.number<uint32_t>();
      return Value::string(std::string(cursor.take(size)), physical);
   }
   }
   throwInternal("malformed array value");
}

uint64_t elementCount(std::span<const ArrayDimension> dimensions) {
   if (dimensions.empty()) return 0;
   uint64_t count = 1;
   for (const ArrayDimension& dimension : dimensions)
      count *= static_cast<uint32_t>(dimension.length);
   return count;
}

} // namespace

PhysicalType arrayElementPhysical(Oid elementType) {
   return storedRepresentation({elementType, -1, 0}).physical;
}

std::string makeArray(Oid elementType, std::span<const Value> elements, int32_t lower) {
   ArrayValue array{elementType, arrayElementPhysical(elementType), {}, {elements.begin(), elements.end()}};
   if (!elements.empty()) array.dimensions.push_back({static_cast<int32_t>(elements.size()), lower});
   return makeArray(array);
}

std::string makeArray(const ArrayValue& array) {
   DCHECK(elementCount(array.dimensions) == array.elements.size());
   bool hasNulls = false;
   for (const Value& element : array.elements)
      hasNulls |= element.isNull;
   std::string out;
   append(out, array.elementType);
   append(out, static_cast<uint8_t>(array.physical));
   append(out, static_cast<uint8_t>(hasNulls));
   append(out, static_cast<uint16_t>(array.dimensions.size()));
   DCHECK(out.size() == headerSize);
   for (const ArrayDimension& dimension : array.dimensions) {
      append(out, dimension.length);
      append(out, dimension.lower);
   }
   if (hasNulls) {
      std::string bitmap((array.elements.size() + 7) / 8, '\0');
      for (size_t i = 0; i < array.elements.size(); ++i)
         if (array.elements[i].isNull) bitmap[i / 8] = static_cast<char>(bitmap[i / 8] | (1 << (i % 8)));
      out += bitmap;
   }
   for (const Value& element : array.elements) {
      if (element.isNull) continue;
      DCHECK(element.type == array.physical);
      if (isVariableSize(array.physical)) {
         append(out, static_cast<uint32_t>(element.bytes.size()));
         out += element.bytes;
      } else {
         alignas(16) char bytes[16];
         element.store(bytes);
         out.append(bytes, physicalSize(array.physical));
      }
   }
   return out;
}

ArrayValue readArray(std::string_view bytes) {
   Cursor cursor(bytes);
   ArrayValue array;
   array.elementType = cursor.number<Oid>();
   array.physical = static_cast<PhysicalType>(cursor.number<uint8_t>());
   const bool hasNulls = cursor.number<uint8_t>() != 0;
   const uint16_t dimensions = cursor.number<uint16_t>();
   for (uint16_t d = 0; d < dimensions; ++d) {
      const int32_t length = cursor.number<int32_t>();
      array.dimensions.push_back({length, cursor.number<int32_t>()});
   }
   const uint64_t count = elementCount(array.dimensions);
   if (count > bytes.size() * 8) throwInternal("malformed array value");
   const std::string_view bitmap = hasNulls ? cursor.take((count + 7) / 8) : std::string_view();
   array.elements.reserve(count);
   for (uint64_t i = 0; i < count; ++i) {
      const bool isNull = hasNulls && ((bitmap[i / 8] >> (i % 8)) & 1) != 0;
      array.elements.push_back(isNull ? Value::null(array.physical) : takeElement(cursor, array.physical));
   }
   return array;
}

uint32_t arraySize(std::string_view bytes) {
   Cursor cursor(bytes);
   cursor.take(headerSize - sizeof(uint16_t));
   std::vector<ArrayDimension> dimensions(cursor.number<uint16_t>());
   for (ArrayDimension& dimension : dimensions) {
      dimension.length = cursor.number<int32_t>();
      dimension.lower = cursor.number<int32_t>();
   }
   return static_cast<uint32_t>(elementCount(dimensions));
}

} // namespace ouzel
