#include "engine/query/internal_sql.hpp"

#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"

namespace ouzel::engine {

namespace {

/// Collects the rows of an internal query.
class RowCollector final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override {
      forEachRow(batch.selection, [&](uint32_t row) {
         std::vector<Value>& out = collected.emplace_back();
         for (const Vector& column : batch.columns)
            out.push_back(Value::fromVector(column, row));
      });
   }

   std::vector<std::vector<Value>> collected;
};

} // namespace

std::vector<std::vector<Value>> runInternal(SessionCore& core, const std::string& text) {
   RowCollector rows;
   runInternal(core, text, rows);
   return std::move(rows.collected);
}

void runInternal(SessionCore& core, const std::string& text, ResultSink& sink) {
   const SessionCore::AsServer asServer(core);
   const auto script = sql::ParsedScript::parse(text);
   const catalog::SearchPath path = core.searchPath();
   QueryExecution execution(core, sql::bindQuery(*script.statements().at(0).node, core.bindContext(path, nullptr)));
   execution.run(0, &sink);
}

std::vector<std::vector<Value>> runOnNewest(SessionCore& core, const std::string& text) {
   const NewestSnapshot newest(core.transaction);
   return runInternal(core, text);
}

void runModification(SessionCore& core, const std::string& text) {
   const SessionCore::AsServer asServer(core);
   const auto script = sql::ParsedScript::parse(text);
   const auto execution = startQuery(core, script, *script.statements()[0].node, {});
   execution->run(0, nullptr);
   finishQuery(core, *execution);
}

} // namespace ouzel::engine
