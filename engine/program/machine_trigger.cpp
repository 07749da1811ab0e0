#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/row.hpp"
#include "engine/core/trigger_call.hpp"
#include "engine/program/machine.hpp"

// What a trigger function finds set.

namespace ouzel::engine {

using namespace sql::program;
namespace bit = catalog::trigger_bit;

namespace {

RecordValue recordOf(const catalog::Relation& table, std::string_view bytes) {
   RecordValue record;
   record.rowType = table.rowType;
   const RowView row(bytes);
   RowView::Cursor field(row);
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      if (!field.next()) throwInternal("a row of a trigger has too few columns");
      Value value = valueOfField(*field);
      if (column.type.oid == oid::bpchar && column.type.typmod >= 0) // rows have the blanks, values have none
         value.bytes.resize(trimTrailingBlanks(value.bytes).size());
      record.fields.push_back({column.name, {column.type, std::move(value)}});
   }
   return record;
}

std::vector<RecordValue::Field> fieldsOf(const catalog::Relation& table) {
   std::vector<RecordValue::Field> fields;
   for (const catalog::Column& column : table.columns)
      if (!column.isDropped) fields.push_back({column.name, {column.type}});
   return fields;
}

const char* operationOf(uint32_t event) {
   switch (event) {
   case bit::insert: return "INSERT";
   case bit::update: return "UPDATE";
   case bit::del: return "DELETE";
   default: return "TRUNCATE";
   }
}

Value argumentsOf(const catalog::Trigger& trigger) {
   std::vector<Value> elements;
   for (const std::string& argument : trigger.arguments)
      elements.push_back(Value::string(argument));
   return Value::string(makeArray(oid::text, elements, 0));
}

} // namespace

void Machine::setTrigger(const TriggerCall& call) {
   const auto set = [&](VariableId id, std::optional<std::string_view> row) {
      if (row)
         variables_.setRecord(id, recordOf(call.table, *row));
      else
         variables_.setNoRecord(id, fieldsOf(call.table), call.table.rowType);
   };
   set(program_.newRow, call.newRow);
   set(program_.oldRow, call.oldRow);
   setTriggerVariables(core_, program_, call, variables_);
}

void Machine::setEvent(std::string_view event, std::string_view tag) {
   for (VariableId id = 0; id < program_.variables.size(); ++id) {
      const Variable& variable = program_.variables[id];
      const auto set = [&](std::string_view text) {
         variables_.set(id, {variable.type.type, Value::string(std::string(text))});
      };
      if (variable.promise == Promise::EventName) set(event);
      if (variable.promise == Promise::EventTag) set(tag);
   }
}

void setTriggerVariables(SessionCore& core, const Program& program, const TriggerCall& call, Variables& variables) {
   const catalog::Trigger& trigger = call.trigger;
   const auto schema = core.transaction.catalog().schema(call.table.schema);
   for (VariableId id = 0; id < program.variables.size(); ++id) {
      const Variable& variable = program.variables[id];
      const auto set = [&](Value value) { variables.set(id, {variable.type.type, std::move(value)}); };
      switch (variable.promise) {
      case Promise::TriggerName: set(Value::string(trigger.name)); break;
      case Promise::TriggerWhen:
         set(Value::string(trigger.has(bit::before) ? "BEFORE" : trigger.has(bit::insteadOf) ? "INSTEAD OF" : "AFTER"));
         break;
      case Promise::TriggerLevel: set(Value::string(trigger.has(bit::row) ? "ROW" : "STATEMENT")); break;
      case Promise::TriggerOperation: set(Value::string(operationOf(call.event))); break;
      case Promise::TriggerRelation: set(Value::integer(PhysicalType::I64, call.table.oid)); break;
      case Promise::TriggerTableName: set(Value::string(call.table.name)); break;
      case Promise::TriggerTableSchema: set(Value::string(schema ? schema->name : std::string())); break;
      case Promise::TriggerArgumentCount:
         set(Value::integer(PhysicalType::I32, static_cast<int64_t>(trigger.arguments.size())));
         break;
      case Promise::TriggerArguments:
         if (!trigger.arguments.empty()) set(argumentsOf(trigger));
         break;
      case Promise::None:
      case Promise::EventName:
      case Promise::EventTag: break;
      }
   }
}

} // namespace ouzel::engine
