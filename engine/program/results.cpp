#include "engine/program/results.hpp"

#include "sql/bind/type/type_rules.hpp"

namespace ouzel::engine {

using namespace sql::program;

Results::Results(SessionCore& core, const Program& program, std::string name,
                 const std::optional<std::vector<SqlType>>& expected)
   : memory_(core.database.governor->ledger()) {
   const SqlType& type = program.returnType.type;
   if (program.kind == ProgramKind::Trigger) {
      isOfAnyKind_ = true; // the caller knows the table
   } else if (program.returnType.kind == TypeClass::Record && type.oid != oid::record) {
      type_ = type.oid;
      const auto relation = core.transaction.catalog().relationOfType(type_);
      if (!relation) throwInternal("the type that a function returns does not exist");
      for (const catalog::Column& column : relation->columns)
         columns_.push_back({column.name, column.type, column.isDropped});
   } else if (program.outputs.size() > 1 || (type.oid == oid::record && !program.outputs.empty())) {
      for (const VariableId id : program.outputs)
         columns_.push_back({program.variables[id].name, program.variables[id].type.type, false});
   } else if (type.oid == oid::record) {
      isOfAnyKind_ = !expected;
      for (size_t i = 0; expected && i < expected->size(); ++i)
         columns_.push_back({"f" + std::to_string(i + 1), (*expected)[i], false});
   } else {
      columns_.push_back({std::move(name), type, false});
   }
}

void Results::add(std::vector<TypedValue> row, const char* mismatch) {
   const auto refuse = [&](const std::string& detail) {
      throw SqlError(sqlstate::datatypeMismatch, mismatch).detail(detail);
   };
   std::vector<RowField> own;
   if (isOfAnyKind_)
      for (size_t i = 0; i < row.size(); ++i)
         own.push_back({"f" + std::to_string(i + 1), row[i].type, false});
   const std::vector<RowField>& columns = isOfAnyKind_ ? own : columns_;
   if (row.size() != columns.size())
      refuse("Number of returned columns (" + std::to_string(row.size()) + ") does not match expected column count (" +
             std::to_string(columns.size()) + ").");
   std::vector<Value> values;
   for (size_t i = 0; i < row.size(); ++i) {
      if (row[i].type.oid != columns[i].type.oid && !row[i].value.isNull)
         refuse("Returned type " + sql::typeName(row[i].type) + " does not match expected type " +
                sql::typeName(columns[i].type) + " in column " + std::to_string(i + 1) + ".");
      values.push_back(std::move(row[i].value));
   }
   push(makeRow(type_, columns, values));
}

void Results::requireKnown() const {
   if (isOfAnyKind_)
      throw SqlError(sqlstate::featureNotSupported, "materialize mode required, but it is not allowed in this context");
}

void Results::addNulls() {
   std::vector<Value> values;
   for (const RowField& column : columns_)
      values.push_back(Value::null(rowFieldPhysical(column.type.oid)));
   push(makeRow(type_, columns_, values));
}

void Results::push(std::string row) {
   constexpr size_t step = 64 << 10;
   bytes_ += row.size() + sizeof(row);
   if (bytes_ > memory_.bytes()) memory_.resize(bytes_ + step);
   rows_.push_back(std::move(row));
}

std::vector<std::string> Results::take() {
   return std::move(rows_);
}

} // namespace ouzel::engine
