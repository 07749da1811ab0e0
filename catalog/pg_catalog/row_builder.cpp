#include "catalog/pg_catalog/row_builder.hpp"

#include <charconv>

#include "catalog/pg_catalog/acl_items.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"

namespace ouzel::catalog {

namespace {

Value text(std::string_view bytes) {
   return Value::string(std::string(bytes));
}
Value integer(PhysicalType physical, int64_t value) {
   return Value::integer(physical, value);
}

template <typename T>
T parseNumber(std::string_view field) {
   T value{};
   const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
   if (error != std::errc() || end != field.data() + field.size()) throwInternal("malformed built-in row");
   return value;
}

/// Parses one scalar in COPY's text format, for the types of system tables.
Value parseScalar(Oid type, std::string_view field) {
   const PhysicalType physical = storedRepresentation({type, -1, 0}).physical;
   switch (physical) {
   case PhysicalType::Bool: return Value::boolean(field == "t");
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return Value::integer(physical, parseNumber<int64_t>(field));
   case PhysicalType::F32:
   case PhysicalType::F64: return Value::real(physical, parseNumber<double>(field));
   case PhysicalType::String: return text(field);
   default: throwInternal("system table column of an unexpected type");
   }
}

/// Elements of "{a,\"b,c\",NULL}", with quotes and backslashes as array_out writes them.
std::vector<std::optional<std::string>> arrayElements(std::string_view list) {
   std::vector<std::optional<std::string>> elements;
   if (list.size() <= 2) return elements;
   std::string element;
   bool quoted = false, wasQuoted = false;
   for (size_t i = 1; i < list.size(); ++i) {
      const char c = list[i];
      if (c == '"') {
         quoted = !quoted;
         wasQuoted = true;
      } else if (c == '\\' && i + 1 < list.size()) {
         element.push_back(list[++i]);
      } else if (!quoted && (c == ',' || c == '}')) {
         if (!wasQuoted && element == "NULL")
            elements.emplace_back();
         else
            elements.emplace_back(std::move(element));
         element.clear();
         wasQuoted = false;
      } else {
         element.push_back(c);
      }
   }
   return elements;
}

std::vector<std::string_view> words(std::string_view list) {
   std::vector<std::string_view> result;
   while (!list.empty()) {
      const size_t end = std::min(list.find(' '), list.size());
      if (end > 0) result.push_back(list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
   }
   return result;
}

Value parseField(Oid type, std::string_view field) {
   const bool isVector = type == oid::oidvector || type == oid::int2vector;
   const TypeInfo* info = builtins().type(type);
   if (!isVector && (info == nullptr || !info->isArray())) return parseScalar(type, field);
   std::vector<Value> elements;
   if (isVector) {
      for (const std::string_view word : words(field))
         elements.push_back(parseScalar(info->element, word));
   } else {
      for (const auto& element : arrayElements(field))
         elements.push_back(element ? parseScalar(info->element, *element)
                                    : Value::null(arrayElementPhysical(info->element)));
   }
   return Value::string(makeArray(info->element, elements, isVector ? 0 : 1));
}

} // namespace

RowBuilder::RowBuilder(const Relation& relation, std::span<const int16_t> attributes, const RowCallback& callback)
   : relation_(relation), callback_(callback), slots_(relation.columns.size(), -1), row_(attributes.size()),
     attributes_(attributes) {
   for (size_t i = 0; i < attributes.size(); ++i) {
      if (attributes[i] < 1 || static_cast<size_t>(attributes[i]) > slots_.size())
         throwInternal("system table has no such attribute");
      int& slot = slots_[static_cast<size_t>(attributes[i]) - 1];
      if (slot >= 0)
         repeats_ = true;
      else
         slot = static_cast<int>(i);
   }
}

Value* RowBuilder::next([[maybe_unused]] PhysicalType physical) {
   CHECK(column_ < slots_.size());
   DCHECK(storedRepresentation(relation_.columns[column_].type).physical == physical);
   const int slot = slots_[column_++];
   return slot < 0 ? nullptr : &row_[static_cast<size_t>(slot)];
}

RowBuilder& RowBuilder::null() {
   const PhysicalType physical = storedRepresentation(relation_.columns[column_].type).physical;
   if (Value* value = next(physical)) *value = Value::null(physical);
   return *this;
}
RowBuilder& RowBuilder::nulls(int count) {
   for (int i = 0; i < count; ++i)
      null();
   return *this;
}
RowBuilder& RowBuilder::oid(Oid oidValue) {
   return int8(oidValue);
}
RowBuilder& RowBuilder::boolean(bool flag) {
   if (Value* value = next(PhysicalType::Bool)) *value = Value::boolean(flag);
   return *this;
}
RowBuilder& RowBuilder::int2(int64_t number) {
   if (Value* value = next(PhysicalType::I16)) *value = integer(PhysicalType::I16, number);
   return *this;
}
RowBuilder& RowBuilder::int4(int64_t number) {
   if (Value* value = next(PhysicalType::I32)) *value = integer(PhysicalType::I32, number);
   return *this;
}
RowBuilder& RowBuilder::int8(int64_t number) {
   if (Value* value = next(PhysicalType::I64)) *value = integer(PhysicalType::I64, number);
   return *this;
}
RowBuilder& RowBuilder::float4(double number) {
   if (Value* value = next(PhysicalType::F32)) *value = Value::real(PhysicalType::F32, number);
   return *this;
}
RowBuilder& RowBuilder::float8(double number) {
   if (Value* value = next(PhysicalType::F64)) *value = Value::real(PhysicalType::F64, number);
   return *this;
}
RowBuilder& RowBuilder::text(std::string_view bytes) {
   if (Value* value = next(PhysicalType::String)) *value = catalog::text(bytes);
   return *this;
}
RowBuilder& RowBuilder::nullable(const std::optional<std::string>& bytes) {
   return bytes ? text(std::string_view(*bytes)) : null();
}
RowBuilder& RowBuilder::letter(char character) {
   return text(std::string_view(&character, character == '\0' ? 0 : 1));
}
RowBuilder& RowBuilder::date(std::optional<int32_t> days) {
   if (!days) return null();
   if (Value* value = next(PhysicalType::I32)) *value = Value::integer(PhysicalType::I32, *days);
   return *this;
}
RowBuilder& RowBuilder::numeric(const std::optional<std::string>& decimal) {
   if (!decimal) return null();
   if (Value* value = next(PhysicalType::Decimal)) *value = Value::string(*decimal, PhysicalType::Decimal);
   return *this;
}
RowBuilder& RowBuilder::timestamp(const std::optional<int64_t>& micros) {
   return micros ? int8(*micros) : null();
}
RowBuilder& RowBuilder::interval(int64_t micros) {
   if (Value* value = next(PhysicalType::Interval))
      *value = Value::ofInterval({.micros = micros, .days = 0, .months = 0});
   return *this;
}

RowBuilder& RowBuilder::array(Oid elementType, std::span<const Value> values, int32_t lower) {
   if (Value* value = next(PhysicalType::String)) *value = Value::string(makeArray(elementType, values, lower));
   return *this;
}
RowBuilder& RowBuilder::oidArray(std::span<const Oid> values) {
   std::vector<Value> elements;
   for (const Oid element : values)
      elements.push_back(integer(PhysicalType::I64, element));
   return array(oid::oid, elements);
}
RowBuilder& RowBuilder::oidVector(std::span<const Oid> values) {
   std::vector<Value> elements;
   for (const Oid element : values)
      elements.push_back(integer(PhysicalType::I64, element));
   return array(oid::oid, elements, 0);
}
RowBuilder& RowBuilder::regtypeArray(std::span<const Oid> values) {
   std::vector<Value> elements;
   for (const Oid element : values)
      elements.push_back(integer(PhysicalType::I64, element));
   return array(oid::regtype, elements);
}
RowBuilder& RowBuilder::int2Array(std::span<const int16_t> values) {
   std::vector<Value> elements;
   for (const int16_t element : values)
      elements.push_back(integer(PhysicalType::I16, element));
   return array(oid::int2, elements);
}
RowBuilder& RowBuilder::int2Vector(std::span<const int16_t> values) {
   std::vector<Value> elements;
   for (const int16_t element : values)
      elements.push_back(integer(PhysicalType::I16, element));
   return array(oid::int2, elements, 0);
}
RowBuilder& RowBuilder::textArray(std::span<const std::string> values) {
   std::vector<Value> elements;
   for (const std::string& element : values)
      elements.push_back(catalog::text(element));
   return array(oid::text, elements);
}
RowBuilder& RowBuilder::letterArray(std::string_view letters) {
   std::vector<Value> elements;
   for (const char letter : letters)
      elements.push_back(catalog::text(std::string(1, letter)));
   return array(oid::character, elements);
}
RowBuilder& RowBuilder::arrayBytes(std::string bytes) {
   if (Value* value = next(PhysicalType::String)) *value = Value::string(std::move(bytes));
   return *this;
}
RowBuilder& RowBuilder::acl(const Snapshot& snapshot, const Acl& items) {
   if (!items) return null();
   if (Value* value = next(PhysicalType::String)) *value = catalog::text(makeAcl(snapshot, *items));
   return *this;
}

RowBuilder& RowBuilder::parsed(std::optional<std::string_view> field) {
   if (!field) return null();
   const Oid type = relation_.columns[column_].type.oid;
   if (Value* value = next(storedRepresentation({type, -1, 0}).physical)) *value = parseField(type, *field);
   return *this;
}

void RowBuilder::emit() {
   CHECK(column_ == slots_.size());
   column_ = 0;
   if (repeats_)
      for (size_t i = 0; i < attributes_.size(); ++i) {
         const auto first = static_cast<size_t>(slots_[static_cast<size_t>(attributes_[i]) - 1]);
         if (first != i) row_[i] = row_[first];
      }
   callback_(row_);
   // The callback may have moved the values out or resized the row.
   row_.resize(attributes_.size());
}

bool RowBuilder::wants(std::string_view column) const {
   for (size_t i = 0; i < slots_.size(); ++i)
      if (relation_.columns[i].name == column) return slots_[i] >= 0;
   return false;
}

} // namespace ouzel::catalog
