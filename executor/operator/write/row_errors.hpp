#pragma once
#include "common/error/sql_error.hpp"
#include "executor/expression/program.hpp"
#include "executor/pipeline/query_context.hpp"

namespace ouzel::executor {

/// The errors of rows that break a constraint, which show the row to those who may read the table.
class RowErrors {
public:
   RowErrors(const sql::Dml& dml, const ColumnSlots& slots, const sql::ColumnTable& columns)
      : dml_(dml), slots_(slots), columns_(columns) {}

   /// `columns`: those of the row that the check is for. `part`: the part of the table into which the row goes; null:
   /// the table has none.
   SqlError violation(const Batch& in, uint32_t row, const sql::Dml::Check& check,
                      const std::vector<sql::GetColumn>& columns, const FunctionContext& functions,
                      const catalog::Relation* part) const;
   /// "Failing row contains (1, x)."; empty if who runs the statement may not read it.
   std::string rowText(const Batch& in, uint32_t row, const std::vector<sql::GetColumn>& columns,
                       const FunctionContext& functions) const;

private:
   bool mayShowRow(const FunctionContext& functions) const;

   const sql::Dml& dml_;
   const ColumnSlots& slots_;
   const sql::ColumnTable& columns_;
};

} // namespace ouzel::executor
