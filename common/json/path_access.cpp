#include "common/json/path_access.hpp"

#include <cmath>
#include <limits>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::json {

namespace {

void put(void* out, const StringView& string) {
   std::memcpy(out, &string, sizeof string);
}

bool putTrue(void* out) {
   *static_cast<uint8_t*>(out) = 1;
   return true;
}

/// A value that the writer describes, as jsonb.
template <typename Describe>
bool putJson(void* out, Arena& arena, Describe describe) {
   JsonbWriter writer;
   describe(writer);
   put(out, arena.copyString(writer.finish()));
   return true;
}

template <typename T>
bool putInteger(const StringView& number, void* out) {
   if (decimal::scale(number) != 0) return false; // the text has a point, which integers refuse
   const std::optional<int64_t> value = decimal::toInt64(number, 0);
   if (!value || *value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max()) return false;
   const auto narrow = static_cast<T>(*value);
   std::memcpy(out, &narrow, sizeof narrow);
   return true;
}

/// Numbers near the ends of what a double holds are left to the cast, which may refuse them.
bool putDouble(const StringView& number, void* out) {
   constexpr double largest = 1e300, smallest = 1e-290;
   const double value = decimal::approximate(number), magnitude = std::abs(value);
   if (!(magnitude <= largest) || (magnitude < smallest && decimal::sign(number) != 0)) return false;
   std::memcpy(out, &value, sizeof value);
   return true;
}

bool putScaled(const StringView& number, uint8_t scale, void* out) {
   const auto value = decimal::scale(number) == scale ? decimal::toInt64(number, scale) : std::nullopt;
   if (value) std::memcpy(out, &*value, sizeof *value);
   return value.has_value();
}

bool putNumber(const PathAccess& access, const StringView& number, void* out, Arena& arena) {
   switch (access.target) {
   case PathTarget::Int2: return putInteger<int16_t>(number, out);
   case PathTarget::Int4: return putInteger<int32_t>(number, out);
   case PathTarget::Int8: return putInteger<int64_t>(number, out);
   case PathTarget::Float8: return putDouble(number, out);
   case PathTarget::Numeric:
      if (access.isCertain) return putScaled(number, access.scale, out);
      put(out, arena.copyString(number.view()));
      return true;
   case PathTarget::Boolean:
   case PathTarget::Date: break;
   }
   return false;
}

} // namespace

PhysicalType PathAccess::resultType() const {
   if (isTest() || form == PathForm::HasKey) return PhysicalType::Bool;
   if (form != PathForm::Value) return PhysicalType::String;
   switch (target) {
   case PathTarget::Boolean: return PhysicalType::Bool;
   case PathTarget::Int2: return PhysicalType::I16;
   case PathTarget::Int4:
   case PathTarget::Date: return PhysicalType::I32;
   case PathTarget::Int8: return PhysicalType::I64;
   case PathTarget::Float8: return PhysicalType::F64;
   case PathTarget::Numeric: break;
   }
   return isCertain ? PhysicalType::I64 : PhysicalType::Decimal;
}

bool notOfType(const PathAccess& access) {
   if (access.isCertain) throwInternal("a value at a path is not of the type that statistics say");
   return false;
}

std::string_view nameOfKind(Kind kind) {
   switch (kind) {
   case Kind::Null: return "null";
   case Kind::Boolean: return "boolean";
   case Kind::Number: return "number";
   case Kind::String: return "string";
   case Kind::Array: return "array";
   case Kind::Object: break;
   }
   return "object";
}

bool hasKey(const JsonbView& value, std::string_view key) {
   switch (value.kind()) {
   case Kind::Object: return value.indexOf(key).has_value();
   case Kind::String: return value.string() == key;
   case Kind::Array:
      for (uint32_t i = 0; i < value.size(); ++i)
         if (const JsonbView element = value.element(i); element.kind() == Kind::String && element.string() == key)
            return true;
      return false;
   default: return false;
   }
}

std::optional<JsonbView> find(JsonbView document, std::span<const std::string> keys) {
   for (const std::string& key : keys) {
      const std::optional<JsonbView> member = document.find(key);
      if (!member) return std::nullopt;
      document = *member;
   }
   return document;
}

namespace {

/// Writes what the access gives of a value of which the kind is enough; nothing for other accesses.
std::optional<bool> giveOfKind(const PathAccess& access, Kind kind, void* out) {
   if (access.form == PathForm::HasText && kind == Kind::Null) return false;
   if (access.isTest()) return putTrue(out);
   if (access.form != PathForm::KindName) return std::nullopt;
   put(out, StringView(nameOfKind(kind)));
   return true;
}

bool putBoolean(void* out, bool value) {
   *static_cast<uint8_t*>(out) = value ? 1 : 0;
   return true;
}

} // namespace

bool giveNumber(const PathAccess& access, const StringView& number, void* out, Arena& arena) {
   if (const auto given = giveOfKind(access, Kind::Number, out)) return *given;
   if (access.form == PathForm::HasKey) return putBoolean(out, false);
   if (access.form == PathForm::Json) return putJson(out, arena, [&](JsonbWriter& writer) { writer.number(number); });
   if (access.isTyped()) {
      alignas(16) char value[16];
      const bool fits = putNumber(access, number, access.form == PathForm::Value ? out : value, arena);
      if (access.form == PathForm::Value) return fits || notOfType(access);
      if (fits) return false;
   }
   std::string text;
   decimal::append(text, number);
   put(out, arena.copyString(text));
   return true;
}

bool giveBoolean(const PathAccess& access, bool value, void* out) {
   if (const auto given = giveOfKind(access, Kind::Boolean, out)) return *given;
   const bool isTarget = access.target == PathTarget::Boolean;
   switch (access.form) {
   case PathForm::Json: {
      // A literal is one byte.
      JsonbWriter writer;
      writer.boolean(value);
      const std::string bytes = writer.finish();
      DCHECK(bytes.size() <= StringView::inlineMax);
      put(out, StringView(std::string_view(bytes)));
      return true;
   }
   case PathForm::Value:
      if (isTarget) putBoolean(out, value);
      return isTarget || notOfType(access);
   case PathForm::Rest:
      if (isTarget) return false;
      break;
   case PathForm::HasKey: return putBoolean(out, false);
   default: break;
   }
   put(out, StringView(std::string_view(value ? "true" : "false")));
   return true;
}

bool giveString(const PathAccess& access, const StringView& text, void* out, Arena& arena) {
   if (const auto given = giveOfKind(access, Kind::String, out)) return *given;
   if (access.form == PathForm::HasKey) return putBoolean(out, text.view() == access.keys.back());
   if (access.form == PathForm::Json)
      return putJson(out, arena, [&](JsonbWriter& writer) { writer.string(text.view()); });
   if (access.isTyped()) {
      const auto days = access.target == PathTarget::Date ? parseIsoDate(text.view()) : std::nullopt;
      if (access.form == PathForm::Value) {
         if (days) std::memcpy(out, &*days, sizeof *days);
         return days || notOfType(access);
      }
      if (days) return false;
   }
   put(out, text);
   return true;
}

bool giveDate(const PathAccess& access, int32_t days, void* out, Arena& arena) {
   if (const auto given = giveOfKind(access, Kind::String, out)) return *given;
   if (access.isTyped() && access.target == PathTarget::Date) {
      if (access.form == PathForm::Value) std::memcpy(out, &days, sizeof days);
      return access.form == PathForm::Value;
   }
   char text[isoDateSize];
   writeIsoDate(days, text);
   return giveString(access, StringView(std::string_view(text, isoDateSize)), out, arena);
}

bool giveOf(const PathAccess& access, JsonbView document, void* out, Arena& arena) {
   const std::optional<JsonbView> value = find(document, access.valueKeys());
   return value && give(access, *value, out, arena);
}

bool give(const PathAccess& access, const JsonbView& value, void* out, Arena& arena) {
   if (access.form == PathForm::Json) {
      const std::string_view bytes = value.bytes();
      put(out, StringView(bytes));
      return true;
   }
   if (const auto given = giveOfKind(access, value.kind(), out)) return *given;
   if (access.form == PathForm::HasKey) return putBoolean(out, hasKey(value, access.keys.back()));
   switch (value.kind()) {
   case Kind::Null: return false;
   case Kind::Number: return giveNumber(access, value.number(), out, arena);
   case Kind::Boolean: return giveBoolean(access, value.boolean(), out);
   case Kind::String: return giveString(access, StringView(value.string()), out, arena);
   default: break;
   }
   if (access.form == PathForm::Value) return notOfType(access);
   std::string text;
   appendText(text, value);
   put(out, arena.copyString(text));
   return true;
}

} // namespace ouzel::json
