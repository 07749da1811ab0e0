#include <algorithm>
#include <cmath>

#include "common/env/clock.hpp"
#include "common/format.hpp"
#include "engine/command/command.hpp"
#include "engine/query/statement_runner.hpp"
#include "io/format/external_table.hpp"
#include "sql/parse/node_access.hpp"

// EXPLAIN and EXPLAIN ANALYZE as an indented tree of operators.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
namespace plan = sql::plan;

namespace {

struct ExplainOptions {
   bool analyze = false, costs = true, verbose = false, timing = true, summary = false, summarySet = false;
};

bool booleanOption(const ::DefElem& option) {
   if (!option.arg) return true;
   if (isNode(option.arg, T_Integer)) return as<::Integer>(option.arg)->ival != 0;
   if (isNode(option.arg, T_Boolean)) return as<::Boolean>(option.arg)->boolval;
   const SettingInfo* anyBoolean = findSetting("enable_hashjoin");
   try {
      return canonicalSetting(*anyBoolean, sql::stringOf(option.arg)) == "on";
   } catch (const SqlError&) {
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
   }
}

ExplainOptions parseOptions(CommandContext& context, const ::List* list) {
   ExplainOptions options;
   for (const ::DefElem* option : ListOf<::DefElem>(list)) {
      const std::string_view name = option->defname;
      if (name == "analyze") {
         options.analyze = booleanOption(*option);
      } else if (name == "costs") {
         options.costs = booleanOption(*option);
      } else if (name == "verbose") {
         options.verbose = booleanOption(*option);
      } else if (name == "timing") {
         options.timing = booleanOption(*option);
      } else if (name == "summary") {
         options.summary = booleanOption(*option);
         options.summarySet = true;
      } else if (name == "buffers" || name == "wal" || name == "settings") {
         booleanOption(*option);
      } else if (name == "format") {
         std::string format(sql::stringOf(option->arg));
         std::transform(format.begin(), format.end(), format.begin(), [](char c) { return static_cast<char>(c | 32); });
         if (format != "text") throwNotSupported("EXPLAIN (FORMAT " + format + ")");
      } else {
         throw SqlError(sqlstate::syntaxError, "unrecognized EXPLAIN option \"" + std::string(name) + "\"")
             .at(context.position(option->location));
      }
   }
   if (!options.summarySet) options.summary = options.analyze;
   return options;
}

/// Writes the tree; visits operators in the order of QueryExecution::profile().
class TreeWriter {
public:
   TreeWriter(const plan::Plan& plan, const ExplainOptions& options,
              const std::vector<executor::OperatorProfile>* profile)
      : plan_(plan), options_(options), profile_(profile) {}

   void write(const plan::Node& node, uint32_t depth) {
      std::string line(depth ? depth * 6 - 4 : 0, ' ');
      if (depth) line += "->  ";
      line += plan::nodeName(node);
      if (options_.costs)
         line +=
             format("  (cost={:.0f} rows={:.0f})", node.estimatedCost, std::max(1.0, std::round(node.estimatedRows)));
      const size_t index = next_++;
      if (profile_ && index < profile_->size()) {
         const executor::OperatorProfile& profile = (*profile_)[index];
         line += options_.timing
                     ? format(" (actual time={:.3f} ms rows={} memory={} kB)", static_cast<double>(profile.nanos) / 1e6,
                              profile.rows, (profile.memoryPeak + 1023) / 1024)
                     : format(" (actual rows={})", profile.rows);
      }
      lines.push_back(line);
      const std::string indent(depth * 6 + 2, ' ');
      details(node, indent);
      if (profile_ && index < profile_->size())
         for (const auto& [name, value] : (*profile_)[index].notes)
            lines.push_back(indent + name + ": " + value);
      for (const auto& child : node.children)
         write(*child, depth + 1);
      for (const plan::CtePlan& cte : node.ctes) {
         lines.push_back(indent + "CTE " + cte.name);
         write(*cte.plan, depth + 1);
      }
   }

   std::vector<std::string> lines;

private:
   std::string text(const sql::Expr& expr) const { return sql::toString(expr, plan_.columns); }
   void list(const std::string& indent, const char* label, const std::vector<std::string>& parts,
             const char* separator) {
      if (parts.empty()) return;
      std::string line = indent + label + ": ";
      for (size_t i = 0; i < parts.size(); ++i)
         line += (i ? separator : "") + parts[i];
      lines.push_back(line);
   }
   void details(const plan::Node& node, const std::string& indent) {
      std::vector<std::string> parts;
      if (node.table.external) {
         list(indent, "Files", {std::to_string(node.table.external->files().size())}, "");
         for (const plan::ScanColumn& column : node.scanColumns)
            parts.push_back(plan_.columns[column.column].name);
         list(indent, "Columns", parts, ", ");
         parts.clear();
      }
      for (const plan::JoinKey& key : node.joinKeys)
         parts.push_back("(" + text(*key.probe) + " = " + text(*key.build) + ")");
      list(indent, "Join Cond", parts, " AND ");
      parts.clear();
      for (const sql::ExprPtr& predicate : node.predicates)
         parts.push_back(text(*predicate));
      list(indent, node.joinKeys.empty() ? "Filter" : "Join Filter", parts, " AND ");
      parts.clear();
      for (const sql::ComputedColumn& key : node.keys)
         parts.push_back(text(*key.expr));
      list(indent, "Group Key", parts, ", ");
      parts.clear();
      for (const sql::SortKey& key : node.sortKeys)
         parts.push_back(text(*key.expr) + (key.descending ? " DESC" : ""));
      list(indent, "Sort Key", parts, ", ");
      if (options_.verbose) {
         parts.clear();
         for (const sql::ColumnId column : node.output)
            parts.push_back(plan_.columns[column].name);
         list(indent, "Output", parts, ", ");
      }
   }

   const plan::Plan& plan_;
   const ExplainOptions& options_;
   const std::vector<executor::OperatorProfile>* profile_;
   size_t next_ = 0;
};

/// Swallows the rows of an analysed query.
class NoRows final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch&) override {}
};

} // namespace

std::vector<ResultColumn> explainColumns(const ::ExplainStmt&) {
   return {textColumn("QUERY PLAN")};
}

std::string explain(CommandContext& context, const ::ExplainStmt& statement) {
   SessionCore& core = context.core;
   const ExplainOptions options = parseOptions(context, statement.options);
   const ::Node* inner = statement.query;
   if (isNode(inner, T_CreateTableAsStmt)) {
      if (options.analyze) throwNotSupported("EXPLAIN ANALYZE of CREATE TABLE AS");
      inner = as<::CreateTableAsStmt>(inner)->query;
   }
   if (!sql::isBindable(*inner)) throwNotSupported("EXPLAIN of this statement");
   const int64_t start = steadyNanos();
   int64_t planned = start;
   const auto make = [&] {
      sql::BoundQuery query = bindUnderLocks(core, context.script, *inner, context.parameters);
      if (!query.readOnly && options.analyze) requireWritable(core, "EXPLAIN");
      auto made = std::make_unique<QueryExecution>(core, std::move(query), options.analyze);
      planned = steadyNanos();
      return made;
   };
   const std::unique_ptr<QueryExecution> execution = options.analyze ? runUntilWritten(core, make) : make();
   if (options.analyze) {
      NoRows nowhere;
      execution->run(0, &nowhere);
      finishQuery(core, *execution);
   }
   const int64_t ended = steadyNanos();
   TreeWriter writer(execution->plan(), options, options.analyze ? &execution->profile() : nullptr);
   writer.write(*execution->plan().root, 0);
   if (options.summary) {
      writer.lines.push_back(format("Planning Time: {:.3f} ms", static_cast<double>(planned - start) / 1e6));
      if (options.analyze) {
         writer.lines.push_back(format("Peak Memory: {} kB", (execution->memoryPeak() + 1023) / 1024));
         writer.lines.push_back(format("Execution Time: {:.3f} ms", static_cast<double>(ended - planned) / 1e6));
      }
   }
   std::vector<std::vector<std::string>> rows;
   for (std::string& line : writer.lines)
      rows.push_back({std::move(line)});
   emitTextRows(context.sink, explainColumns(statement), rows);
   return "EXPLAIN";
}

} // namespace ouzel::engine
