#include "engine/program/text_query.hpp"

#include "common/thread/stack.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

namespace {

/// Takes the rows of a query as records.
class RecordSink final : public ResultSink {
public:
   explicit RecordSink(std::vector<std::string>& rows) : rows_(rows) {}
   void begin(const std::vector<ResultColumn>& columns) override { columns_ = columns; }
   void rows(const Batch& batch) override {
      std::vector<RowField> fields;
      for (const ResultColumn& column : columns_)
         fields.push_back({column.name, column.type, false});
      forEachRow(batch.selection, [&](uint32_t row) {
         std::vector<Value> values;
         for (const Vector& column : batch.columns)
            values.push_back(column.isNull(row) ? Value::null(column.type) : Value::fromVector(column, row));
         rows_.push_back(makeRow(oid::record, fields, values));
      });
   }

private:
   std::vector<std::string>& rows_;
   std::vector<ResultColumn> columns_;
};

} // namespace

std::vector<std::string> runQueryOfText(SessionCore& core, const RowView& args) {
   checkStack();
   core.checkInterrupts();
   const Value text = valueOfField(args.field(0));
   std::vector<std::string> rows;
   const auto script = sql::ParsedScript::parse(text.bytes);
   for (const sql::ParsedStatement& statement : script.statements()) {
      if (!sql::isNode(statement.node, T_SelectStmt))
         throwNotSupported("other statements than SELECT in this function");
      rows.clear();
      RecordSink sink(rows);
      const auto execution = startQuery(core, script, *statement.node, {});
      execution->run(0, &sink);
      finishQuery(core, *execution);
   }
   return rows;
}

} // namespace ouzel::engine
