#include "executor/function/array_builder.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/type/blanks.hpp"

namespace ouzel::executor {

void ArrayBuilder::count(bool isNull) {
   if (count_ >= arrayElementsMax)
      throw SqlError(sqlstate::programLimitExceeded,
                     "array size exceeds the maximum allowed (" + std::to_string(arrayElementsMax) + ")");
   if (isNull || !nulls_.empty()) {
      nulls_.resize(count_ / 8 + 1, '\0');
      if (isNull) nulls_.back() = static_cast<char>(nulls_.back() | (1 << (count_ % 8)));
   }
   ++count_;
}

void ArrayBuilder::addNull() {
   count(true);
}

void ArrayBuilder::add(const void* value) {
   if (isVariableSize(physical_)) {
      StringView text;
      std::memcpy(static_cast<void*>(&text), value, sizeof text);
      return addText(text.view());
   }
   count(false);
   bytes_.append({static_cast<const char*>(value), physicalSize(physical_)});
}

void ArrayBuilder::addText(std::string_view text) {
   DCHECK(isVariableSize(physical_));
   count(false);
   const auto size = static_cast<uint32_t>(text.size());
   bytes_.append({reinterpret_cast<const char*>(&size), sizeof size}).append(text);
}

void ArrayBuilder::addPadded(std::string_view text, int32_t typmod) {
   if (typmod < 0) return addText(text);
   std::string padded;
   appendWithBlanks(padded, text, typmod);
   addText(padded);
}

void ArrayBuilder::add(const Vector& vector, uint32_t row, int32_t typmod) {
   if (vector.isNull(row)) return addNull();
   if (elementType_ == oid::bpchar) return addPadded(vector.value<StringView>(row).view(), typmod);
   if (vector.type == physical_)
      return add(static_cast<const std::byte*>(vector.data) + size_t{vector.positionOf(row)} * physicalSize(physical_));
   DCHECK(vector.type <= PhysicalType::I64);
   DCHECK(physical_ <= PhysicalType::I64);
   Value value = Value::fromVector(vector, row);
   value.type = physical_; // integers of all widths use the same member of Value
   alignas(16) std::byte place[16];
   value.store(place);
   add(place);
}

void ArrayBuilder::addAll(const ArrayView& array) {
   DCHECK(array.size() == 0 || array.physical() == physical_);
   for (ArrayView::Cursor element(array); element.next();)
      if (element.isNull())
         addNull();
      else
         add(element.stored());
}

StringView ArrayBuilder::finish(int32_t lower) {
   const ArrayDimension one{static_cast<int32_t>(count_), lower};
   return finish(std::span(&one, count_ == 0 ? 0 : 1));
}

StringView ArrayBuilder::finish(std::span<const ArrayDimension> dimensions) {
   if (dimensions.size() > ArrayView::dimensionsMax)
      throw SqlError(sqlstate::programLimitExceeded, "number of array dimensions (" +
                                                         std::to_string(dimensions.size()) +
                                                         ") exceeds the maximum allowed (6)");
   std::string header;
   appendArrayHeader(header, elementType_, physical_, dimensions, nulls_.empty() ? nullptr : &nulls_);
   const size_t elements = bytes_.size();
   bytes_.extend(header.size());
   std::memmove(bytes_.data() + header.size(), bytes_.data(), elements);
   std::memcpy(bytes_.data(), header.data(), header.size());
   return bytes_.finish();
}

} // namespace ouzel::executor
