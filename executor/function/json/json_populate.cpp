#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "common/type/blanks.hpp"
#include "common/type/row.hpp"
#include "common/type/row_text.hpp"
#include "executor/function/families.hpp"
#include "executor/function/json/json_record.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"

// json_populate_record: rows of a type, made of the members of objects.

namespace ouzel::executor {

namespace {

/// The columns of a record, as its value tells them.
RowFields columnsOfRecord(const RowView& row) {
   auto columns = std::make_shared<std::vector<RowField>>();
   for (RowView::Cursor field(row); field.next();)
      columns->push_back({row.hasNames() ? std::string(field->name) : "f" + std::to_string(field.index() + 1),
                          {field->type, -1, invalidOid},
                          false});
   return columns;
}

std::vector<Value> valuesOf(const RowView& row) {
   std::vector<Value> values;
   for (RowView::Cursor field(row); field.next();)
      values.push_back(field->isNull ? Value::null(field->physical)
                                     : Value::fromVector(Vector::flat(field->physical, field->value, nullptr), 0));
   return values;
}

/// A member that is no JSON null as the value of a column.
Value convert(const FunctionContext& context, const SqlType& type, const JsonField& member, const Value& before) {
   if (isRowValue(type.oid) && !member.isString()) {
      const auto base = before.isNull ? std::optional<std::string_view>() : std::string_view(before.bytes);
      return Value::string(populateRow(context, type.oid, base, member));
   }
   const PhysicalType physical = rowFieldPhysical(type.oid);
   alignas(16) std::byte place[16] = {};
   Arena strings;
   putField(place, context, type, {physical, 0}, member, strings);
   Value value = Value::fromVector(Vector::flat(physical, place, nullptr), 0);
   if (type.oid != oid::bpchar) return value;
   std::string padded; // a row has the blanks of character(n)
   appendWithBlanks(padded, value.bytes, type.typmod);
   return Value::string(std::move(padded));
}

/// json_populate_record(base, json)
void populate(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const bool isJsonb = call.argTypes[1].oid == oid::jsonb;
   forEachRow(call.rows, [&](uint32_t row) {
      std::optional<std::string_view> base;
      if (!call.args[0].isNull(row)) base = call.args[0].value<StringView>(row).view();
      if (!base && call.resultType.oid == oid::record)
         refuseRecord(isJsonb ? "jsonb_populate_record" : "json_populate_record");
      if (call.args[1].isNull(row)) {
         if (base)
            out[row] = result.strings().copyString(*base);
         else
            result.setNull(row);
         return;
      }
      const JsonField object{isJsonb, call.args[1].value<StringView>(row).view(), {}};
      out[row] = result.strings().copyString(populateRow(call.context, call.resultType.oid, base, object));
   });
}

} // namespace

void refuseRecord(const std::string& function) {
   throw SqlError(sqlstate::featureNotSupported, "could not determine row type for result of " + function)
       .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition "
             "list.");
}

void registerJsonPopulate() {
   for (const char* name : {"json_populate_record", "jsonb_populate_record"})
      registerKernel(name, anyArguments, {populate, false, false});
}

std::string populateRow(const FunctionContext& context, Oid type, std::optional<std::string_view> base,
                        const JsonField& object) {
   checkStack();
   if (type == oid::record && !base) throwInternal("a record without fields to fill");
   const RowFields columns =
       type == oid::record ? columnsOfRecord(RowView(*base)) : rowFields(type, sessionFormat(context));
   std::vector<Value> values = base ? valuesOf(RowView(*base)) : std::vector<Value>();
   if (values.size() > columns->size()) throwInternal("malformed row value");
   values.resize(columns->size());
   std::vector<std::string> keys;
   for (const RowField& column : *columns)
      keys.push_back(column.name);
   const auto members = fieldsOf(object.bytes, object.isJsonb, keys, "cannot call populate_composite on a scalar",
                                 "cannot call populate_composite on an array");
   for (size_t i = 0; i < columns->size(); ++i) {
      const RowField& column = (*columns)[i];
      if (column.isDropped || values[i].isNull || (members[i] && members[i]->isNull()))
         values[i] = Value::null(rowFieldPhysical(column.type.oid));
      if (column.isDropped) continue;
      if (members[i] && !members[i]->isNull()) values[i] = convert(context, column.type, *members[i], values[i]);
      checkDomain(column.type, values[i], sessionFormat(context).types);
   }
   return makeRow(type, *columns, values);
}

} // namespace ouzel::executor
