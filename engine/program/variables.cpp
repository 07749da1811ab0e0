#include "engine/program/variables.hpp"

#include <algorithm>

#include "common/type/row.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::engine {

using namespace sql::program;

const RecordValue::Field* RecordValue::find(std::string_view name) const {
   for (const Field& field : fields)
      if (field.name == name) return &field;
   return nullptr;
}
RecordValue::Field* RecordValue::find(std::string_view name) {
   return const_cast<Field*>(std::as_const(*this).find(name));
}

Variables::Variables(SessionCore& core, const Program& program)
   : core_(core), program_(program), scalars_(program.variables.size()), records_(program.variables.size()) {
   for (VariableId id = 0; id < program.variables.size(); ++id)
      clear(id);
}

void Variables::enter(NameId scope) {
   scope_ = scope;
   if (conflictVersion_ == core_.settings.version()) return;
   conflictVersion_ = core_.settings.version();
   const std::string& usual = core_.settings.valueOf("plpgsql.variable_conflict");
   const VariableConflict kind = program_.variableConflict ? *program_.variableConflict
                                 : usual == "use_column"   ? VariableConflict::UseColumn
                                 : usual == "use_variable" ? VariableConflict::UseVariable
                                                           : VariableConflict::Error;
   conflict = kind == VariableConflict::UseColumn     ? Conflict::UseColumn
              : kind == VariableConflict::UseVariable ? Conflict::UseVariable
                                                      : Conflict::Error;
}

bool Variables::has(const ParameterSource& source) const {
   if (source.field == ParameterSource::noField) return scalars_[source.variable].type == source.type;
   const RecordValue& record = records_[source.variable];
   if (source.field >= ParameterSource::unassigned)
      return record.isAssigned == (source.field == ParameterSource::assigned) && record.rowType == source.type.oid;
   return record.fields.size() == source.fieldCount && record.fields[source.field].name == source.fieldName &&
          record.fields[source.field].value.type == source.type;
}

bool Variables::isRecord(VariableId id) const {
   return program_.variables[id].kind == VariableKind::Record;
}

std::optional<SqlType> Variables::typeOf(VariableId id) const {
   const Variable& variable = program_.variables[id];
   if (variable.isHidden) return std::nullopt;
   if (variable.kind == VariableKind::Scalar) return variable.type.type;
   if (variable.kind == VariableKind::Record) return std::nullopt;
   const RecordValue::Field* field = records_[variable.record].find(variable.name);
   if (!field)
      throw SqlError(sqlstate::undefinedColumn, "record \"" + program_.variables[variable.record].name +
                                                    "\" has no field \"" + variable.name + "\"");
   return field->value.type;
}

std::vector<RecordValue::Field> Variables::fieldsOf(VariableId id) const {
   std::vector<RecordValue::Field> fields;
   const Oid type = program_.variables[id].type.type.oid;
   const auto relation = type == oid::record ? nullptr : core_.transaction.catalog().relationOfType(type);
   if (!relation) return fields;
   for (const catalog::Column& column : relation->columns)
      if (!column.isDropped)
         fields.push_back({column.name, {column.type, Value::null(rowFieldPhysical(column.type.oid))}});
   return fields;
}

void Variables::clear(VariableId id) {
   if (isRecord(id)) {
      records_[id].fields = fieldsOf(id);
      records_[id].isAssigned = !records_[id].fields.empty();
      records_[id].rowType = invalidOid;
      return;
   }
   const SqlType& type = program_.variables[id].type.type;
   scalars_[id] = {type, Value::null(rowFieldPhysical(type.oid))};
}

void Variables::set(VariableId id, TypedValue value) {
   const Variable& variable = program_.variables[id];
   if (variable.isNotNull && value.value.isNull)
      throw SqlError(sqlstate::nullValueNotAllowed,
                     "null value cannot be assigned to variable \"" + variable.name + "\" declared NOT NULL");
   if (variable.kind == VariableKind::Field) {
      RecordValue& record = records_[variable.record];
      if (RecordValue::Field* field = record.find(variable.name)) field->value = std::move(value);
      return;
   }
   scalars_[id] = std::move(value);
}

void Variables::setRecord(VariableId id, RecordValue value) {
   value.isAssigned = true;
   std::vector<RecordValue::Field> fields = fieldsOf(id);
   if (!fields.empty()) { // a named row type keeps its names
      for (size_t i = 0; i < fields.size(); ++i)
         if (i < value.fields.size()) fields[i].value = std::move(value.fields[i].value);
      value.fields = std::move(fields);
      value.rowType = invalidOid; // the variable says it
   }
   records_[id] = std::move(value);
}

void Variables::setNoRecord(VariableId id, std::vector<RecordValue::Field> fields, Oid rowType) {
   for (RecordValue::Field& field : fields)
      field.value.value = Value::null(rowFieldPhysical(field.value.type.oid));
   records_[id] = {.isAssigned = false, .fields = std::move(fields), .rowType = rowType};
}

/// The value, or the Parameter that stands for it.
sql::ExprPtr Variables::expressionOf(VariableId id, uint32_t field, const TypedValue& value) const {
   SqlType type = value.type;
   if (type.oid == oid::numeric) type.typmod = -1; // the value is a Decimal
   if (!sources_) return sql::makeConstant(type, value.value);
   ParameterSource source{id, field, value.type};
   if (field != ParameterSource::noField) {
      source.fieldCount = static_cast<uint32_t>(records_[id].fields.size());
      source.fieldName = records_[id].fields[field].name;
   }
   const auto known = std::find_if(sources_->begin(), sources_->end(), [&](const ParameterSource& one) {
      return one.variable == id && one.field == field;
   });
   const auto number = static_cast<uint32_t>(known - sources_->begin());
   if (known == sources_->end()) sources_->push_back(std::move(source));
   auto parameter = sql::makeTyped(sql::ExprKind::Parameter, type);
   parameter->as<sql::scalar::Parameter>().number = number;
   return parameter;
}

sql::ExprPtr Variables::valueOf(VariableId id) const {
   const Variable& variable = program_.variables[id];
   if (variable.kind == VariableKind::Scalar) return expressionOf(id, ParameterSource::noField, scalars_[id]);
   if (variable.kind == VariableKind::Field) {
      const RecordValue& record = records_[variable.record];
      const RecordValue::Field* field = record.find(variable.name);
      return field ? expressionOf(variable.record, static_cast<uint32_t>(field - record.fields.data()), field->value)
                   : nullptr;
   }
   const RecordValue& record = records_[id];
   if (sources_)
      sources_->push_back({id, record.isAssigned ? ParameterSource::assigned : ParameterSource::unassigned,
                           SqlType{record.rowType, -1, invalidOid}});
   const Oid declared = variable.type.type.oid;
   const Oid named = declared >= firstUserOid ? declared : record.rowType;
   const SqlType type = sql::plainType(named != invalidOid ? named : Oid{oid::record});
   if (!record.isAssigned) return sql::makeNull(type);
   auto row = sql::makeTyped(sql::ExprKind::Row, type);
   for (uint32_t i = 0; i < record.fields.size(); ++i) {
      row->args.push_back(expressionOf(id, i, record.fields[i].value));
      row->as<sql::scalar::Row>().names.push_back(record.fields[i].name);
   }
   return row;
}

sql::FoundVariable Variables::find(std::span<const std::string> names) const {
   if (names.empty()) return {};
   const auto part = [&](size_t i) { return i < names.size() ? std::string_view(names[i]) : std::string_view(); };
   const FoundName found = program_.names.find(scope_, part(0), part(1), part(2));
   if (!found.name) return {};
   const VariableId id = found.name->variable;
   if (isRecord(id) && found.parts < names.size()) {
      if (!records_[id].isAssigned && records_[id].fields.empty())
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "record \"" + program_.variables[id].name + "\" is not assigned yet")
             .detail("The tuple structure of a not-yet-assigned record is indeterminate.");
      const RecordValue::Field* field = records_[id].find(names[found.parts]);
      if (!field)
         throw SqlError(sqlstate::undefinedColumn,
                        "record \"" + program_.variables[id].name + "\" has no field \"" + names[found.parts] + "\"");
      return {expressionOf(id, static_cast<uint32_t>(field - records_[id].fields.data()), field->value),
              found.parts + 1};
   }
   return {valueOf(id), found.parts};
}

sql::ExprPtr Variables::positional(uint32_t number) const {
   if (number == 0 || number > program_.inputs.size()) return nullptr;
   return valueOf(program_.inputs[number - 1]);
}

} // namespace ouzel::engine
