#include "engine/program/program_query.hpp"

#include "engine/core/session_services.hpp"
#include "engine/program/compiled_text.hpp"
#include "engine/program/query_scope.hpp"
#include "engine/query/command_tag.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::isNode;

namespace {

class RowCollector final : public ResultSink {
public:
   explicit RowCollector(QueryRows& out) : out_(out) {}
   void begin(const std::vector<ResultColumn>& columns) override {
      columns_ = columns;
      if (!out_.columns.empty()) return;
      for (const ResultColumn& column : columns)
         out_.columns.emplace_back(column.name, column.type);
   }
   void rows(const Batch& batch) override {
      forEachRow(batch.selection, [&](uint32_t row) {
         std::vector<Value>& values = out_.rows.emplace_back();
         for (size_t i = 0; i < batch.columns.size(); ++i)
            values.push_back(
                asInRow(Value::fromVector(batch.columns[i], row), columns_[i].type, columns_[i].representation));
      });
   }

private:
   QueryRows& out_;
   std::vector<ResultColumn> columns_;
};

std::shared_ptr<CompiledText> compiledFor(const ProgramQuery& query, const std::string& text) {
   return query.texts ? query.texts->get(query.id, text) : std::make_shared<CompiledText>(text);
}

} // namespace

void addContext(SqlError& error, const ProgramQuery& query, const std::string& text) {
   if (query.context == QueryContext::None) return;
   const std::string_view shown = query.shown.empty() ? std::string_view(text) : query.shown;
   if (error.position() > 0) {
      const int64_t shift = std::ssize(shown) - std::ssize(text); // both end alike
      error.setInternal(std::string(shown), static_cast<uint32_t>(std::max<int64_t>(1, error.position() + shift)));
      return error.setPosition(0);
   }
   const char* kind = query.context == QueryContext::Statement    ? "SQL statement \""
                      : query.context == QueryContext::Expression ? "SQL expression \""
                                                                  : "PL/pgSQL assignment \"";
   error.addContext(kind + std::string(shown) + "\"");
}

RowStream::RowStream(const ProgramQuery& query, const std::string& text, const RunCommand& runCommand)
   : core_(query.core) {
   bool isSimple = false;
   try {
      start(query, text, isSimple);
      if (!isDone_ && !execution_ && !only_) command(query, runCommand);
   } catch (SqlError& error) {
      if (!isSimple) addContext(error, query, text);
      throw;
   }
}

void RowStream::start(const ProgramQuery& query, const std::string& text, bool& isSimple) {
   core_.checkInterrupts();
   compiled_ = compiledFor(query, text);
   if (!compiled_->script().statements().empty()) result_.tag = commandTag(compiled_->statement().node);
   const SeesVariables sees(query);
   switch (compiled_->prepare(query)) {
   case CompiledText::Kind::Empty: isDone_ = true; return;
   case CompiledText::Kind::Command: break;
   case CompiledText::Kind::Values: {
      ValuesCode& values = compiled_->values();
      // An expression without variables is computed as it is planned; that of a statement is a part of it.
      isSimple = query.context != QueryContext::Statement && values.isComputedApart();
      only_ = values.run(core_, query.variables);
      result_.isQuery = result_.isSelect = result_.returnsRows = true;
      result_.columns = values.columns();
      return;
   }
   case CompiledText::Kind::Query:
      execution_ = compiled_->start(query);
      result_.isQuery = true;
      result_.isSelect = isNode(compiled_->statement().node, T_SelectStmt);
      result_.returnsRows = execution_->returnsRows();
      for (const ResultColumn& column : execution_->columns())
         result_.columns.emplace_back(column.name, column.type);
      return;
   }
}

void RowStream::command(const ProgramQuery& query, const RunCommand& runCommand) {
   const sql::ParsedStatement& statement = compiled_->statement();
   std::optional<SeesVariables> sees; // the query in the statement
   if (isNode(statement.node, T_ExplainStmt) || isNode(statement.node, T_CreateTableAsStmt)) sees.emplace(query);
   RowCollector collector(result_);
   runCommand(compiled_->script(), statement, query.parameters, &collector);
   result_.returnsRows = !result_.columns.empty();
   told_ = std::exchange(result_.rows, {});
   isDone_ = told_.empty();
}

RowStream::~RowStream() {
   if (!cursor_.empty() && core_.services.hasCursor(cursor_)) core_.services.closeCursor(cursor_);
}

bool RowStream::pin() {
   if (!execution_) return true;
   if (!mayStop()) return false;
   cursor_ = core_.services.openCursor({}, std::move(execution_), CursorScroll::Never, {});
   core_.services.pinCursor(cursor_);
   return true;
}

bool RowStream::mayStop() const {
   return result_.isSelect && (!execution_ || execution_->written().empty());
}

bool RowStream::read(uint64_t rowsMax) {
   result_.rows.clear();
   if (isDone_) return false;
   if (!execution_ && cursor_.empty() && !only_) {
      result_.rows = std::move(told_);
      result_.processed = result_.rows.size();
      isDone_ = true;
      return true;
   }
   if (only_) {
      result_.rows.push_back(std::move(*only_));
      result_.processed = 1;
      isDone_ = true;
      return true;
   }
   RowCollector collector(result_);
   try {
      if (!cursor_.empty()) {
         const CursorStep step{CursorStep::Direction::Forward,
                               rowsMax == 0 ? CursorStep::all : static_cast<int64_t>(rowsMax)};
         result_.processed += core_.services.fetchCursor(cursor_, step, &collector);
         return !result_.rows.empty();
      }
      isDone_ = execution_->run(rowsMax, result_.returnsRows ? &collector : nullptr);
      if (isDone_) finishQuery(core_, *execution_);
   } catch (SqlError& error) {
      if (!context_.empty()) error.addContext(context_);
      throw;
   }
   result_.processed = result_.returnsRows ? execution_->givenRows() : execution_->rowCount();
   return !result_.rows.empty();
}

namespace {

std::unique_ptr<QueryExecution> startForCursor(const ProgramQuery& query, const std::string& text) {
   query.core.checkInterrupts();
   const auto compiled = compiledFor(query, text);
   const auto& statements = compiled->script().statements();
   if (statements.size() != 1)
      throw SqlError(sqlstate::invalidCursorDefinition, "cannot open multi-query plan as cursor");
   const sql::ParsedStatement& statement = statements[0];
   const auto refuse = [&] {
      throw SqlError(sqlstate::invalidCursorDefinition,
                     "cannot open " + std::string(commandTag(statement.node)) + " query as cursor");
   };
   if (!isQuery(statement)) refuse();
   const SeesVariables sees(query);
   compiled->prepare(query, true);
   const OpensCursor opens(query.core, *statement.node);
   auto execution = compiled->start(query);
   if (!execution->returnsRows()) refuse();
   finishQuery(query.core, *execution); // one that writes has done so, and keeps the rows that it returns
   return execution;
}

} // namespace

std::unique_ptr<QueryExecution> startCursorQuery(const ProgramQuery& query, const std::string& text) {
   try {
      return startForCursor(query, text);
   } catch (SqlError& error) {
      addContext(error, query, text);
      throw;
   }
}

void prepareText(const ProgramQuery& query, const std::string& text) {
   const auto compiled = compiledFor(query, text);
   const SeesVariables sees(query);
   compiled->prepare(query);
}

std::unique_ptr<ResultSink> collectorOf(QueryRows& out) {
   return std::make_unique<RowCollector>(out);
}

QueryRows runText(const ProgramQuery& query, const std::string& text, const RunCommand& runCommand) {
   RowStream stream(query, text, runCommand);
   try {
      stream.read(stream.mayStop() ? query.rowsMax : 0);
   } catch (SqlError& error) {
      addContext(error, query, text);
      throw;
   }
   return stream.take();
}

} // namespace ouzel::engine
