#include "catalog/builtin/builtin.hpp"
#include "common/text/ascii.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"
#include "executor/function/value_text.hpp"

// json_build_object and json_build_array: the JSON functions that catalog queries of clients use.

namespace ouzel::executor {

namespace {

void appendEscaped(ValueBuilder& out, std::string_view text) {
   static constexpr char digits[] = "0123456789abcdef";
   out.push_back('"');
   for (const char c : text) {
      const char letter = c == '"' || c == '\\' ? c : controlLetter(c);
      if (letter) {
         out.push_back('\\');
         out.push_back(letter);
      } else if (static_cast<unsigned char>(c) < ' ') {
         out.append("\\u00");
         out.push_back(digits[c >> 4]);
         out.push_back(digits[c & 15]);
      } else {
         out.push_back(c);
      }
   }
   out.push_back('"');
}

bool isJson(Oid type) {
   return type == oid::json || type == oid::jsonb;
}

void appendJson(ValueBuilder& out, const KernelCall& call, size_t arg, uint32_t row) {
   if (call.args[arg].isNull(row)) {
      out.append("null");
      return;
   }
   const Oid type = call.argTypes[arg].oid;
   std::string text;
   switch (type) {
   case oid::boolean: out.append(call.args[arg].value<bool>(row) ? "true" : "false"); return;
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::float4:
   case oid::float8:
   case oid::numeric:
      appendRowText(text, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
      if (const char last = text.back(); last >= '0' && last <= '9')
         out.append(text);
      else // NaN and the infinities
         appendEscaped(out, text);
      return;
   case oid::date:
   case oid::timestamp:
   case oid::timestamptz: throwNotSupported("JSON of dates and timestamps");
   default:
      if (const auto* info = catalog::builtins().type(type); info && (info->category == 'A' || info->category == 'C'))
         throwNotSupported("JSON of arrays and rows");
      appendRowText(text, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
      if (isJson(type))
         out.append(text);
      else
         appendEscaped(out, text);
   }
}

void buildObject(const KernelCall& call, ResultVector& result) {
   if (call.args.size() % 2 != 0)
      throw SqlError(sqlstate::invalidParameterValue, "argument list must have even number of elements")
          .hint("The arguments of json_build_object() must consist of alternating keys and values.");
   StringView* out = result.values<StringView>();
   std::string key;
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder json(result.strings());
      json.push_back('{');
      for (size_t i = 0; i < call.args.size(); i += 2) {
         if (call.args[i].isNull(row))
            throw SqlError(sqlstate::invalidParameterValue, "argument " + std::to_string(i + 1) + " cannot be null")
                .hint("Object keys should be text.");
         if (i) json.append(", ");
         key.clear();
         appendRowText(key, call.context, call.argTypes[i], call.argReprs[i], call.args[i], row);
         appendEscaped(json, key);
         json.append(" : ");
         appendJson(json, call, i + 1, row);
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
         if (i) json.append(", ");
         appendJson(json, call, i, row);
      }
      json.push_back(']');
      out[row] = json.finish();
   });
}

} // namespace

void registerJsonBuild() {
   for (const char* name : {"json_build_object", "json_build_object_noargs"})
      registerKernel(name, anyArguments, {buildObject, false, false});
   for (const char* name : {"json_build_array", "json_build_array_noargs"})
      registerKernel(name, anyArguments, {buildArray, false, false});
}

} // namespace ouzel::executor
