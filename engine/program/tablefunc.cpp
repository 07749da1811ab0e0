#include "engine/program/tablefunc.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/thread/stack.hpp"
#include "common/type/row.hpp"
#include "common/type/text_codec.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

// The extension tablefunc. As in PostgreSQL, values pass as texts from the queries to the result.

namespace ouzel::engine {

namespace {

using Text = std::optional<std::string>;
using TextRow = std::vector<Text>;

[[noreturn]] void refuse(SqlState state, const char* message, const std::string& detail = {}) {
   throw SqlError(state, message).detail(detail);
}

/// Takes the rows of a query as texts.
class TextSink final : public ResultSink {
public:
   explicit TextSink(SessionCore& core) : core_(core) {}
   void begin(const std::vector<ResultColumn>& columns) override { columns_ = columns; }
   void rows(const Batch& batch) override {
      forEachRow(batch.selection, [&](uint32_t row) {
         TextRow& out = taken.emplace_back(columns_.size());
         for (size_t i = 0; i < columns_.size(); ++i) {
            const Vector& column = batch.columns[i];
            if (column.isNull(row)) continue;
            const auto* value =
                static_cast<const std::byte*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type);
            appendText(out[i].emplace(), columns_[i].type, columns_[i].representation, value, core_.format());
         }
      });
   }
   const std::vector<ResultColumn>& columns() const { return columns_; }

   std::vector<TextRow> taken;

private:
   SessionCore& core_;
   std::vector<ResultColumn> columns_;
};

/// Runs the query of a text for the user.
TextSink runText(SessionCore& core, const std::string& text) {
   checkStack();
   core.checkInterrupts();
   TextSink sink(core);
   const auto script = sql::ParsedScript::parse(text);
   for (const sql::ParsedStatement& statement : script.statements()) {
      if (!sql::isNode(statement.node, T_SelectStmt))
         throwNotSupported("functions of tablefunc over other statements than SELECT");
      sink.taken.clear();
      const auto execution = startQuery(core, script, *statement.node, {});
      execution->run(0, &sink);
      finishQuery(core, *execution);
   }
   return sink;
}

/// Makes rows of the result's types from texts.
class ResultRows {
public:
   ResultRows(SessionCore& core, const catalog::Function& function, const std::optional<std::vector<SqlType>>& expected)
      : core_(core), type_(function.returnType.oid) {
      if (expected) {
         for (const SqlType& type : *expected)
            columns_.push_back({"f" + std::to_string(columns_.size() + 1), type, false});
      } else if (const auto relation = core.transaction.catalog().relationOfType(type_)) {
         for (const catalog::Column& column : relation->columns)
            columns_.push_back({column.name, column.type, column.isDropped});
      } else if (type_ == oid::record) {
         refuse(sqlstate::featureNotSupported,
                "function returning record called in context that cannot accept type record");
      } else {
         columns_.push_back({function.name, function.returnType, false});
         type_ = oid::record;
      }
   }

   size_t columnCount() const { return columns_.size(); }
   const SqlType& type(size_t i) const { return columns_[i].type; }
   void add(const TextRow& row) {
      std::vector<Value> values;
      for (size_t i = 0; i < columns_.size(); ++i)
         values.push_back(row[i] ? parsePart(columns_[i].type, *row[i], core_.format())
                                 : Value::null(rowFieldPhysical(columns_[i].type.oid)));
      rows_.push_back(makeRow(type_, columns_, values));
   }
   std::vector<std::string> take() { return std::move(rows_); }

private:
   SessionCore& core_;
   Oid type_;
   std::vector<RowField> columns_;
   std::vector<std::string> rows_;
};

// ---- crosstab ----

/// Each run of rows with one row name becomes a row, whose values fill its columns from left to right.
void crosstab(SessionCore& core, const std::string& text, ResultRows& result) {
   const TextSink source = runText(core, text);
   if (source.taken.empty()) return;
   if (source.columns().size() != 3)
      refuse(sqlstate::invalidParameterValue, "invalid source data SQL statement",
             "The provided SQL must return 3 columns: rowid, category, and values.");
   constexpr const char* incompatible = "return and sql tuple descriptions are incompatible";
   const size_t width = result.columnCount();
   if (width < 2) refuse(sqlstate::syntaxError, incompatible);
   if (result.type(0).oid != source.columns()[0].type.oid)
      refuse(sqlstate::datatypeMismatch, "invalid return type",
             "SQL rowid datatype does not match return rowid datatype.");
   for (size_t i = 1; i < width; ++i)
      if (result.type(i).oid != source.columns()[2].type.oid) refuse(sqlstate::syntaxError, incompatible);
   for (size_t i = 0; i < source.taken.size();) {
      TextRow row(width);
      row[0] = source.taken[i][0];
      for (size_t next = 1; i < source.taken.size() && source.taken[i][0] == row[0]; ++i, ++next)
         if (next < width) row[next] = source.taken[i][2];
      result.add(row);
   }
}

/// The column of each category.
std::map<std::string, size_t> categoriesOf(SessionCore& core, const std::string& text) {
   const TextSink found = runText(core, text);
   if (found.taken.empty() || found.columns().size() != 1)
      refuse(sqlstate::syntaxError, "provided \"categories\" SQL must return 1 column of at least one row");
   std::map<std::string, size_t> categories;
   for (const TextRow& row : found.taken) {
      if (!row[0]) refuse(sqlstate::syntaxError, "provided \"categories\" SQL must not return NULL values");
      if (!categories.emplace(*row[0], categories.size()).second)
         refuse(sqlstate::duplicateObject, "duplicate category name");
   }
   return categories;
}

/// The values go to the columns of their categories. Columns between the row's name and the category come along.
void crosstabByCategory(SessionCore& core, const std::string& text, const std::string& categoryText,
                        ResultRows& result) {
   const std::map<std::string, size_t> categories = categoriesOf(core, categoryText);
   const TextSink source = runText(core, text);
   if (source.taken.empty()) return;
   const size_t columns = source.columns().size();
   if (columns < 3)
      refuse(sqlstate::invalidParameterValue, "invalid source data SQL statement",
             "The provided SQL must return 3  columns; rowid, category, and values.");
   const size_t width = columns - 2 + categories.size();
   if (result.columnCount() != width)
      refuse(sqlstate::syntaxError, "invalid return type",
             "Query-specified return tuple has " + std::to_string(result.columnCount()) +
                 " columns but crosstab returns " + std::to_string(width) + ".");
   for (size_t i = 0; i < source.taken.size();) {
      TextRow row(width);
      std::copy_n(source.taken[i].begin(), columns - 2, row.begin());
      for (; i < source.taken.size() && source.taken[i][0] == row[0]; ++i) {
         const TextRow& from = source.taken[i];
         const auto category = from[columns - 2] ? categories.find(*from[columns - 2]) : categories.end();
         if (category != categories.end()) row[columns - 2 + category->second] = from[columns - 1];
      }
      result.add(row);
   }
}

// ---- connectby ----

std::string quotedLiteral(const std::string& value) {
   std::string text = value.find('\\') == std::string::npos ? "'" : " E'";
   for (const char c : value)
      text += c == '\'' ? "''" : c == '\\' ? "\\\\" : std::string(1, c);
   return text + "'";
}

/// Goes down a hierarchy of rows.
class Hierarchy {
public:
   struct Source {
      std::string relation, key, parent, orderBy; ///< SQL; no order: empty
      int32_t levelsMax = 0;                      ///< 0: any
      std::string delimiter = "~";
      bool hasBranch = false;
   };
   Hierarchy(SessionCore& core, Source source, ResultRows& result)
      : core_(core), source_(std::move(source)), result_(result), hasSerial_(!source_.orderBy.empty()) {
      requireColumns();
   }

   void run(const std::string& start) {
      add(start, std::nullopt, 0, start);
      descend(start, start, 1);
   }

private:
   void requireColumns() const {
      constexpr const char* invalid = "invalid return type";
      const SqlState mismatch = sqlstate::datatypeMismatch;
      const size_t serial = source_.hasBranch ? 4 : 3;
      if (result_.columnCount() != serial + (hasSerial_ ? 1 : 0))
         refuse(mismatch, invalid, "Query-specified return tuple has wrong number of columns.");
      if (result_.type(0).oid != result_.type(1).oid)
         refuse(mismatch, invalid, "First two columns must be the same type.");
      if (result_.type(2).oid != oid::int4) refuse(mismatch, invalid, "Third column must be type integer.");
      if (source_.hasBranch && result_.type(3).oid != oid::text)
         refuse(mismatch, invalid, "Fourth column must be type text.");
      if (hasSerial_ && result_.type(serial).oid != oid::int4)
         refuse(mismatch,
                serial == 4 ? "query-specified return tuple not valid for Connectby: fifth column must be type integer"
                            : "query-specified return tuple not valid for Connectby: fourth column must be type "
                              "integer");
   }

   void add(const std::string& key, const Text& parent, int32_t level, const std::string& branch) {
      TextRow row{key, parent, std::to_string(level)};
      if (source_.hasBranch) row.emplace_back(branch);
      if (hasSerial_) row.emplace_back(std::to_string(++serial_));
      result_.add(row);
   }

   void descend(const std::string& parent, const std::string& branch, int32_t level) {
      if (source_.levelsMax > 0 && level > source_.levelsMax) return;
      const TextSink children =
          runText(core_, "SELECT " + source_.key + ", " + source_.parent + " FROM " + source_.relation + " WHERE " +
                             source_.parent + " = " + quotedLiteral(parent) + " AND " + source_.key +
                             " IS NOT NULL AND " + source_.key + " <> " + source_.parent +
                             (hasSerial_ ? " ORDER BY " + source_.orderBy : std::string()));
      for (const TextRow& child : children.taken) {
         const std::string& key = *child[0];
         const std::string& delimiter = source_.delimiter;
         if ((delimiter + branch + delimiter).find(delimiter + key + delimiter) != std::string::npos)
            refuse(sqlstate::invalidRecursion, "infinite recursion detected");
         const std::string below = branch + delimiter + key;
         add(key, child[1], level, below);
         descend(key, below, level + 1);
      }
   }

   SessionCore& core_;
   const Source source_;
   ResultRows& result_;
   const bool hasSerial_;
   int32_t serial_ = 0;
};

// ---- normal_rand ----

/// Numbers of a normal distribution, by the polar method of Marsaglia.
void normalRand(SessionCore& core, int32_t count, double mean, double deviation, ResultRows& result) {
   if (count < 0) refuse(sqlstate::invalidParameterValue, "number of rows cannot be negative");
   executor::SessionFunctions& session = *core.functionContext().session;
   for (int32_t i = 0; i < count; ++i) {
      double x, square;
      do {
         x = 2 * session.random() - 1;
         const double y = 2 * session.random() - 1;
         square = x * x + y * y;
      } while (square >= 1 || square == 0);
      const double value = mean + deviation * x * std::sqrt(-2 * std::log(square) / square);
      result.add({textOf(sql::plainType(oid::float8), Value::real(PhysicalType::F64, value), core.format())});
   }
}

std::string textArgument(std::span<const BoundParameter> parameters, size_t i) {
   return std::string(parameters[i].value.bytes);
}

} // namespace

std::vector<std::string> runTablefunc(SessionCore& core, const catalog::Function& function,
                                      std::span<const BoundParameter> parameters,
                                      const std::optional<std::vector<SqlType>>& expected) {
   ResultRows result(core, function, expected);
   const auto text = [&](size_t i) { return textArgument(parameters, i); };
   if (function.source == "tablefunc/crosstab") {
      crosstab(core, text(0), result);
   } else if (function.source == "tablefunc/crosstab_hash") {
      crosstabByCategory(core, text(0), text(1), result);
   } else if (function.source == "tablefunc/normal_rand") {
      normalRand(core, static_cast<int32_t>(parameters[0].value.i64), parameters[1].value.f64, parameters[2].value.f64,
                 result);
   } else {
      const size_t order = function.source == "tablefunc/connectby_text_serial" ? 1 : 0;
      Hierarchy::Source source{text(0), text(1), text(2), order ? text(3) : std::string()};
      source.levelsMax = static_cast<int32_t>(parameters[4 + order].value.i64);
      source.hasBranch = parameters.size() == 6 + order;
      if (source.hasBranch) source.delimiter = text(5 + order);
      Hierarchy(core, std::move(source), result).run(text(3 + order));
   }
   return result.take();
}

} // namespace ouzel::engine
