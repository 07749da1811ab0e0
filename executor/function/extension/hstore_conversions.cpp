#include "common/json/json_input.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/type/row.hpp"
#include "common/type/row_text.hpp"
#include "common/type/text_codec.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/extension/hstore_parts.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/hstore_json.hpp"
#include "executor/function/value_text.hpp"

// The extension hstore: maps out of texts, arrays and rows, and arrays, rows and JSON out of maps.

namespace ouzel::executor {

namespace {

[[noreturn]] void refuseBounds(const char* problem) {
   throw SqlError(sqlstate::arraySubscriptError, problem);
}

/// The text must outlive the view.
std::optional<std::string_view> viewOf(const std::optional<std::string>& text) {
   if (!text) return std::nullopt;
   return *text;
}

HstorePair pairOf(const std::optional<std::string>& key, std::optional<std::string_view> value) {
   if (!key) throw SqlError(sqlstate::nullValueNotAllowed, "null value not allowed for hstore key");
   return {*key, value};
}

// ---- maps out of texts and arrays ----

std::optional<StringView> ofTexts(std::optional<StringView> key, std::optional<StringView> value, KernelEnv& env) {
   if (!key) return std::nullopt;
   HstorePair pair{key->view(), {}};
   if (value) pair.value = value->view();
   return env.copy(storeHstore({pair}));
}

/// Keys and values in turns, or in two columns.
StringView ofArray(const StringView& array, KernelEnv& env) {
   const TextElements elements(array);
   const auto& dimensions = elements.dimensions;
   if (dimensions.size() > 2) refuseBounds("wrong number of array subscripts");
   if (dimensions.size() == 2 && dimensions[1].length != 2) refuseBounds("array must have two columns");
   if (elements.texts.size() % 2 != 0) refuseBounds("array must have even number of elements");
   requireHstoreSize(static_cast<int64_t>(elements.texts.size() / 2));
   std::vector<HstorePair> pairs;
   for (size_t i = 0; i < elements.texts.size(); i += 2)
      pairs.push_back(pairOf(elements.texts[i], viewOf(elements.texts[i + 1])));
   return env.copy(makeHstore(std::move(pairs)));
}

/// NULL for the values: all are NULL.
std::optional<StringView> ofArrays(std::optional<StringView> keyArray, std::optional<StringView> valueArray,
                                   KernelEnv& env) {
   if (!keyArray) return std::nullopt;
   const TextElements keys(*keyArray);
   if (keys.dimensions.size() > 1) refuseBounds("wrong number of array subscripts");
   requireHstoreSize(static_cast<int64_t>(keys.texts.size()));
   std::optional<TextElements> values;
   if (valueArray) values.emplace(*valueArray);
   if (values && values->dimensions.size() > 1) refuseBounds("wrong number of array subscripts");
   if (values && values->dimensions != keys.dimensions) refuseBounds("arrays must have same bounds");
   std::vector<HstorePair> pairs;
   for (size_t i = 0; i < keys.texts.size(); ++i)
      pairs.push_back(pairOf(keys.texts[i], values ? viewOf(values->texts[i]) : std::nullopt));
   return env.copy(makeHstore(std::move(pairs)));
}

// ---- arrays out of maps ----

/// Keys and values in turns. `hasColumns`: in two columns.
StringView flattened(const StringView& bytes, KernelEnv& env, bool hasColumns) {
   const HstoreView map = mapOf(bytes);
   ArrayBuilder array(env.strings, oid::text);
   for (uint32_t i = 0; i < map.size(); ++i) {
      array.addText(map.key(i));
      const auto value = map.value(i);
      value ? array.addText(*value) : array.addNull();
   }
   if (!hasColumns || map.size() == 0) return array.finish();
   const ArrayDimension dimensions[] = {{static_cast<int32_t>(map.size()), 1}, {2, 1}};
   return array.finish(dimensions);
}
StringView toArray(const StringView& map, KernelEnv& env) {
   return flattened(map, env, false);
}
StringView toMatrix(const StringView& map, KernelEnv& env) {
   return flattened(map, env, true);
}

// ---- JSON out of maps ----

StringView toJson(const StringView& map, KernelEnv& env, bool isLoose) {
   std::string out;
   appendHstoreJson(out, mapOf(map), isLoose);
   return env.copy(out);
}
StringView toStrictJson(const StringView& map, KernelEnv& env) {
   return toJson(map, env, false);
}
StringView toLooseJson(const StringView& map, KernelEnv& env) {
   return toJson(map, env, true);
}

template <bool isLoose>
void toJsonb(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   json::JsonbWriter writer;
   const json::JsonbWriter::Use use(writer, result.strings().reservation());
   forEachRow(call.rows, [&](uint32_t row) {
      writeHstoreJson(writer, mapOf(call.args[0].value<StringView>(row)), isLoose);
      out[row] = json::finishInto(writer, result.strings());
   });
}

// ---- maps out of rows, and rows out of maps ----

[[noreturn]] void refuseRecord() {
   throw SqlError(sqlstate::wrongObjectType, "record type has not been registered");
}

/// The columns of a record, as its value tells them.
RowFields columnsOfRecord(const RowView& row) {
   auto columns = std::make_shared<std::vector<RowField>>();
   for (RowView::Cursor field(row); field.next();)
      columns->push_back({row.hasNames() ? std::string(field->name) : "f" + std::to_string(field.index() + 1),
                          {field->type, -1, invalidOid},
                          false});
   return columns;
}

/// The columns of a row, or of its type where there is no row.
RowFields columnsOf(const FunctionContext& context, Oid type, const std::optional<StringView>& bytes) {
   if (bytes) type = RowView(bytes->view()).type();
   if (type != oid::record) return rowFields(type, sessionFormat(context));
   if (!bytes) refuseRecord();
   return columnsOfRecord(RowView(bytes->view()));
}

std::vector<Value> valuesOf(const std::optional<StringView>& bytes, size_t count) {
   std::vector<Value> values;
   if (bytes) {
      const RowView row(bytes->view());
      for (RowView::Cursor field(row); field.next();)
         values.push_back(valueOfField(*field));
   }
   values.resize(count);
   return values;
}

std::optional<StringView> rowAt(const Vector& rows, uint32_t row) {
   return rows.isNull(row) ? std::nullopt : std::optional(rows.value<StringView>(row));
}

/// The map of the columns' names and the texts of their values.
void ofRow(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto bytes = rowAt(call.args[0], row);
      const RowFields columns = columnsOf(call.context, call.argTypes[0].oid, bytes);
      const std::vector<Value> values = valuesOf(bytes, columns->size());
      std::vector<std::optional<std::string>> texts(columns->size());
      std::vector<HstorePair> pairs;
      for (size_t i = 0; i < columns->size(); ++i) {
         const RowField& column = (*columns)[i];
         if (column.isDropped) continue;
         if (!values[i].isNull) {
            alignas(16) std::byte place[16];
            values[i].store(place);
            appendValueText(texts[i].emplace(), call.context, {column.type.oid, -1, column.type.collation},
                            {values[i].type, 0}, place);
         }
         pairs.push_back({column.name, viewOf(texts[i])});
      }
      out[row] = result.strings().copyString(makeHstore(std::move(pairs)));
   });
}

/// populate_record(row, map): the row with the values of the map, by the names of the columns.
void populate(const KernelCall& call, ResultVector& result) {
   const Oid type = call.resultType.oid;
   if (!isRowValue(type)) throw SqlError(sqlstate::datatypeMismatch, "first argument must be a rowtype");
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto base = rowAt(call.args[0], row);
      if (call.args[1].isNull(row)) {
         if (base)
            out[row] = result.strings().copyString(base->view());
         else
            result.setNull(row);
         return;
      }
      const HstoreView map = mapOf(call.args[1].value<StringView>(row));
      const RowFields columns = columnsOf(call.context, type, base);
      std::vector<Value> values = valuesOf(base, columns->size());
      for (size_t i = 0; i < columns->size(); ++i) {
         const RowField& column = (*columns)[i];
         const auto found = column.isDropped ? std::nullopt : map.find(column.name);
         if (values[i].isNull || column.isDropped) values[i] = Value::null(rowFieldPhysical(column.type.oid));
         if (column.isDropped || (!found && base)) continue;
         const auto text = found ? map.value(*found) : std::nullopt;
         values[i] = text ? parsePart(column.type, *text, sessionFormat(call.context))
                          : Value::null(rowFieldPhysical(column.type.oid));
         checkDomain(column.type, values[i], sessionFormat(call.context).types);
      }
      out[row] = result.strings().copyString(makeRow(base ? RowView(base->view()).type() : type, *columns, values));
   });
}

} // namespace

void registerHstoreConversions() {
   addKernel<ofTexts>("hstore/hstore_from_text");
   addKernel<ofArray>("hstore/hstore_from_array");
   addKernel<ofArrays>("hstore/hstore_from_arrays");
   addKernel<toArray>("hstore/hstore_to_array");
   addKernel<toMatrix>("hstore/hstore_to_matrix");
   addKernel<toStrictJson>("hstore/hstore_to_json");
   addKernel<toLooseJson>("hstore/hstore_to_json_loose");
   registerKernel("hstore/hstore_to_jsonb", "s", {toJsonb<false>, true, false});
   registerKernel("hstore/hstore_to_jsonb_loose", "s", {toJsonb<true>, true, false});
   registerKernel("hstore/hstore_from_record", anyArguments, {ofRow, false, false});
   registerKernel("hstore/hstore_populate_record", anyArguments, {populate, false, false});
}

} // namespace ouzel::executor
