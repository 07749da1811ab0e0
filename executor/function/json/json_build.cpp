#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/json/json_value.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// JSON out of values: to_json, array_to_json, row_to_json, json_build_object, json_build_array, json_object and their
// twins for jsonb; the rows of json_agg(t).

namespace ouzel::executor {

namespace {

SqlValue argument(const KernelCall& call, size_t arg, uint32_t row) {
   return valueAt(call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
}

// ---- json ----

void appendArgument(ValueBuilder& out, const KernelCall& call, size_t arg, uint32_t row) {
   if (call.args[arg].isNull(row)) {
      out.append("null");
      return;
   }
   std::string text;
   appendJson(text, argument(call, arg, row));
   out.append(text);
}

void appendQuoted(ValueBuilder& out, std::string_view text) {
   std::string quoted;
   json::appendQuoted(quoted, text);
   out.append(quoted);
}

/// With one argument, or with the flag whether line feeds separate the outermost elements.
void toJson(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      text.clear();
      appendJson(text, argument(call, 0, row), call.args.size() > 1 && call.args[1].value<uint8_t>(row) != 0);
      out[row] = result.strings().copyString(text);
   });
}

void requirePairs(const KernelCall& call, const char* function) {
   if (call.args.size() % 2 == 0) return;
   throw SqlError(sqlstate::invalidParameterValue, "argument list must have even number of elements")
       .hint(std::string("The arguments of ") + function + "() must consist of alternating keys and values.");
}

void buildObject(const KernelCall& call, ResultVector& result) {
   requirePairs(call, "json_build_object");
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder json(result.strings());
      json.push_back('{');
      for (size_t i = 0; i < call.args.size(); i += 2) {
         if (call.args[i].isNull(row))
            throw SqlError(sqlstate::invalidParameterValue, "argument " + std::to_string(i + 1) + " cannot be null")
                .hint("Object keys should be text.");
         if (i > 0) json.append(", ");
         appendQuoted(json, keyText(argument(call, i, row)));
         json.append(" : ");
         appendArgument(json, call, i + 1, row);
      }
      json.push_back('}');
      out[row] = json.finish();
   });
}

void buildArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder json(result.strings());
      json.push_back('[');
      for (size_t i = 0; i < call.args.size(); ++i) {
         if (i > 0) json.append(", ");
         appendArgument(json, call, i, row);
      }
      json.push_back(']');
      out[row] = json.finish();
   });
}

// ---- jsonb ----

/// Calls build(writer, row) for each row.
template <typename Build>
void eachDocument(const KernelCall& call, ResultVector& result, Build&& build) {
   StringView* out = result.values<StringView>();
   json::JsonbWriter writer;
   const json::JsonbWriter::Use use(writer, result.strings().reservation());
   forEachRow(call.rows, [&](uint32_t row) {
      build(writer, row);
      out[row] = json::finishInto(writer, result.strings());
   });
}

void writeArgument(json::JsonbWriter& writer, const KernelCall& call, size_t arg, uint32_t row) {
   if (call.args[arg].isNull(row))
      writer.null();
   else
      writeJsonb(writer, argument(call, arg, row));
}

void toJsonb(const KernelCall& call, ResultVector& result) {
   eachDocument(call, result, [&](json::JsonbWriter& writer, uint32_t row) { writeArgument(writer, call, 0, row); });
}

void buildJsonbObject(const KernelCall& call, ResultVector& result) {
   requirePairs(call, "jsonb_build_object");
   eachDocument(call, result, [&](json::JsonbWriter& writer, uint32_t row) {
      writer.beginObject();
      for (size_t i = 0; i < call.args.size(); i += 2) {
         if (call.args[i].isNull(row))
            throw SqlError(sqlstate::invalidParameterValue,
                           "argument " + std::to_string(i + 1) + ": key must not be null");
         writer.key(keyText(argument(call, i, row)));
         writeArgument(writer, call, i + 1, row);
      }
      writer.endObject();
   });
}

void buildJsonbArray(const KernelCall& call, ResultVector& result) {
   eachDocument(call, result, [&](json::JsonbWriter& writer, uint32_t row) {
      writer.beginArray();
      for (size_t i = 0; i < call.args.size(); ++i)
         writeArgument(writer, call, i, row);
      writer.endArray();
   });
}

// ---- json_object: out of arrays of texts ----

/// Calls member(key, value) for keys and values that alternate in an array, or are the rows of one with two columns;
/// `value` is null for NULL.
template <typename Member>
void eachPair(const ArrayView& array, Member&& member) {
   const uint32_t dimensions = array.dimensionCount();
   if (dimensions > 2) throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   if (dimensions == 1 && array.dimension(0).length % 2 != 0)
      throw SqlError(sqlstate::arraySubscriptError, "array must have even number of elements");
   if (dimensions == 2 && array.dimension(1).length != 2)
      throw SqlError(sqlstate::arraySubscriptError, "array must have two columns");
   ArrayView::Cursor key(array), value(array);
   for (uint32_t i = 0; i < array.size(); i += 2) {
      key.moveTo(i);
      key.next();
      value.moveTo(i + 1);
      value.next();
      member(key, value);
   }
}

/// The same for keys in one array and values in another.
template <typename Member>
void eachPair(const ArrayView& keys, const ArrayView& values, Member&& member) {
   if (keys.dimensionCount() > 1 || keys.dimensionCount() != values.dimensionCount())
      throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   if (keys.size() != values.size()) throw SqlError(sqlstate::arraySubscriptError, "mismatched array dimensions");
   for (ArrayView::Cursor key(keys), value(values); key.next() && value.next();)
      member(key, value);
}

template <typename Member>
void eachPairOf(const KernelCall& call, uint32_t row, Member&& member) {
   const auto checked = [&](const ArrayView::Cursor& key, const ArrayView::Cursor& value) {
      if (key.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "null value not allowed for object key");
      member(key.as<StringView>().view(), value);
   };
   const auto arrayAt = [&](size_t arg) { return ArrayView(call.args[arg].value<StringView>(row).view()); };
   if (call.args.size() == 1)
      eachPair(arrayAt(0), checked);
   else
      eachPair(arrayAt(0), arrayAt(1), checked);
}

void jsonObject(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder json(result.strings());
      json.push_back('{');
      eachPairOf(call, row, [&](std::string_view key, const ArrayView::Cursor& value) {
         if (json.size() > 1) json.append(", ");
         appendQuoted(json, key);
         json.append(" : ");
         if (value.isNull())
            json.append("null");
         else
            appendQuoted(json, value.as<StringView>().view());
      });
      json.push_back('}');
      out[row] = json.finish();
   });
}

void jsonbObject(const KernelCall& call, ResultVector& result) {
   eachDocument(call, result, [&](json::JsonbWriter& writer, uint32_t row) {
      writer.beginObject();
      eachPairOf(call, row, [&](std::string_view key, const ArrayView::Cursor& value) {
         writer.key(key);
         if (value.isNull())
            writer.null();
         else
            writer.string(value.as<StringView>().view());
      });
      writer.endObject();
   });
}

} // namespace

void registerJsonBuild() {
   constexpr KernelEntry strict{nullptr, true, false}, called{nullptr, false, false};
   const auto add = [](const char* name, ScalarKernel kernel, KernelEntry entry) {
      entry.kernel = kernel;
      registerKernel(name, anyArguments, entry);
   };
   for (const char* name : {"to_json", "array_to_json", "array_to_json_pretty", "row_to_json", "row_to_json_pretty"})
      add(name, toJson, strict);
   add("to_jsonb", toJsonb, strict);
   for (const char* name : {"json_build_object", "json_build_object_noargs"})
      add(name, buildObject, called);
   for (const char* name : {"json_build_array", "json_build_array_noargs"})
      add(name, buildArray, called);
   for (const char* name : {"jsonb_build_object", "jsonb_build_object_noargs"})
      add(name, buildJsonbObject, called);
   for (const char* name : {"jsonb_build_array", "jsonb_build_array_noargs"})
      add(name, buildJsonbArray, called);
   for (const char* name : {"json_object", "json_object_two_arg"})
      add(name, jsonObject, strict);
   for (const char* name : {"jsonb_object", "jsonb_object_two_arg"})
      add(name, jsonbObject, strict);
}

} // namespace ouzel::executor
