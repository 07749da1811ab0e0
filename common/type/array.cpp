#include "common/type/array.hpp"

#include <cstring>
#include <utility>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/value/vector.hpp"

namespace ouzel {

namespace {

template <typename T>
void append(std::string& out, const T& value) {
   char bytes[sizeof(T)];
   std::memcpy(bytes, &value, sizeof(T));
   out.append(bytes, sizeof(T));
}

/// Takes numbers and bytes off the front; throws where the text ends early.
class Front {
public:
   explicit Front(std::string_view bytes) : rest_(bytes) {}
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

   std::string_view rest() const { return rest_; }

private:
   std::string_view rest_;
};

uint64_t elementCount(std::span<const ArrayDimension> dimensions) {
   if (dimensions.empty()) return 0;
   uint64_t count = 1;
   for (const ArrayDimension& dimension : dimensions)
      count *= static_cast<uint32_t>(dimension.length);
   return count;
}

} // namespace

ArrayView::ArrayView(std::string_view bytes) {
   Front front(bytes);
   elementType_ = front.number<Oid>();
   physical_ = static_cast<PhysicalType>(front.number<uint8_t>());
   const bool hasNulls = front.number<uint8_t>() != 0;
   dimensionCount_ = front.number<uint16_t>();
   if (physical_ > PhysicalType::String || dimensionCount_ > dimensionsMax) throwInternal("malformed array value");
   dimensions_ = front.take(size_t{dimensionCount_} * sizeof(ArrayDimension)).data();
   uint64_t count = dimensionCount_ == 0 ? 0 : 1;
   for (uint32_t i = 0; i < dimensionCount_; ++i) // even NULLs take a bit each
      if (__builtin_mul_overflow(count, static_cast<uint32_t>(dimension(i).length), &count) || count > bytes.size() * 8)
         throwInternal("malformed array value");
   size_ = static_cast<uint32_t>(count);
   if (hasNulls) nulls_ = reinterpret_cast<const uint8_t*>(front.take((count + 7) / 8).data());
   elements_ = front.rest();
}

ArrayDimension ArrayView::dimension(uint32_t i) const {
   DCHECK(i < dimensionCount_);
   ArrayDimension dimension;
   std::memcpy(&dimension, dimensions_ + i * sizeof dimension, sizeof dimension);
   return dimension;
}

std::vector<ArrayDimension> ArrayView::dimensions() const {
   std::vector<ArrayDimension> all;
   for (uint32_t i = 0; i < dimensionCount_; ++i)
      all.push_back(dimension(i));
   return all;
}

bool ArrayView::Cursor::next() {
   if (next_ >= array_.size_) return false;
   isNull_ = array_.isNull(next_++);
   if (isNull_) {
      std::memset(place_, 0, sizeof place_);
      return true;
   }
   const char* end = array_.elements_.data() + array_.elements_.size();
   const auto take = [&](size_t bytes) {
      if (bytes > static_cast<size_t>(end - at_)) throwInternal("malformed array value");
      return std::exchange(at_, at_ + bytes);
   };
   if (isVariableSize(array_.physical_)) {
      uint32_t size;
      std::memcpy(&size, take(sizeof size), sizeof size);
      StringView text(take(size), size);
      if (array_.elementType_ == oid::bpchar) {
         padded_ = text;
         const std::string_view value = text.view();
         text = StringView(value.substr(0, value.find_last_not_of(' ') + 1));
      }
      std::memcpy(place_, static_cast<const void*>(&text), sizeof text);
   } else {
      const uint32_t width = physicalSize(array_.physical_);
      std::memcpy(place_, take(width), width);
   }
   return true;
}

void ArrayView::Cursor::moveTo(uint32_t i) {
   DCHECK(i <= array_.size_);
   if (!array_.hasNulls() && !isVariableSize(array_.physical_)) {
      const size_t offset = size_t{i} * physicalSize(array_.physical_);
      if (offset > array_.elements_.size()) throwInternal("malformed array value");
      at_ = array_.elements_.data() + offset;
      next_ = i;
      return;
   }
   if (i < next_) {
      at_ = array_.elements_.data();
      next_ = 0;
   }
   while (next_ < i)
      next();
}

void appendArrayHeader(std::string& out, Oid elementType, PhysicalType physical,
                       std::span<const ArrayDimension> dimensions, const std::string* nulls) {
   append(out, elementType);
   append(out, static_cast<uint8_t>(physical));
   append(out, static_cast<uint8_t>(nulls != nullptr));
   append(out, static_cast<uint16_t>(dimensions.size()));
   for (const ArrayDimension& dimension : dimensions) {
      append(out, dimension.length);
      append(out, dimension.lower);
   }
   if (nulls) out += *nulls;
}

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
   std::string nulls((array.elements.size() + 7) / 8, '\0');
   for (size_t i = 0; i < array.elements.size(); ++i)
      if (array.elements[i].isNull) nulls[i / 8] = static_cast<char>(nulls[i / 8] | (1 << (i % 8)));
   std::string out;
   appendArrayHeader(out, array.elementType, array.physical, array.dimensions, hasNulls ? &nulls : nullptr);
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
   const ArrayView view(bytes);
   ArrayValue array{view.elementType(), view.physical(), view.dimensions(), {}};
   array.elements.reserve(view.size());
   for (ArrayView::Cursor element(view); element.next();)
      array.elements.push_back(element.isNull()
                                   ? Value::null(view.physical())
                                   : Value::fromVector(Vector::flat(view.physical(), element.stored(), nullptr), 0));
   return array;
}

uint32_t arraySize(std::string_view bytes) {
   return ArrayView(bytes).size();
}

} // namespace ouzel
