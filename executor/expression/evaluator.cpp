#include "executor/expression/evaluator.hpp"

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "executor/expression/program.hpp"

namespace ouzel::executor {

namespace {

/// One column of sample rows as a flat vector.
class SampleColumn {
public:
   SampleColumn(PhysicalType type, const std::vector<std::vector<Value>>& rows, size_t column) : type_(type) {
      const uint32_t width = physicalSize(type);
      data_.resize((rows.size() * width + 15) / 16);
      validity_.assign(validityWords(static_cast<uint32_t>(rows.size())), ~ValidityWord{0});
      for (size_t i = 0; i < rows.size(); ++i) {
         const Value& value = rows[i][column];
         if (value.isNull) {
            setValidBit(validity_.data(), static_cast<uint32_t>(i), false);
            hasNulls_ = true;
         } else {
            value.store(reinterpret_cast<std::byte*>(data_.data()) + i * width);
         }
      }
   }
   /// The rows from `begin` on. REQUIRES: `begin` is a multiple of 64.
   Vector from(size_t begin) const {
      return Vector::flat(type_, reinterpret_cast<const std::byte*>(data_.data()) + begin * physicalSize(type_),
                          hasNulls_ ? validity_.data() + begin / 64 : nullptr);
   }

private:
   PhysicalType type_;
   std::vector<uint128> data_;
   std::vector<ValidityWord> validity_;
   bool hasNulls_ = false;
};

/// A column table for the columns of a predicate: types as in the predicate, stored representations.
sql::ColumnTable columnTable(const sql::Expr& predicate, const std::vector<sql::ColumnId>& columns) {
   uint32_t size = 0;
   for (const sql::ColumnId column : columns)
      size = std::max(size, static_cast<uint32_t>(column) + 1);
   sql::ColumnTable table;
   while (table.size() < size)
      table.add({});
   sql::forEachExpr(predicate, [&](const sql::Expr& e) {
      const auto* reference = e.getIf<sql::scalar::Column>();
      if (reference && static_cast<uint32_t>(reference->column) < size) {
         table[reference->column].type = e.type;
         table[reference->column].repr = storedRepresentation(e.type);
      }
      return true;
   });
   return table;
}

} // namespace

Value ExpressionEvaluator::evaluate(const sql::Expr& expr) {
   const sql::ColumnTable none;
   const auto program = ExpressionProgram::compile(expr, ColumnSlots(), none);
   ExpressionState state(program, context_, memory_);
   Batch batch;
   batch.setDense(1);
   return Value::fromVector(program->evaluate(state, batch, batch.selection), 0);
}

std::vector<bool> ExpressionEvaluator::matches(const sql::Expr& predicate, const std::vector<sql::ColumnId>& columns,
                                               const std::vector<std::vector<Value>>& rows) {
   std::vector<bool> result(rows.size(), false);
   if (rows.empty()) return result;
   sql::ColumnTable table = columnTable(predicate, columns);
   std::vector<SampleColumn> samples;
   for (size_t i = 0; i < columns.size(); ++i) {
      Representation& repr = table[columns[i]].repr;
      if (rows[0][i].type != repr.physical) repr = {rows[0][i].type, 0};
      samples.emplace_back(repr.physical, rows, i);
   }
   const auto program = ExpressionProgram::compile(predicate, ColumnSlots(columns), table);
   ExpressionState state(program, context_, memory_);
   RowIndex passedRows[batchRowsMax];
   for (size_t begin = 0; begin < rows.size(); begin += batchRowsMax) {
      Batch batch;
      for (const SampleColumn& sample : samples)
         batch.columns.push_back(sample.from(begin));
      batch.setDense(static_cast<uint32_t>(std::min<size_t>(batchRowsMax, rows.size() - begin)));
      const auto take = [&](Selection wanted) {
         const Selection passed = program->filter(state, batch, wanted, passedRows);
         forEachRow(passed, [&](uint32_t row) { result[begin + row] = true; });
      };
      try {
         take(batch.selection);
      } catch (const SqlError&) { // some row fails: evaluate one row at a time
         for (uint32_t row = 0; row < batch.rowCount; ++row) {
            const RowIndex one = static_cast<RowIndex>(row);
            try {
               take(Selection::list(&one, 1));
            } catch (const SqlError&) {
               checkInterrupted();
            }
         }
      }
   }
   return result;
}

} // namespace ouzel::executor
