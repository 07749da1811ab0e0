#pragma once
#include <memory>
#include <span>

#include "engine/program/run_routine.hpp"
#include "engine/program/variables.hpp"

// Queries and expressions of a program: bound over the values of its variables, and run.

namespace ouzel::engine {

class CompiledText;
class CompiledTexts;
class QueryExecution;

/// The rows of a query, with values as rows have them (common/type/row.hpp).
struct QueryRows {
   std::vector<std::pair<std::string, SqlType>> columns;
   std::vector<std::vector<Value>> rows;
   uint64_t processed = 0; ///< of a statement that writes without RETURNING: the rows written
   std::string_view tag{}; ///< of the statement: "SELECT"
   bool isQuery = false;   ///< no command
   bool isSelect = false;
   bool returnsRows = false;
};

/// What an error's CONTEXT calls a text.
enum class QueryContext : uint8_t { None, Statement, Expression, Assignment };

struct ProgramQuery {
   SessionCore& core;
   /// Null: the text has no variables, but `parameters`.
   Variables* variables = nullptr;
   sql::program::NameId scope = sql::program::noName;
   std::span<const BoundParameter> parameters{}; ///< of USING
   std::span<const SqlType> types{};             ///< casts of the columns; empty: none
   uint64_t rowsMax = 0;                         ///< 0: all
   const sql::PartTarget* part = nullptr;        ///< see sql::BindContext
   QueryContext context = QueryContext::Statement;
   std::string_view shown{}; ///< the text in CONTEXT; empty: the text that runs
   /// The texts of the program, of which this is number `id`; null: the text is executed once.
   CompiledTexts* texts = nullptr;
   uint32_t id = 0;
};

/// A value as it lies in a row: a numeric is a Decimal.
Value asInRow(Value value, const SqlType& type, const Representation& repr);

/// One statement while it runs. What it finds is read in pieces, other statements may run in between.
class RowStream {
public:
   /// Starts the statement of a text. `runCommand` runs those that are no queries.
   RowStream(const ProgramQuery& query, const std::string& text, const RunCommand& runCommand);
   ~RowStream();
   RowStream(const RowStream&) = delete;

   /// The columns; rows of the last read().
   const QueryRows& rows() const { return result_; }
   /// Whether reading may end before the last row: the statement does nothing but give rows.
   bool mayStop() const;
   /// Reads at most `rowsMax` rows (0: all) in the place of those before. False: there are no more.
   bool read(uint64_t rowsMax);
   QueryRows take() { return std::move(result_); }
   /// The rows outlive the transaction in which the statement has started, if a program ends it. False: they do not,
   /// for the statement writes.
   bool pin();
   /// Errors of read() get this line of context.
   void setContext(std::string line) { context_ = std::move(line); }

private:
   /// `isSimple` becomes true as soon as an error is one of an expression that is not planned.
   void start(const ProgramQuery& query, const std::string& text, bool& isSimple);
   /// Runs a statement that is no query. It may give rows, as EXPLAIN and SHOW do.
   void command(const ProgramQuery& query, const RunCommand& runCommand);

   SessionCore& core_;
   QueryRows result_;
   std::shared_ptr<CompiledText> compiled_;
   std::unique_ptr<QueryExecution> execution_;
   std::string cursor_;                     ///< the session's, which has the query; empty: none
   std::optional<std::vector<Value>> only_; ///< the only row, where nothing had to be planned
   std::vector<std::vector<Value>> told_;   ///< rows of a command, before the first read()
   bool isDone_ = false;
   std::string context_;
};

/// Compiles a text as its execution would.
void prepareText(const ProgramQuery& query, const std::string& text);
/// Starts the query of a text for a cursor. Throws 42P11 for another statement.
std::unique_ptr<QueryExecution> startCursorQuery(const ProgramQuery& query, const std::string& text);
/// Puts the columns and rows that come in `out`.
std::unique_ptr<ResultSink> collectorOf(QueryRows& out);

/// Runs the statement of a text, and gives all its rows, or query.rowsMax of them if it writes nothing.
QueryRows runText(const ProgramQuery& query, const std::string& text, const RunCommand& runCommand);

} // namespace ouzel::engine
