#include "engine/program/stat_statements.hpp"

#include <charconv>
#include <fmt/format.h>

#include "catalog/object/membership.hpp"
#include "common/type/row.hpp"
#include "common/type/text_codec.hpp"
#include "engine/statement/statement_statistics.hpp"

// The extension pg_stat_statements: what the server counts of statements, as rows.

namespace ouzel::engine {

namespace {

constexpr Oid readAllStats = 3375; ///< the predefined role pg_read_all_stats

/// Spilled bytes are told in blocks of PostgreSQL's size.
constexpr uint64_t blockBytes = 8192;

/// Writes records of a function's OUT parameters, whose values are given as texts from left to right.
class OutputRow {
public:
   OutputRow(SessionCore& core, const catalog::Function& function) : core_(core) {
      for (const catalog::FunctionParameter& parameter : function.parameters)
         if (parameter.isOutput()) columns_.push_back({parameter.name, parameter.type, false});
   }

   OutputRow& text(std::string_view text) {
      values_.push_back(parsePart(columns_.at(values_.size()).type, text, core_.format()));
      return *this;
   }
   OutputRow& null() {
      values_.push_back(Value::null(rowFieldPhysical(columns_.at(values_.size()).type.oid)));
      return *this;
   }
   template <typename Integer>
   OutputRow& number(Integer value) {
      return text(fmt::format("{}", value));
   }
   OutputRow& durations(const DurationSummary& summary) {
      for (const double millis : {summary.total(), summary.min(), summary.max(), summary.mean(), summary.deviation()})
         number(millis);
      return *this;
   }
   OutputRow& zeros(size_t count) {
      while (count-- > 0)
         text("0");
      return *this;
   }
   bool isFull() const { return values_.size() == columns_.size(); }
   std::string take() {
      DCHECK(isFull());
      std::string row = makeRow(oid::record, columns_, values_);
      values_.clear();
      return row;
   }

private:
   SessionCore& core_;
   std::vector<RowField> columns_;
   std::vector<Value> values_;
};

/// pg_stat_statements(showtext). Who may not read all statistics sees texts and ids of own statements only.
std::vector<std::string> listStatements(SessionCore& core, const catalog::Function& function, bool showsText) {
   const catalog::Snapshot& catalog = core.transaction.catalog();
   const Oid viewer = core.role();
   const bool seesAll = catalog::isSuperuser(catalog, viewer) || catalog::inheritsFrom(catalog, viewer, readAllStats);
   OutputRow row(core, function);
   std::vector<std::string> rows;
   for (const StatementStatistics::Entry& entry : core.database.statements->list()) {
      const bool isShown = seesAll || entry.key.role == viewer;
      row.number(entry.key.role).number(entry.key.database).text(entry.key.isTopLevel ? "t" : "f");
      isShown ? row.number(static_cast<int64_t>(entry.key.queryId)) : row.null();
      if (!showsText)
         row.null();
      else
         row.text(isShown ? std::string_view(*entry.text) : "<insufficient privilege>");
      row.number(entry.plans.count()).durations(entry.plans);
      row.number(entry.calls.count()).durations(entry.calls).number(entry.rows);
      row.number(entry.pagesHit).number(entry.pagesRead).zeros(2);
      row.zeros(4); // of temporary tables, which are not told apart
      row.number((entry.spillBytesRead + blockBytes - 1) / blockBytes);
      row.number((entry.spillBytesWritten + blockBytes - 1) / blockBytes);
      row.zeros(4); // times of input and output
      row.zeros(3); // of the WAL
      row.zeros(8); // of just-in-time compilation
      rows.push_back(row.take());
   }
   return rows;
}

std::vector<std::string> describeStatistics(SessionCore& core, const catalog::Function& function) {
   const StatementStatistics::Info info = core.database.statements->info();
   OutputRow row(core, function);
   row.number(info.evictions);
   const SqlType time{oid::timestamptz, -1, invalidOid};
   row.text(textOf(time, Value::integer(PhysicalType::I64, info.resetAt), core.format()));
   return {row.take()};
}

} // namespace

std::vector<std::string> runStatStatements(SessionCore& core, const catalog::Function& function,
                                           std::span<const BoundParameter> parameters) {
   const auto number = [&](size_t i) { return parameters[i].value.i64; };
   if (function.source == "pg_stat_statements/pg_stat_statements_1_10")
      return listStatements(core, function, number(0) != 0);
   if (function.source == "pg_stat_statements/pg_stat_statements_info") return describeStatistics(core, function);
   if (function.source == "pg_stat_statements/pg_stat_statements_reset_1_7") {
      core.database.statements->reset(static_cast<Oid>(number(0)), static_cast<Oid>(number(1)),
                                      static_cast<uint64_t>(number(2)));
      const std::vector<RowField> column{{function.name, function.returnType, false}};
      return {makeRow(oid::record, column, {Value::string({})})}; // no NULL, but a value without a text
   }
   throwNotSupported("the function " + function.name);
}

} // namespace ouzel::engine
