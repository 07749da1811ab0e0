#include "engine/core/event_state.hpp"

#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"

namespace ouzel::engine {

namespace {

Value oidValue(Oid oid) {
   return oid == invalidOid ? Value::null(PhysicalType::I64) : Value::integer(PhysicalType::I64, oid);
}

Value textValue(const std::optional<std::string>& text) {
   return text ? Value::string(*text) : Value::null(PhysicalType::String);
}

Value listValue(const std::vector<std::string>& texts) {
   std::vector<Value> elements;
   for (const std::string& text : texts)
      elements.push_back(Value::string(text));
   return Value::string(makeArray(oid::text, elements));
}

[[noreturn]] void refuse(std::string_view function, const std::string& where) {
   throw SqlError(sqlstate::eRIEEventTriggerProtocolViolated,
                  std::string(function) + "() can only be called in " + where + " event trigger function");
}

std::vector<Value> rowOf(const EventState::Changed& object) {
   const bool isObject = object.object != invalidOid;
   return {oidValue(object.classOid),
           oidValue(object.object),
           isObject ? Value::integer(PhysicalType::I32, object.attribute) : Value::null(PhysicalType::I32),
           Value::string(object.tag),
           Value::string(object.type),
           textValue(object.schema),
           textValue(object.identity),
           Value::boolean(false), // of an extension's script
           Value::null(PhysicalType::I64)};
}

std::vector<Value> rowOf(const EventState::Dropped& object) {
   return {oidValue(object.classOid),
           oidValue(object.object),
           Value::integer(PhysicalType::I32, object.attribute),
           Value::boolean(object.isNamed),
           Value::boolean(object.isCascaded),
           Value::boolean(object.isTemporary),
           Value::string(object.type),
           textValue(object.schema),
           textValue(object.name),
           Value::string(object.identity),
           listValue(object.names),
           listValue(object.args)};
}

} // namespace

std::vector<std::vector<Value>> eventRows(const EventState* state, std::string_view function) {
   using enum EventState::Phase;
   std::vector<std::vector<Value>> rows;
   if (function == "pg_event_trigger_ddl_commands") {
      if (!state || state->phase == Rewrite) refuse(function, "an");
      if (state->phase != Start)
         for (const EventState::Changed& object : state->changed)
            rows.push_back(rowOf(object));
   } else {
      if (!state || state->phase != Drop) refuse(function, "a sql_drop");
      for (const EventState::Dropped& object : state->dropped)
         rows.push_back(rowOf(object));
   }
   return rows;
}

int64_t eventNumber(const EventState* state, std::string_view function) {
   if (!state || state->phase != EventState::Phase::Rewrite) refuse(function, "a table_rewrite");
   return function == "pg_event_trigger_table_rewrite_oid" ? int64_t{state->rewritten} : state->rewriteReason;
}

} // namespace ouzel::engine
