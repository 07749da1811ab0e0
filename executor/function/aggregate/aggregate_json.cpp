#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"
#include "executor/function/json/json_value.hpp"

// json_agg, jsonb_agg, json_object_agg, jsonb_object_agg. The state is the text so far, or the jsonb values one after
// the other.

namespace ouzel::executor {

namespace {

SqlValue argument(const AggregateInput& input, size_t arg, uint32_t row) {
   return valueAt(input.context, input.argTypes[arg], {input.args[arg].type, 0}, input.args[arg], row);
}

void requireKey(const AggregateInput& input, uint32_t row) {
   if (input.args[0].isNull(row)) throw SqlError(sqlstate::invalidParameterValue, "field name must not be null");
}

struct TextState {
   Pieces text;

   void append(std::string_view part, Arena& arena) {
      if (text.size() + part.size() > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "out of memory").detail("The JSON text exceeds 1 GB.");
      text.append(part, arena);
   }
   void appendArgument(const AggregateInput& input, size_t arg, uint32_t row) {
      if (input.args[arg].isNull(row)) return append("null", input.arena);
      std::string part;
      appendJson(part, argument(input, arg, row));
      append(part, input.arena);
   }
   void finish(std::string_view end, uint32_t row, ResultVector& result) const {
      if (text.size() == 0) return result.setNull(row);
      const size_t size = text.size() + end.size();
      char* bytes = static_cast<char*>(result.strings().allocate(size, 1));
      text.copyTo(bytes);
      std::memcpy(bytes + text.size(), end.data(), end.size());
      result.values<StringView>()[row] = StringView(bytes, static_cast<uint32_t>(size));
   }
};

struct JsonAgg {
   using State = TextState;
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      if (s.text.size() == 0)
         s.append("[", input.arena);
      else
         s.append(!input.args[0].isNull(row) && isComposite(input.argTypes[0].oid) ? ", \n " : ", ", input.arena);
      s.appendArgument(input, 0, row);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) { s.finish("]", row, result); }
};

struct JsonObjectAgg {
   using State = TextState;
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      requireKey(input, row);
      s.append(s.text.size() == 0 ? "{ " : ", ", input.arena);
      std::string key;
      json::appendQuoted(key, keyText(argument(input, 0, row)));
      s.append(key, input.arena);
      s.append(" : ", input.arena);
      s.appendArgument(input, 1, row);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) { s.finish(" }", row, result); }
};

/// Values of jsonb, each preceded by its size.
struct ValuesState {
   Pieces values;
   uint64_t count = 0;

   void append(std::string_view bytes, Arena& arena) {
      const auto size = static_cast<uint32_t>(bytes.size());
      char* target = values.extend(sizeof size + size, arena);
      std::memcpy(target, &size, sizeof size);
      std::memcpy(target + sizeof size, bytes.data(), size);
      ++count;
   }
   void appendArgument(const AggregateInput& input, size_t arg, uint32_t row) {
      json::JsonbWriter writer;
      if (input.args[arg].isNull(row))
         writer.null();
      else if (input.argTypes[arg].oid == oid::jsonb)
         return append(input.args[arg].value<StringView>(row).view(), input.arena);
      else
         writeJsonb(writer, argument(input, arg, row));
      append(writer.finish(), input.arena);
   }
   /// Calls part(bytes) for each value.
   template <typename Part>
   void forEach(Part&& part) const {
      values.forEach([&](std::string_view piece) {
         while (!piece.empty()) {
            uint32_t size;
            std::memcpy(&size, piece.data(), sizeof size);
            part(piece.substr(sizeof size, size));
            piece.remove_prefix(sizeof size + size);
         }
      });
   }
};

struct JsonbAgg {
   using State = ValuesState;
   static void add(State& s, const AggregateInput& input, uint32_t row) { s.appendArgument(input, 0, row); }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      json::JsonbWriter writer;
      const json::JsonbWriter::Use use(writer, result.strings().reservation());
      writer.beginArray();
      s.forEach([&](std::string_view value) { writer.value(json::JsonbView(value)); });
      writer.endArray();
      result.values<StringView>()[row] = json::finishInto(writer, result.strings());
   }
};

struct JsonbObjectAgg {
   using State = ValuesState;
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      requireKey(input, row);
      s.append(keyText(argument(input, 0, row)), input.arena);
      s.appendArgument(input, 1, row);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      json::JsonbWriter writer;
      const json::JsonbWriter::Use use(writer, result.strings().reservation());
      writer.beginObject();
      bool isKey = true;
      s.forEach([&](std::string_view part) {
         if (isKey)
            writer.key(part);
         else
            writer.value(json::JsonbView(part));
         isKey = !isKey;
      });
      writer.endObject();
      result.values<StringView>()[row] = json::finishInto(writer, result.strings());
   }
};

} // namespace

const AggregateKernel* findJsonAggregate(const AggregateRequest& request) {
   if (request.name == "json_agg") return orderedKernel<JsonAgg>;
   if (request.name == "jsonb_agg") return orderedKernel<JsonbAgg>;
   if (request.name == "json_object_agg") return orderedKernel<JsonObjectAgg>;
   if (request.name == "jsonb_object_agg") return orderedKernel<JsonbObjectAgg>;
   return nullptr;
}

} // namespace ouzel::executor
