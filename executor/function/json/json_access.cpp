#include "common/json/json_parser.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/json/json_path.hpp"
#include "executor/function/json/jsonb_path.hpp"

// Parts of json texts: -> ->> #> #>>, json_typeof, json_array_length.

namespace ouzel::executor {

namespace {

using Step = JsonPathFinder::Step;

std::optional<StringView> find(const StringView& text, std::vector<Step> path, bool wantsPlain, KernelEnv& env) {
   JsonPathFinder finder(text.view(), std::move(path), wantsPlain);
   const std::optional<std::string_view> found = finder.find();
   return found ? std::optional(env.copy(*found)) : std::nullopt;
}

template <bool asText>
std::optional<StringView> field(const StringView& text, const StringView& key, KernelEnv& env) {
   return find(text, {{std::string(key.view()), std::nullopt}}, asText, env);
}

template <bool asText>
std::optional<StringView> element(const StringView& text, int32_t index, KernelEnv& env) {
   if (index == INT32_MIN) return std::nullopt; // as PostgreSQL, for which it is no subscript
   return find(text, {{std::nullopt, index}}, asText, env);
}

template <bool asText>
std::optional<StringView> atPath(const StringView& text, const StringView& path, KernelEnv& env) {
   std::vector<Step> steps;
   const ArrayView array(path.view());
   for (ArrayView::Cursor step(array); step.next();) {
      if (step.isNull()) return std::nullopt;
      const std::string_view key = step.as<StringView>().view();
      std::optional<int32_t> index = subscriptOf(key);
      if (index == INT32_MIN) index.reset();
      steps.push_back({std::string(key), index});
   }
   return find(text, std::move(steps), asText, env);
}

json::Token firstToken(const StringView& text) {
   json::Lexer lexer(text.view(), false);
   lexer.next();
   return lexer.token();
}

StringView typeOf(const StringView& text) {
   const auto name = [&]() -> std::string_view {
      switch (firstToken(text)) {
      case json::Token::ObjectStart: return "object";
      case json::Token::ArrayStart: return "array";
      case json::Token::String: return "string";
      case json::Token::Number: return "number";
      case json::Token::True:
      case json::Token::False: return "boolean";
      default: return "null";
      }
   };
   return StringView(name(), StringView::Storage::Permanent);
}

/// Counts the elements of the outermost array.
struct ElementCounter {
   static constexpr bool decodesStrings = false;
   size_t depth = 0;
   int32_t count = 0;

   void begin() { count += depth++ == 1; }
   void beginObject(size_t) {
      if (depth == 0) throw SqlError(sqlstate::invalidParameterValue, "cannot get array length of a non-array");
      begin();
   }
   void endObject(size_t) { --depth; }
   void beginArray(size_t) { begin(); }
   void endArray(size_t) { --depth; }
   void key(std::string_view) {}
   void scalar(json::Token, std::string_view, size_t, size_t) {
      if (depth == 0) throw SqlError(sqlstate::invalidParameterValue, "cannot get array length of a scalar");
      count += depth == 1;
   }
};

int32_t arrayLength(const StringView& text) {
   ElementCounter counter;
   json::parse(text.view(), counter);
   return counter.count;
}

} // namespace

void registerJsonAccess() {
   addKernel<field<false>>("json_object_field");
   addKernel<field<true>>("json_object_field_text");
   addKernel<element<false>>("json_array_element");
   addKernel<element<true>>("json_array_element_text");
   addKernel<atPath<false>>("json_extract_path");
   addKernel<atPath<true>>("json_extract_path_text");
   addKernel<typeOf>("json_typeof");
   addKernel<arrayLength>("json_array_length");
}

} // namespace ouzel::executor
