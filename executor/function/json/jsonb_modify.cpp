#include <algorithm>

#include "common/json/json_input.hpp"
#include "common/json/json_parser.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/json/jsonb_edit.hpp"
#include "executor/function/json/jsonb_path.hpp"

// Changed jsonb values: || - #- jsonb_set jsonb_set_lax jsonb_insert jsonb_strip_nulls json_strip_nulls; jsonb_pretty.

namespace ouzel::executor {

namespace {

using json::JsonbView;
using json::JsonbWriter;
using json::Kind;
using Change = JsonbPathEdit::Change;

/// The value that `describe` tells a writer.
template <typename Describe>
StringView make(KernelEnv& env, Describe&& describe) {
   static thread_local JsonbWriter writer; // the calls for the rows of a batch share its memory
   const JsonbWriter::Use use(writer, env.strings.reservation());
   describe(writer);
   return json::finishInto(writer, env.strings);
}

[[noreturn, gnu::cold]] void throwScalar(const char* message) {
   throw SqlError(sqlstate::invalidParameterValue, message);
}

// ---- || ----

void writeMembers(JsonbWriter& writer, const JsonbView& object) {
   for (uint32_t i = 0; i < object.size(); ++i) {
      writer.key(object.key(i));
      writer.value(object.element(i));
   }
}

/// The elements of an array, or another value as an element.
void writeElements(JsonbWriter& writer, const JsonbView& value) {
   if (value.kind() != Kind::Array) return writer.value(value);
   for (uint32_t i = 0; i < value.size(); ++i)
      writer.value(value.element(i));
}

StringView concat(const StringView& left, const StringView& right, KernelEnv& env) {
   const JsonbView a(left.view()), b(right.view());
   if (a.kind() == b.kind() && !a.isScalar() && (a.size() == 0 || b.size() == 0)) return a.size() == 0 ? right : left;
   return make(env, [&](JsonbWriter& writer) {
      if (a.kind() == Kind::Object && b.kind() == Kind::Object) {
         writer.beginObject();
         writeMembers(writer, a);
         writeMembers(writer, b);
         return writer.endObject();
      }
      writer.beginArray();
      writeElements(writer, a);
      writeElements(writer, b);
      writer.endArray();
   });
}

// ---- - ----

/// Without the members whose keys, or the elements which are strings, that `isUnwanted` tells.
template <typename IsUnwanted>
StringView without(const StringView& value, KernelEnv& env, IsUnwanted&& isUnwanted) {
   const JsonbView view(value.view());
   if (view.isScalar()) throwScalar("cannot delete from scalar");
   if (view.size() == 0) return value;
   return make(env, [&](JsonbWriter& writer) {
      if (view.kind() == Kind::Object) {
         writer.beginObject();
         for (uint32_t i = 0; i < view.size(); ++i) {
            if (isUnwanted(view.key(i))) continue;
            writer.key(view.key(i));
            writer.value(view.element(i));
         }
         return writer.endObject();
      }
      writer.beginArray();
      for (uint32_t i = 0; i < view.size(); ++i) {
         const JsonbView element = view.element(i);
         if (element.kind() != Kind::String || !isUnwanted(element.string())) writer.value(element);
      }
      writer.endArray();
   });
}

StringView deleteKey(const StringView& value, const StringView& key, KernelEnv& env) {
   return without(value, env, [&](std::string_view text) { return text == key.view(); });
}

void requireOneDimension(const ArrayView& array) {
   if (array.dimensionCount() > 1) throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
}

StringView deleteKeys(const StringView& value, const StringView& keys, KernelEnv& env) {
   const ArrayView array(keys.view());
   requireOneDimension(array);
   std::vector<std::string> unwanted;
   for (ArrayView::Cursor key(array); key.next();)
      if (!key.isNull()) unwanted.emplace_back(key.as<StringView>().view());
   return without(value, env, [&](std::string_view text) {
      return std::find(unwanted.begin(), unwanted.end(), text) != unwanted.end();
   });
}

StringView deleteElement(const StringView& value, int32_t index, KernelEnv& env) {
   const JsonbView view(value.view());
   if (view.isScalar()) throwScalar("cannot delete from scalar");
   if (view.kind() == Kind::Object) throwScalar("cannot delete from object using integer index");
   const int64_t place = index < 0 ? int64_t{index} + view.size() : index;
   if (place < 0 || place >= view.size()) return value;
   return make(env, [&](JsonbWriter& writer) {
      writer.beginArray();
      for (uint32_t i = 0; i < view.size(); ++i)
         if (i != place) writer.value(view.element(i));
      writer.endArray();
   });
}

// ---- paths ----

JsonbPathEdit::Path readPath(const StringView& bytes) {
   const ArrayView array(bytes.view());
   requireOneDimension(array);
   JsonbPathEdit::Path path;
   for (ArrayView::Cursor step(array); step.next();) {
      path.emplace_back();
      if (!step.isNull()) path.back() = step.as<StringView>().view();
   }
   return path;
}

StringView edit(const StringView& target, const StringView& path, const JsonbView* value, Change change,
                const char* scalarError, KernelEnv& env) {
   const JsonbPathEdit::Path steps = readPath(path);
   const JsonbView view(target.view());
   if (view.isScalar()) throwScalar(scalarError);
   const bool needsContent = change == Change::Replace || change == Change::Delete;
   if (steps.empty() || (needsContent && view.size() == 0)) return target;
   return make(env, [&](JsonbWriter& writer) { JsonbPathEdit(writer, steps, change, false, value).apply(view); });
}

StringView deletePath(const StringView& target, const StringView& path, KernelEnv& env) {
   return edit(target, path, nullptr, Change::Delete, "cannot delete path in scalar", env);
}

StringView set(const StringView& target, const StringView& path, const StringView& value, bool creates,
               KernelEnv& env) {
   const JsonbView view(value.view());
   return edit(target, path, &view, creates ? Change::ReplaceOrCreate : Change::Replace, "cannot set path in scalar",
               env);
}

StringView insert(const StringView& target, const StringView& path, const StringView& value, bool isAfter,
                  KernelEnv& env) {
   const JsonbView view(value.view());
   return edit(target, path, &view, isAfter ? Change::InsertAfter : Change::InsertBefore, "cannot set path in scalar",
               env);
}

std::string nullBytes() {
   JsonbWriter null;
   null.null();
   return null.finish();
}

std::optional<StringView> setLax(const std::optional<StringView>& target, const std::optional<StringView>& path,
                                 const std::optional<StringView>& value, const std::optional<bool>& creates,
                                 const std::optional<StringView>& treatment, KernelEnv& env) {
   if (!target || !path || !creates) return std::nullopt;
   const std::string_view word = treatment ? treatment->view() : std::string_view();
   const bool isKnown =
       word == "raise_exception" || word == "use_json_null" || word == "delete_key" || word == "return_target";
   if (!isKnown)
      throw SqlError(sqlstate::invalidParameterValue, "null_value_treatment must be \"delete_key\", \"return_target\", "
                                                      "\"use_json_null\", or \"raise_exception\"");
   if (value) return set(*target, *path, *value, *creates, env);
   if (word == "raise_exception")
      throw SqlError(sqlstate::nullValueNotAllowed, "JSON value must not be null")
          .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
          .hint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.");
   if (word == "return_target") return target;
   if (word == "delete_key") return deletePath(*target, *path, env);
   const std::string bytes = nullBytes();
   return set(*target, *path, StringView(bytes), *creates, env);
}

// ---- subscripts ----

/// ouzel_jsonb_assign(target, value, subscripts, startsInArray): target[subscripts] = value. NULL for the value is a
/// JSON null; for the target, an array or object without content.
std::optional<StringView> assign(const std::optional<StringView>& target, const std::optional<StringView>& value,
                                 const std::optional<StringView>& subscripts, const std::optional<bool>& startsInArray,
                                 KernelEnv& env) {
   const JsonbPathEdit::Path path = readPath(subscripts.value());
   if (std::find(path.begin(), path.end(), std::nullopt) != path.end())
      throw SqlError(sqlstate::nullValueNotAllowed, "jsonb subscript in assignment must not be null");
   std::string empty, null;
   if (!target) {
      JsonbWriter container;
      startsInArray.value() ? container.beginArray() : container.beginObject();
      startsInArray.value() ? container.endArray() : container.endObject();
      empty = container.finish();
   }
   if (!value) null = nullBytes();
   const JsonbView view(target ? target->view() : empty), part(value ? value->view() : null);
   return make(env, [&](JsonbWriter& writer) {
      JsonbPathEdit(writer, path, Change::ReplaceOrCreate, true, &part).apply(view);
   });
}

// ---- without nulls ----

void writeStripped(JsonbWriter& writer, const JsonbView& value) {
   if (value.isScalar()) return writer.value(value);
   checkStack();
   const bool isObject = value.kind() == Kind::Object;
   isObject ? writer.beginObject() : writer.beginArray();
   for (uint32_t i = 0; i < value.size(); ++i) {
      const JsonbView element = value.element(i);
      if (isObject && element.kind() == Kind::Null) continue;
      if (isObject) writer.key(value.key(i));
      writeStripped(writer, element);
   }
   isObject ? writer.endObject() : writer.endArray();
}

StringView stripNulls(const StringView& value, KernelEnv& env) {
   return make(env, [&](JsonbWriter& writer) { writeStripped(writer, JsonbView(value.view())); });
}

/// Prints the text that it is parsed from, without blanks and the members that are null.
struct NullStripper {
   static constexpr bool decodesStrings = true;
   std::string out;
   std::optional<std::string> pending; ///< the key of the member whose value follows
   bool isFirst = true;

   void value() {
      if (!isFirst) out.push_back(',');
      isFirst = false;
      if (!pending) return;
      json::appendQuoted(out, *pending);
      out.push_back(':');
      pending.reset();
   }
   void begin(char brace) {
      value();
      out.push_back(brace);
      isFirst = true;
   }
   void end(char brace) {
      out.push_back(brace);
      isFirst = false;
   }
   void beginObject(size_t) { begin('{'); }
   void endObject(size_t) { end('}'); }
   void beginArray(size_t) { begin('['); }
   void endArray(size_t) { end(']'); }
   void key(std::string_view text) { pending = text; }
   void scalar(json::Token token, std::string_view text, size_t, size_t) {
      if (token == json::Token::Null && pending) return pending.reset();
      value();
      if (token == json::Token::String)
         json::appendQuoted(out, text);
      else
         out.append(text);
   }
};

StringView stripNullsOfText(const StringView& text, KernelEnv& env) {
   NullStripper stripper;
   json::parse(text.view(), stripper);
   return env.copy(stripper.out);
}

StringView pretty(const StringView& value, KernelEnv& env) {
   std::string text;
   json::appendPretty(text, JsonbView(value.view()));
   return env.copy(text);
}

} // namespace

void registerJsonbModify() {
   addKernel<concat>("jsonb_concat");
   addKernel<deleteKey>("jsonb_delete");
   addKernel<deleteKeys>("jsonb_delete_array");
   addKernel<deleteElement>("jsonb_delete_idx");
   addKernel<deletePath>("jsonb_delete_path");
   addKernel<set>("jsonb_set");
   addKernel<setLax>("jsonb_set_lax");
   addKernel<insert>("jsonb_insert");
   addKernel<assign>("ouzel_jsonb_assign");
   addKernel<stripNulls>("jsonb_strip_nulls");
   addKernel<stripNullsOfText>("json_strip_nulls");
   addKernel<pretty>("jsonb_pretty");
}

} // namespace ouzel::executor
