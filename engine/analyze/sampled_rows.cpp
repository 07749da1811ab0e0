#include "engine/analyze/sampled_rows.hpp"

#include <algorithm>
#include <numeric>

#include "catalog/builtin/builtin.hpp"
#include "common/number/scaled_value.hpp"
#include "common/type/order_key.hpp"
#include "common/type/text_codec.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/bind/binder.hpp"

// One query gives for each row the ranks and the values of all columns, so that the types' own comparisons decide what
// is equal and in which order values come.

namespace ouzel::engine {

namespace {

/// Takes the rows of the query: the number of the row, then of each column its rank and its value.
class Collector final : public ResultSink {
public:
   Collector(const SessionFormat& format, std::vector<bool> isOrdered) : format_(format) {
      for (const bool ordered : isOrdered) {
         sample.columns.emplace_back();
         sample.columns.back().isOrdered = ordered;
      }
   }

   void begin(const std::vector<ResultColumn>& columns) override {
      columns_ = columns;
      for (size_t i = 0; i < sample.columns.size(); ++i)
         sample.columns[i].type = withoutDomain(columns[valueOf(i)].type);
   }
   void rows(const Batch& batch) override {
      forEachRow(batch.selection, [&](uint32_t row) {
         ++sample.count;
         order_.push_back(batch.columns[0].value<int64_t>(row));
         for (size_t i = 0; i < sample.columns.size(); ++i)
            add(sample.columns[i], batch.columns[valueOf(i) - 1], batch.columns[valueOf(i)], columns_[valueOf(i)], row);
      });
   }

   /// The rows in the order of the table: windows give them in another one.
   SampledRows take() {
      std::vector<uint32_t> rows(sample.count);
      std::iota(rows.begin(), rows.end(), 0u);
      std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return order_[a] < order_[b]; });
      for (SampledColumn& column : sample.columns) {
         if (column.ids.empty()) continue;
         std::vector<uint32_t> ids;
         for (const uint32_t row : rows)
            ids.push_back(column.ids[row]);
         column.ids = std::move(ids);
      }
      return std::move(sample);
   }

   SampledRows sample;

private:
   using Datum = catalog::StatisticsData::Datum;

   static size_t valueOf(size_t column) { return 2 * column + 2; }

   void add(SampledColumn& column, const Vector& ranks, const Vector& values, const ResultColumn& result,
            uint32_t row) {
      const bool isNull = values.isNull(row);
      column.nullCount += isNull ? 1 : 0;
      std::string text;
      if (!isNull) column.width += widthOf(values, row);
      if (!column.isOrdered) return;
      const auto id = static_cast<uint32_t>(ranks.value<int64_t>(row) - 1);
      column.ids.push_back(id);
      if (column.values.size() <= id) column.values.resize(id + 1, Datum{{}, {}, true});
      Datum& datum = column.values[id];
      if (isNull || !datum.isNull) return;
      datum.isNull = false;
      appendText(datum.text, column.type, result.representation, placeOf(values, row), format_);
      appendValueKey(datum.key, {column.type.oid, -1, invalidOid},
                     withOwnScale(Value::fromVector(values, row), column.type.oid, result.representation));
   }
   static const void* placeOf(const Vector& values, uint32_t row) {
      return static_cast<const std::byte*>(values.data) + size_t{values.positionOf(row)} * physicalSize(values.type);
   }
   static double widthOf(const Vector& values, uint32_t row) {
      if (!isVariableSize(values.type)) return physicalSize(values.type);
      constexpr size_t header = 4; // of what PostgreSQL's functions return
      return static_cast<double>(Value::fromVector(values, row).bytes.size() + header);
   }

   const SessionFormat format_;
   std::vector<ResultColumn> columns_;
   std::vector<int64_t> order_; ///< by row: its number in the table
};

std::string source(SessionCore& core, const catalog::Relation& table, bool withHeirs) {
   const auto schema = core.transaction.catalog().schema(table.schema);
   return (withHeirs ? "" : "ONLY ") + catalog::quoteIdentifier(schema->name) + "." +
          catalog::quoteIdentifier(table.name);
}

} // namespace

SampledRows sampleRows(SessionCore& core, const catalog::Relation& table, const std::vector<std::string>& columns,
                       bool withHeirs, uint32_t rowsMax) {
   const std::string from = source(core, table, withHeirs);
   const auto tableRows = static_cast<double>(runInternal(core, "SELECT count(*) FROM " + from)[0][0].i64);
   std::string inner = "SELECT row_number() OVER () AS n", outer = "SELECT n";
   std::vector<bool> isOrdered;
   const catalog::SearchPath path = core.searchPath();
   for (size_t i = 0; i < columns.size(); ++i) {
      const std::string name = "c" + std::to_string(i);
      const auto script = sql::ParsedScript::parseExpression(columns[i]);
      const SqlType type = sql::bindExpression(*script.expression(), sql::ExpressionUse::Statistics, &table,
                                               std::nullopt, {}, core.bindContext(path, nullptr))
                               .expr->type;
      isOrdered.push_back(catalog::builtins().comparisonOperator(type.oid, catalog::BtreeStrategy::Less) != nullptr);
      inner += ", " + columns[i] + " AS " + name;
      outer += isOrdered.back() ? ", dense_rank() OVER (ORDER BY " + name + "), " : ", 0::int8, ";
      outer += name;
   }
   inner += " FROM " + from;
   if (tableRows > rowsMax) inner += " TABLESAMPLE BERNOULLI (" + std::to_string(100.0 * rowsMax / tableRows) + ")";
   SessionFormat format; // the catalog's, whatever the session's settings are
   format.types = core.format().types;
   Collector collector(format, std::move(isOrdered));
   runInternal(core, outer + " FROM (" + inner + ") AS s", collector);
   SampledRows sample = collector.take();
   sample.tableRows = std::max(tableRows, static_cast<double>(sample.count));
   for (SampledColumn& column : sample.columns) {
      const uint32_t valueCount = sample.count - column.nullCount;
      if (valueCount > 0) column.width /= valueCount;
   }
   return sample;
}

} // namespace ouzel::engine
