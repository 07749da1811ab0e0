#include "common/type/row.hpp"

#include <cstring>

#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr size_t headerBytes = 8, headBytes = 5;
constexpr uint8_t nullBit = 0x80;

template <typename T>
void append(std::string& out, T value) {
   out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T readAt(const char* place) {
   T value;
   std::memcpy(&value, place, sizeof value);
   return value;
}

[[noreturn, gnu::cold]] void throwMalformed() {
   throwInternal("malformed row value");
}

} // namespace

PhysicalType rowFieldPhysical(Oid type) {
   return storedRepresentation({type, -1, invalidOid}).physical;
}

RowView::RowView(std::string_view bytes) : end_(bytes.data() + bytes.size()) {
   if (bytes.size() < headerBytes) throwMalformed();
   type_ = readAt<Oid>(bytes.data());
   size_ = readAt<uint16_t>(bytes.data() + 4);
   const bool hasNames = bytes[6] != 0;
   if (bytes.size() < headerBytes + headBytes * size_) throwMalformed();
   heads_ = bytes.data() + headerBytes;
   values_ = heads_ + headBytes * size_;
   if (!hasNames) return;
   names_ = values_;
   for (uint32_t i = 0; i < size_; ++i) {
      if (values_ >= end_) throwMalformed();
      values_ += 1 + static_cast<uint8_t>(*values_);
   }
   if (values_ > end_) throwMalformed();
}

bool RowView::Cursor::next() {
   if (next_ >= row_.size_) return false;
   const char* head = row_.heads_ + headBytes * next_++;
   const auto physical = readAt<uint8_t>(head + 4);
   field_.type = readAt<Oid>(head);
   field_.isNull = (physical & nullBit) != 0;
   if ((physical & ~nullBit) >= physicalTypeCount) throwMalformed();
   field_.physical = static_cast<PhysicalType>(physical & ~nullBit);
   if (name_) {
      const auto length = static_cast<uint8_t>(*name_);
      field_.name = {name_ + 1, length};
      name_ += 1 + length;
   }
   if (field_.isNull) return true;
   const auto left = static_cast<size_t>(row_.end_ - at_);
   if (isVariableSize(field_.physical)) {
      if (left < sizeof(uint32_t)) throwMalformed();
      const auto size = readAt<uint32_t>(at_);
      if (left - sizeof size < size) throwMalformed();
      const StringView text(at_ + sizeof size, size);
      std::memcpy(field_.value, static_cast<const void*>(&text), sizeof text);
      at_ += sizeof size + size;
   } else {
      const uint32_t width = physicalSize(field_.physical);
      if (left < width) throwMalformed();
      std::memcpy(field_.value, at_, width);
      at_ += width;
   }
   return true;
}

RowView::Field RowView::field(uint32_t i) const {
   for (Cursor cursor(*this); cursor.next();)
      if (cursor.index() == i) return *cursor;
   return {};
}

void appendRow(std::string& out, Oid type, std::span<const RowPart> fields, std::span<const std::string> names) {
   append(out, type);
   append(out, static_cast<uint16_t>(fields.size()));
   append(out, static_cast<uint8_t>(!names.empty()));
   append(out, uint8_t{0});
   for (const RowPart& field : fields) {
      append(out, field.type);
      append(out, static_cast<uint8_t>(static_cast<uint8_t>(field.physical) | (field.value ? 0 : nullBit)));
   }
   for (const std::string& name : names) {
      DCHECK(name.size() <= UINT8_MAX);
      append(out, static_cast<uint8_t>(name.size()));
      out += name;
   }
   for (const RowPart& field : fields) {
      if (!field.value) continue;
      if (isVariableSize(field.physical)) {
         const std::string_view text = static_cast<const StringView*>(field.value)->view();
         append(out, static_cast<uint32_t>(text.size()));
         out += text;
      } else {
         out.append(static_cast<const char*>(field.value), physicalSize(field.physical));
      }
   }
}

Value valueOfField(const RowView::Field& field) {
   if (field.isNull) return Value::null(field.physical);
   switch (field.physical) {
   case PhysicalType::Bool: return Value::boolean(field.as<bool>());
   case PhysicalType::I16: return Value::integer(field.physical, field.as<int16_t>());
   case PhysicalType::I32: return Value::integer(field.physical, field.as<int32_t>());
   case PhysicalType::I64: return Value::integer(field.physical, field.as<int64_t>());
   case PhysicalType::I128: return Value::wide(field.as<int128>());
   case PhysicalType::F32: return Value::real(field.physical, field.as<float>());
   case PhysicalType::F64: return Value::real(field.physical, field.as<double>());
   case PhysicalType::Interval: return Value::ofInterval(field.as<Interval>());
   case PhysicalType::String:
   case PhysicalType::Decimal: break;
   }
   return Value::string(std::string(field.as<StringView>().view()), field.physical);
}

std::string makeRow(Oid type, const std::vector<RowField>& columns, const std::vector<Value>& values) {
   DCHECK(columns.size() == values.size());
   struct alignas(16) Place {
      std::byte bytes[16];
   };
   std::vector<Place> places(columns.size());
   std::vector<RowPart> parts;
   parts.reserve(columns.size());
   for (size_t i = 0; i < columns.size(); ++i) {
      const PhysicalType physical = rowFieldPhysical(columns[i].type.oid);
      parts.push_back({columns[i].type.oid, physical, nullptr});
      if (values[i].isNull) continue;
      DCHECK(values[i].type == physical);
      values[i].store(places[i].bytes);
      parts.back().value = places[i].bytes;
   }
   std::string row;
   appendRow(row, type, parts);
   return row;
}

} // namespace ouzel
