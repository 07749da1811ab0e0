#include "tests/unit/executor/expression_support.hpp"

#include "common/number/decimal.hpp"
#include "common/type/session_format.hpp"

namespace ouzel::test {

void Column::store(PhysicalType type, std::vector<Value> values) {
   values_ = std::make_shared<std::vector<Value>>(std::move(values));
   const uint32_t width = physicalSize(type), count = static_cast<uint32_t>(values_->size());
   data_ = std::make_shared<std::vector<uint128>>((count * width + 15) / 16 + 1);
   bool hasNulls = false;
   auto validity = std::make_shared<std::vector<ValidityWord>>(validityWords(count) + 1, ~ValidityWord{0});
   for (uint32_t i = 0; i < count; ++i) {
      if ((*values_)[i].isNull) {
         setValidBit(validity->data(), i, false);
         hasNulls = true;
      } else {
         (*values_)[i].store(reinterpret_cast<std::byte*>(data_->data()) + i * width);
      }
   }
   if (hasNulls) validity_ = std::move(validity);
   vector_ = Vector::flat(type, data_->data(), hasNulls ? validity_->data() : nullptr);
}

Column Column::flat(PhysicalType type, std::vector<Value> values) {
   Column result;
   result.store(type, std::move(values));
   return result;
}

Column Column::constant(PhysicalType type, Value value) {
   Column result;
   result.store(type, {std::move(value)});
   result.vector_.encoding = Encoding::Constant;
   return result;
}

Column Column::dictionary(PhysicalType type, const std::vector<Value>& values, uint64_t id) {
   std::vector<Value> entries;
   auto codes = std::make_shared<std::vector<uint16_t>>();
   for (const Value& value : values) {
      size_t code = 0;
      while (code < entries.size() && !entries[code].identical(value))
         ++code;
      if (code == entries.size()) entries.push_back(value);
      codes->push_back(static_cast<uint16_t>(code));
   }
   if (entries.empty()) entries.push_back(Value::null(type));
   Column result;
   const uint32_t size = static_cast<uint32_t>(entries.size());
   result.store(type, std::move(entries));
   result.codes_ = std::move(codes);
   result.vector_.encoding = Encoding::Dictionary;
   result.vector_.codes = result.codes_->data();
   result.vector_.dictionarySize = size;
   result.vector_.dictionaryId = id;
   return result;
}

std::vector<Value> rowsOf(const Vector& vector, Selection rows) {
   std::vector<Value> result;
   for (uint32_t i = 0; i < rows.count(); ++i)
      result.push_back(Value::fromVector(vector, rows.row(i)));
   return result;
}

std::string toText(const Value& value) {
   if (value.isNull) return "NULL";
   switch (value.type) {
   case PhysicalType::Bool: return value.i64 ? "t" : "f";
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return std::to_string(value.i64);
   case PhysicalType::I128: return decimal::toString(decimal::fromInt128(value.i128, 0, *new Arena));
   case PhysicalType::F32:
   case PhysicalType::F64: return std::to_string(value.f64);
   case PhysicalType::Interval:
      return std::to_string(value.interval.months) + "m" + std::to_string(value.interval.days) + "d" +
             std::to_string(value.interval.micros);
   case PhysicalType::Decimal: return decimal::toString(StringView(value.bytes));
   case PhysicalType::String: return value.bytes;
   }
   return "?";
}

executor::FunctionContext& testContext() {
   static SessionFormat format;
   static executor::FunctionContext context = [] {
      executor::FunctionContext c;
      c.format = &format;
      return c;
   }();
   return context;
}

Reservation& testMemory() {
   static MemoryLedger ledger(SIZE_MAX);
   static Reservation memory(ledger);
   return memory;
}

} // namespace ouzel::test
