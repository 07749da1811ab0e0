#include <algorithm>

#include "common/type/row.hpp"
#include "engine/program/array_element.hpp"
#include "engine/program/machine.hpp"
#include "sql/bind/type/type_rules.hpp"

// Expressions, queries and assignments of a program.

namespace ouzel::engine {

using namespace sql::program;

ProgramQuery Machine::queryOf(const SqlText& text, std::span<const SqlType> types) {
   ProgramQuery query{core_, &variables_, text.scope, {}, types, 0, nullptr};
   query.texts = &texts_;
   query.id = text.id;
   return query;
}

QueryRows Machine::query(const SqlText& text, std::span<const SqlType> types, uint64_t rowsMax,
                         const sql::PartTarget* part) {
   ProgramQuery query = queryOf(text, types);
   query.rowsMax = rowsMax;
   query.part = part;
   if (part) query.id += program_.textCount; // beside the value alone
   if (text.form != SqlForm::Expression) return runText(query, text.text, runCommand_);
   query.context = assignment_ ? QueryContext::Assignment : QueryContext::Expression;
   query.shown = assignment_ ? *assignment_ : text.text;
   return runText(query, "SELECT " + text.text, runCommand_);
}

std::unique_ptr<RowStream> Machine::open(const SqlText& text, std::span<const SqlType> types) {
   return open(queryOf(text, types), text.text);
}

std::unique_ptr<RowStream> Machine::open(const ProgramQuery& query, const std::string& text) {
   auto stream = std::make_unique<RowStream>(query, text, runCommand_);
   stream->setContext("SQL statement \"" + text + "\"");
   return stream;
}

Machine::DynamicText Machine::dynamicText(const SqlText& command, const std::vector<SqlText>& parameters) {
   TypedValue sql = evaluate(command, sql::plainType(oid::text));
   if (sql.value.isNull) throw SqlError(sqlstate::nullValueNotAllowed, "query string argument of EXECUTE is null");
   DynamicText result{std::move(sql.value.bytes), {}};
   for (const SqlText& parameter : parameters) {
      TypedValue value = evaluate(parameter, std::nullopt);
      result.parameters.push_back({value.type, std::move(value.value)});
   }
   return result;
}

std::unique_ptr<RowStream> Machine::openDynamic(const SqlText& command, const std::vector<SqlText>& parameters,
                                                std::span<const SqlType> types) {
   const DynamicText dynamic = dynamicText(command, parameters);
   return open({core_, nullptr, sql::program::noName, dynamic.parameters, types, 0, nullptr}, dynamic.sql);
}

QueryRows Machine::dynamicQuery(const SqlText& command, const std::vector<SqlText>& parameters,
                                std::span<const SqlType> types) {
   const DynamicText dynamic = dynamicText(command, parameters);
   return runText({core_, nullptr, sql::program::noName, dynamic.parameters, types, 0, nullptr}, dynamic.sql,
                  runCommand_);
}

TypedValue Machine::evaluate(const SqlText& text, std::optional<SqlType> type, const sql::PartTarget* part) {
   if (type && !part)
      if (ScalarCode* code = scalarCode(text, *type)) return {*type, code->evaluate(variables_)};
   QueryRows rows = query(text, type ? std::span<const SqlType>(&*type, 1) : std::span<const SqlType>(), 2, part);
   if (rows.columns.size() != 1)
      throw SqlError(sqlstate::syntaxError, "query returned " + std::to_string(rows.columns.size()) + " columns");
   if (rows.rows.size() > 1) throw SqlError(sqlstate::cardinalityViolation, "query returned more than one row");
   const SqlType found = rows.columns[0].second;
   if (rows.rows.empty()) return {found, Value::null(rowFieldPhysical(found.oid))};
   return {found, std::move(rows.rows[0][0])};
}

std::vector<TypedValue> Machine::evaluateRow(const SqlText& text) {
   QueryRows rows = query(text, {}, 2);
   if (rows.rows.size() > 1) throw SqlError(sqlstate::cardinalityViolation, "query returned more than one row");
   std::vector<TypedValue> values;
   for (size_t i = 0; i < rows.columns.size(); ++i) {
      const SqlType& type = rows.columns[i].second;
      values.push_back(
          {type, rows.rows.empty() ? Value::null(rowFieldPhysical(type.oid)) : std::move(rows.rows[0][i])});
   }
   return values;
}

bool Machine::isTrue(const SqlText& condition) {
   static const SqlType boolean = sql::plainType(oid::boolean);
   if (ScalarCode* code = scalarCode(condition, boolean)) {
      const ScalarCode::Register result = code->run(variables_);
      return !result.isNull && result.i64 != 0;
   }
   const TypedValue value = evaluate(condition, boolean);
   return !value.value.isNull && value.value.i64 != 0;
}

int64_t Machine::integer(const SqlText& text, const char* what) {
   const TypedValue value = evaluate(text, sql::plainType(oid::int4));
   if (value.value.isNull) throw SqlError(sqlstate::nullValueNotAllowed, std::string(what) + " cannot be null");
   return value.value.i64;
}

namespace {

/// The fields of a row value.
RecordValue recordOf(const TypedValue& value, const SessionCore& core) {
   RecordValue record;
   if (value.value.isNull) return record;
   record.isAssigned = true;
   const RowView row(value.value.bytes);
   const auto relation = value.type.oid == oid::record
                             ? nullptr
                             : const_cast<SessionCore&>(core).transaction.catalog().relationOfType(value.type.oid);
   if (relation) record.rowType = value.type.oid;
   for (RowView::Cursor field(row); field.next();) {
      const size_t i = field.index();
      if (relation && i < relation->columns.size() && relation->columns[i].isDropped) continue;
      const std::string name = relation && i < relation->columns.size() ? relation->columns[i].name
                               : row.hasNames()                         ? std::string(field->name)
                                                                        : "f" + std::to_string(i + 1);
      record.fields.push_back(
          {name, {SqlType{field->type, -1, sql::plainType(field->type).collation}, valueOfField(*field)}});
   }
   return record;
}

} // namespace

void Machine::assign(VariableId id, const SqlText& text) {
   if (!variables_.isRecord(id)) {
      const Variable& variable = program_.variables[id];
      if (variable.kind == VariableKind::Scalar) {
         if (ScalarCode* code = scalarCode(text, variable.type.type)) {
            const ScalarCode::Register result = code->run(variables_);
            if (!result.isNull) return variables_.setScalar(id, code->physical(), result.i64);
         }
      }
      const auto type = variables_.typeOf(id);
      TypedValue value = evaluate(text, type);
      if (type) value.type = *type;
      return variables_.set(id, std::move(value));
   }
   std::vector<TypedValue> values = evaluateRow(text);
   if (values.size() != 1 || !isRowValue(values[0].type.oid))
      throw SqlError(sqlstate::datatypeMismatch, "cannot assign non-composite value to a record variable");
   if (values[0].value.isNull) return variables_.clear(id);
   variables_.setRecord(id, recordOf(values[0], core_));
}

TypedValue Machine::casted(TypedValue value, const SqlType& type) {
   if (value.type.named() == type.named() && type.typmod < 0 && !type.domain) return value;
   if (value.value.isNull && !type.domain) return {type, Value::null(rowFieldPhysical(type.oid))};
   const BoundParameter parameter{value.type, std::move(value.value)};
   const ProgramQuery cast{.core = core_,
                           .parameters = std::span(&parameter, 1),
                           .types = std::span(&type, 1),
                           .rowsMax = 1,
                           .context = QueryContext::None};
   QueryRows rows = runText(cast, "SELECT $1", runCommand_);
   return {type, std::move(rows.rows.at(0)[0])};
}

void Machine::assignValue(VariableId id, TypedValue value) {
   const auto type = variables_.typeOf(id);
   variables_.set(id, type ? casted(std::move(value), *type) : std::move(value));
}

namespace {

std::string quoted(const std::string& name) {
   return catalog::quoteIdentifier(name);
}

/// The steps behind the variable as SQL: .field[1][2:3]
std::string textOf(std::span<const TargetStep> steps) {
   std::string text;
   for (const TargetStep& step : steps) {
      if (!step.field.empty()) {
         text += "." + quoted(step.field);
         continue;
      }
      text += "[";
      if (step.lower) text += "(" + step.lower->text + "\n)";
      if (step.isSlice) text += ":";
      if (step.upper) text += "(" + step.upper->text + "\n)";
      text += "]";
   }
   return text;
}

} // namespace

void Machine::assignPart(const Assignment& node) {
   if (assignElement(node)) return;
   const Variable& variable = program_.variables[node.target];
   const bool isWhole = variable.kind == VariableKind::Record;
   const VariableId target = variable.kind == VariableKind::Field ? variable.record : node.target;
   uint32_t field = ParameterSource::noField;
   SqlType type;
   if (isWhole || variable.kind == VariableKind::Field) {
      const RecordValue& record = variables_.record(target);
      const std::string& name = program_.variables[target].name;
      if (!record.isAssigned)
         throw SqlError(sqlstate::objectNotInPrerequisiteState, "record \"" + name + "\" is not assigned yet")
             .detail("The tuple structure of a not-yet-assigned record is indeterminate.");
      const std::string& fieldName = isWhole ? node.steps[0].field : variable.name;
      const RecordValue::Field* found = record.find(fieldName);
      if (!found)
         throw SqlError(sqlstate::undefinedColumn, "record \"" + name + "\" has no field \"" + fieldName + "\"");
      field = static_cast<uint32_t>(found - record.fields.data());
      type = found->value.type;
   } else {
      type = variables_.scalar(target).type;
   }
   const std::span<const TargetStep> steps = std::span(node.steps).subspan(isWhole ? 1 : 0);
   TypedValue value;
   if (steps.empty()) {
      value = evaluate(node.value, type);
   } else {
      const sql::PartTarget part{textOf(steps), type, [&] { return variables_.named(target, field); }};
      value = evaluate(node.value, std::nullopt, &part);
   }
   if (field == ParameterSource::noField)
      variables_.set(target, std::move(value));
   else
      variables_.setField(target, field, std::move(value));
}

ScalarCode* Machine::preparedScalar(const SqlText& text, const SqlType& type) {
   if (ScalarCode* code = scalarCode(text, type)) return code;
   try {
      prepareText(queryOf(text, std::span(&type, 1)), "SELECT " + text.text);
   } catch (const SqlError&) { // whoever executes the text finds it again, and says where
      core_.checkInterrupts();
      return nullptr;
   }
   return scalarCode(text, type);
}

bool Machine::assignElement(const Assignment& node) {
   const Variable& variable = program_.variables[node.target];
   if (variable.kind != VariableKind::Scalar || node.steps.size() != 1 || !node.steps[0].upper ||
       node.steps[0].isSlice || !node.steps[0].field.empty())
      return false;
   const SqlType element = sql::plainType(arrayElementType(variable.type.type.oid));
   Value& array = variables_.scalarValue(node.target);
   if (array.isNull || variable.type.type.domain || !ScalarCode::takes(element)) return false;
   static const SqlType integer = sql::plainType(oid::int4);
   ScalarCode* subscript = preparedScalar(*node.steps[0].upper, integer);
   ScalarCode* value = subscript ? preparedScalar(node.value, element) : nullptr;
   if (!value) return false;
   const ScalarCode::Register at = subscript->run(variables_), result = value->run(variables_);
   return !at.isNull && !result.isNull && replaceElement(array.bytes, at.i64, value->physical(), result.i64);
}

Machine::Flow Machine::run(const Assignment& node) {
   assignment_ = &node.text; // an error leaves it
   if (!node.steps.empty())
      assignPart(node);
   else
      assign(node.target, node.value);
   assignment_ = nullptr;
   return Flow::Next;
}

std::vector<SqlType> Machine::typesOf(const Target& target) const {
   std::vector<SqlType> types;
   if (target.isRecord) {
      for (const auto& field : variables_.fieldsOf(target.variables[0]))
         types.push_back(field.value.type);
      return types;
   }
   for (const VariableId id : target.variables)
      if (const auto type = variables_.typeOf(id)) types.push_back(*type);
   return types;
}

void Machine::assignRow(const Target& target, const QueryRows& rows, size_t row) {
   const bool isPresent = row < rows.rows.size();
   const auto valueAt = [&](size_t i) -> TypedValue {
      const SqlType& type = rows.columns[i].second;
      return {type, isPresent ? rows.rows[row][i] : Value::null(rowFieldPhysical(type.oid))};
   };
   if (target.variables.empty()) return;
   if (target.isRecord) {
      const VariableId id = target.variables[0];
      RecordValue record;
      const bool isWhole = rows.columns.size() == 1 && isRowValue(rows.columns[0].second.oid);
      if (isWhole && isPresent && !rows.rows[row][0].isNull) {
         record = recordOf(valueAt(0), core_);
      } else {
         for (size_t i = 0; i < rows.columns.size(); ++i)
            record.fields.push_back({rows.columns[i].first, valueAt(i)});
      }
      return variables_.setRecord(id, std::move(record));
   }
   for (size_t i = 0; i < target.variables.size(); ++i) {
      const auto type = variables_.typeOf(target.variables[i]);
      if (i < rows.columns.size())
         assignValue(target.variables[i], valueAt(i));
      else if (type)
         variables_.set(target.variables[i], {*type, Value::null(rowFieldPhysical(type->oid))});
   }
}

void Machine::assignFields(const Target& target, TypedValue value) {
   QueryRows rows;
   std::vector<Value>& row = rows.rows.emplace_back();
   if (!target.isRecord && isRowValue(value.type.oid) && !value.value.isNull) {
      for (RecordValue::Field& field : recordOf(value, core_).fields) {
         rows.columns.emplace_back(std::move(field.name), field.value.type);
         row.push_back(std::move(field.value.value));
      }
   } else {
      rows.columns.emplace_back("value", value.type);
      row.push_back(std::move(value.value));
   }
   assignRow(target, rows, 0);
}

void Machine::into(const Target& target, const QueryRows& rows, bool isStrict, bool writes) {
   if (!rows.returnsRows) throw SqlError(sqlstate::syntaxError, "INTO used with a command that cannot return data");
   if (rows.rows.empty() && isStrict) throw SqlError(sqlstate::noDataFound, "query returned no rows");
   if (rows.rows.size() > 1 && (isStrict || writes))
      throw SqlError(sqlstate::tooManyRows, "query returned more than one row")
          .hint("Make sure the query returns a single row, or use LIMIT 1.");
   assignRow(target, rows, 0);
}

Machine::Flow Machine::run(const SqlStatement& node) {
   const std::vector<SqlType> types = node.hasInto ? typesOf(node.target) : std::vector<SqlType>();
   const QueryRows rows = query(node.sql, types, !node.hasInto ? 0 : node.isStrict ? 2 : 1);
   if (node.hasInto) {
      into(node.target, rows, node.isStrict, !rows.isSelect);
      setFound(!rows.rows.empty(), rows.rows.empty() ? 0 : 1);
      return Flow::Next;
   }
   if (rows.isSelect)
      throw SqlError(sqlstate::syntaxError, "query has no destination for result data")
          .hint("If you want to discard the results of a SELECT, use PERFORM instead.");
   if (rows.isQuery) setFound(rows.processed > 0, rows.processed);
   return Flow::Next;
}

Machine::Flow Machine::run(const Perform& node) {
   const QueryRows rows = query(node.query);
   setFound(rows.processed > 0, rows.processed);
   return Flow::Next;
}

Machine::Flow Machine::run(const Execute& node) {
   const std::vector<SqlType> types = node.hasInto ? typesOf(node.target) : std::vector<SqlType>();
   const QueryRows rows = dynamicQuery(node.command, node.parameters, types);
   if (node.hasInto) into(node.target, rows, node.isStrict, false);
   if (rows.isQuery) rowCount_ = rows.processed; // FOUND stays
   return Flow::Next;
}

namespace {

[[noreturn]] void throwNoRow() {
   throw SqlError(sqlstate::datatypeMismatch,
                  "cannot return non-composite value from function returning composite type");
}

TypedValue valueOf(const SqlType& type, const RecordValue& record) {
   if (!record.isAssigned) return {type, Value::null(PhysicalType::String)};
   std::vector<RowField> columns;
   std::vector<Value> values;
   for (const RecordValue::Field& field : record.fields) {
      columns.push_back({field.name, field.value.type, false});
      values.push_back(field.value.value);
   }
   return {type, Value::string(makeRow(type.oid, columns, values))};
}

} // namespace

bool Machine::returnsRow() const {
   return program_.kind == ProgramKind::Trigger || program_.returnType.kind == TypeClass::Record ||
          program_.outputs.size() > 1;
}

std::optional<std::vector<TypedValue>> Machine::valuesOf(const Result& result, bool isCast) {
   std::vector<TypedValue> values;
   const auto valuesOfRecord = [](const RecordValue& record) -> std::optional<std::vector<TypedValue>> {
      if (!record.isAssigned) return std::nullopt;
      std::vector<TypedValue> fields;
      for (const RecordValue::Field& field : record.fields)
         fields.push_back(field.value);
      return fields;
   };
   switch (result.kind) {
   case ResultKind::Nothing: break;
   case ResultKind::Expression: {
      if (!returnsRow()) {
         values.push_back(
             evaluate(*result.expression, isCast ? std::optional(program_.returnType.type) : std::nullopt));
         break;
      }
      std::vector<TypedValue> row = evaluateRow(*result.expression);
      if (row.size() == 1 && row[0].value.isNull) return std::nullopt;
      if (row.size() == 1 && isRowValue(row[0].type.oid)) return valuesOfRecord(recordOf(row[0], core_));
      throwNoRow();
   }
   case ResultKind::Variable:
      if (variables_.isRecord(result.variable)) return valuesOfRecord(variables_.record(result.variable));
      if (program_.kind == ProgramKind::Trigger) throwNoRow();
      values.push_back(isCast && !returnsRow() ? casted(variables_.scalar(result.variable), program_.returnType.type)
                                               : variables_.scalar(result.variable));
      break;
   case ResultKind::OutputParameters:
      for (const VariableId id : program_.outputs)
         values.push_back(variables_.isRecord(id) ? valueOf(program_.variables[id].type.type, variables_.record(id))
                                                  : variables_.scalar(id));
      break;
   }
   return values;
}

void Machine::keepReturned(const Result& result) {
   returned_.reset(); // that of a block whose end has failed
   if (result.kind == ResultKind::Nothing) return;
   // The cast comes after all blocks: their handlers do not take its errors.
   const bool isCast = result.kind == ResultKind::Expression && !mayBeHandled_;
   auto values = valuesOf(result, isCast);
   if (values && !program_.returnsSet && program_.returnType.type.oid != oid::voidType)
      returned_ = {std::move(*values), isCast};
}

void Machine::giveReturned() {
   if (!returned_) return;
   phase_ = "while casting return value to function's return type"; // an error leaves it
   phaseLine_ = 0;
   if (!returned_->isCast && !returnsRow()) {
      TypedValue& value = returned_->values.at(0);
      value = casted(std::move(value), program_.returnType.type);
   }
   results_.add(std::move(returned_->values), "returned record type does not match expected record type");
   phase_ = nullptr;
}

Machine::Flow Machine::run(const Return& node) {
   keepReturned(node.result);
   return Flow::Return;
}

Machine::Flow Machine::run(const ReturnNext& node) {
   if (node.result.kind == ResultKind::Nothing) return Flow::Next;
   results_.requireKnown();
   auto values = valuesOf(node.result, true);
   if (!values) {
      results_.addNulls();
      return Flow::Next;
   }
   results_.add(std::move(*values), "wrong record type supplied in RETURN NEXT");
   return Flow::Next;
}

Machine::Flow Machine::run(const ReturnQuery& node) {
   results_.requireKnown();
   QueryRows rows = node.query ? query(*node.query) : dynamicQuery(*node.dynamicQuery, node.parameters);
   if (!rows.returnsRows)
      throw SqlError(sqlstate::syntaxError, std::string(rows.tag) + " query does not return tuples");
   for (std::vector<Value>& row : rows.rows) {
      std::vector<TypedValue> values;
      for (size_t i = 0; i < row.size(); ++i)
         values.push_back({rows.columns[i].second, std::move(row[i])});
      results_.add(std::move(values), "structure of query does not match function result type");
   }
   setFound(!rows.rows.empty(), rows.rows.size());
   return Flow::Next;
}

} // namespace ouzel::engine
