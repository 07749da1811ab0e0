#include <charconv>

#include "common/json/jsonb_text.hpp"
#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/json/jsonb_path.hpp"

// Parts of jsonb values: -> ->> #> #>>, jsonb_typeof, jsonb_array_length, casts to numbers and boolean.

namespace ouzel::executor {

std::optional<int32_t> subscriptOf(std::string_view text) {
   while (!text.empty() && isBlank(text.front()))
      text.remove_prefix(1);
   if (text.starts_with('+')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) return std::nullopt;
   }
   int32_t value = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
   return value;
}

std::optional<StringView> plainText(const json::JsonbView& value, KernelEnv& env) {
   switch (value.kind()) {
   case json::Kind::Null: return std::nullopt;
   case json::Kind::String: return StringView(value.string());
   case json::Kind::Boolean: return StringView(value.boolean() ? std::string_view("true") : "false");
   default: break;
   }
   std::string text;
   json::appendText(text, value);
   return env.copy(text);
}

namespace {

using json::JsonbView;
using json::Kind;
using Part = std::optional<JsonbView>;

/// The member of an object.
Part field(const StringView& value, const StringView& key) {
   return JsonbView(value.view()).find(key.view());
}

/// The element of an array; a negative index counts from its end.
Part elementAt(const JsonbView& array, int64_t index) {
   if (index < 0) index += array.size();
   if (index < 0 || index >= array.size()) return std::nullopt;
   return array.element(static_cast<uint32_t>(index));
}

/// A scalar is taken for an array of one element.
Part element(const StringView& value, int32_t index) {
   const JsonbView view(value.view());
   if (view.kind() == Kind::Object) return std::nullopt;
   if (view.isScalar()) return index == 0 || index == -1 ? Part(view) : std::nullopt;
   return elementAt(view, index);
}

/// What the path leads to; nothing if a key or subscript is missing or NULL.
Part atPath(const StringView& value, const StringView& path) {
   JsonbView at(value.view());
   const ArrayView steps(path.view());
   if (steps.hasNulls())
      for (uint32_t i = 0; i < steps.size(); ++i)
         if (steps.isNull(i)) return std::nullopt;
   for (ArrayView::Cursor step(steps); step.next();) {
      const std::string_view text = step.as<StringView>().view();
      Part next;
      if (at.kind() == Kind::Object)
         next = at.find(text);
      else if (const auto index = at.kind() == Kind::Array ? subscriptOf(text) : std::nullopt)
         next = elementAt(at, *index);
      if (!next) return std::nullopt;
      at = *next;
   }
   return at;
}

std::optional<StringView> asJsonb(const Part& part) {
   return part ? std::optional(subvalue(*part)) : std::nullopt;
}
std::optional<StringView> asText(const Part& part, KernelEnv& env) {
   return part ? plainText(*part, env) : std::nullopt;
}

std::optional<StringView> fieldOf(const StringView& value, const StringView& key) {
   return asJsonb(field(value, key));
}
std::optional<StringView> fieldText(const StringView& value, const StringView& key, KernelEnv& env) {
   return asText(field(value, key), env);
}
std::optional<StringView> elementOf(const StringView& value, int32_t index) {
   return asJsonb(element(value, index));
}
std::optional<StringView> elementText(const StringView& value, int32_t index, KernelEnv& env) {
   return asText(element(value, index), env);
}
std::optional<StringView> pathOf(const StringView& value, const StringView& path) {
   return asJsonb(atPath(value, path));
}
std::optional<StringView> pathText(const StringView& value, const StringView& path, KernelEnv& env) {
   return asText(atPath(value, path), env);
}

const char* kindName(Kind kind, bool asType) {
   switch (kind) {
   case Kind::Null: return "null";
   case Kind::Boolean: return "boolean";
   case Kind::Number: return asType ? "number" : "numeric";
   case Kind::String: return "string";
   case Kind::Array: return "array";
   case Kind::Object: return "object";
   }
   return "";
}

StringView typeOf(const StringView& value) {
   return StringView(std::string_view(kindName(JsonbView(value.view()).kind(), true)), StringView::Storage::Permanent);
}

int32_t arrayLength(const StringView& value) {
   const JsonbView view(value.view());
   if (view.kind() != Kind::Array)
      throw SqlError(sqlstate::invalidParameterValue, view.isScalar() ? "cannot get array length of a scalar"
                                                                      : "cannot get array length of a non-array");
   return static_cast<int32_t>(view.size());
}

// ---- casts ----

JsonbView requireKind(const StringView& value, Kind kind, const char* type) {
   const JsonbView view(value.view());
   if (view.kind() != kind)
      throw SqlError(sqlstate::invalidParameterValue,
                     std::string("cannot cast jsonb ") + kindName(view.kind(), false) + " to type " + type);
   return view;
}

bool toBoolean(const StringView& value) {
   return requireKind(value, Kind::Boolean, "boolean").boolean();
}
DecimalView toNumeric(const StringView& value) {
   return requireKind(value, Kind::Number, "numeric").number();
}
int16_t toInt2(const StringView& value) {
   return decimal::toInt2(requireKind(value, Kind::Number, "smallint").number());
}
int32_t toInt4(const StringView& value) {
   return decimal::toInt4(requireKind(value, Kind::Number, "integer").number());
}
int64_t toInt8(const StringView& value) {
   return decimal::toInt8(requireKind(value, Kind::Number, "bigint").number());
}
float toFloat4(const StringView& value) {
   return decimal::toFloat(requireKind(value, Kind::Number, "real").number());
}
double toFloat8(const StringView& value) {
   return decimal::toDouble(requireKind(value, Kind::Number, "double precision").number());
}

} // namespace

void registerJsonbAccess() {
   addKernel<fieldOf>("jsonb_object_field");
   addKernel<fieldText>("jsonb_object_field_text");
   addKernel<elementOf>("jsonb_array_element");
   addKernel<elementText>("jsonb_array_element_text");
   addKernel<pathOf>("jsonb_extract_path");
   addKernel<pathText>("jsonb_extract_path_text");
   addKernel<typeOf>("jsonb_typeof");
   addKernel<arrayLength>("jsonb_array_length");
   addKernel<toBoolean>("jsonb_bool");
   addKernel<toNumeric>("jsonb_numeric");
   addKernel<toInt2>("jsonb_int2");
   addKernel<toInt4>("jsonb_int4");
   addKernel<toInt8>("jsonb_int8");
   addKernel<toFloat4>("jsonb_float4");
   addKernel<toFloat8>("jsonb_float8");
}

} // namespace ouzel::executor
