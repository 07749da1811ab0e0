#include "executor/operator/write/row_errors.hpp"

#include "catalog/object/acl.hpp"
#include "common/type/text_codec.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::executor {

/// Whether who runs the statement may read the table's rows, so that an error may show one.
bool RowErrors::mayShowRow(const FunctionContext& functions) const {
   if (!functions.catalog) return true;
   const auto table = functions.catalog->relation(dml_.table.relation);
   const auto role = functions.catalog->findRole(functions.user);
   if (!table || !role) return !table;
   std::vector<int16_t> attributes;
   for (const catalog::Column& column : table->columns)
      if (!column.isDropped) attributes.push_back(column.attribute);
   return catalog::mayRead(*functions.catalog, role->oid, *table, attributes);
}

std::string RowErrors::rowText(const Batch& in, uint32_t row, const std::vector<sql::GetColumn>& columns,
                               const FunctionContext& functions) const {
   if (!mayShowRow(functions)) return {};
   std::string detail = "Failing row contains (";
   bool first = true;
   for (const sql::GetColumn& target : columns) {
      if (const auto& parts = dml_.table.parts; // what only another part has
          parts && target.attribute > static_cast<int16_t>(parts->table->columns.size()))
         continue;
      if (!std::exchange(first, false)) detail += ", ";
      const uint32_t slot = *slots_.find(target.column);
      const Vector& column = in.columns[slot];
      if (column.isNull(row)) {
         detail += "null";
         continue;
      }
      std::string text;
      const auto* value =
          static_cast<const char*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type);
      appendText(text, columns_[target.column].type, columns_[target.column].repr, value, *functions.format);
      detail += text.size() > 64 ? text.substr(0, 64) + "..." : text;
   }
   return detail + ").";
}

SqlError RowErrors::violation(const Batch& in, uint32_t row, const sql::Dml::Check& check,
                              const std::vector<sql::GetColumn>& columns, const FunctionContext& functions,
                              const catalog::Relation* part) const {
   if (!check.policyError.empty()) return SqlError(sqlstate::insufficientPrivilege, check.policyError);
   if (check.isVisibility)
      return SqlError(sqlstate::objectNotInPrerequisiteState,
                      "conflicting row is not visible through view \"" + check.view + "\"");
   if (!check.view.empty())
      return SqlError(sqlstate::withCheckOptionViolation,
                      "new row violates check option for view \"" + check.view + "\"")
          .detail(rowText(in, row, columns, functions));
   const std::string& name = part ? part->name : dml_.table.name;
   const auto schema = part && functions.catalog ? functions.catalog->schema(part->schema) : nullptr;
   const std::string& schemaName = schema ? schema->name : dml_.table.schema;
   if (check.notNullAttribute != 0)
      return SqlError(sqlstate::notNullViolation, "null value in column \"" + check.column + "\" of relation \"" +
                                                      name + "\" violates not-null constraint")
          .detail(rowText(in, row, columns, functions))
          .table(schemaName, name)
          .column(check.column)
          .routine("ExecConstraints");
   return SqlError(sqlstate::checkViolation,
                   "new row for relation \"" + name + "\" violates check constraint \"" + check.constraint + "\"")
       .detail(rowText(in, row, columns, functions))
       .table(schemaName, name)
       .constraint(check.constraint)
       .routine("ExecConstraints");
}

} // namespace ouzel::executor
