#include <algorithm>
#include <cmath>

#include "common/env/clock.hpp"
#include "common/format.hpp"
#include "common/thread/stack.hpp"
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
      checkStack();
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
      for (const plan::CtePlan& cte : node.ctes()) {
         lines.push_back(indent + "CTE " + cte.name);
         write(*cte.plan, depth + 1);
      }
   }

   std::vector<std::string> lines;

private:
   std::string text(const sql::Expr& expr) const { return sql::toString(expr, plan_.columns); }
   /// Adds a line with the text of each item; none without items.
   template <class Items, class TextOf>
   void list(const std::string& indent, const char* label, const Items& items, const char* separator,
             const TextOf& textOf) {
      if (items.empty()) return;
      std::string line = indent + label + ": ";
      for (size_t i = 0; i < items.size(); ++i)
         line += (i ? separator : "") + textOf(items[i]);
      lines.push_back(line);
   }
   void predicates(const std::string& indent, const char* label, const std::vector<sql::ExprPtr>& predicates) {
      list(indent, label, predicates, " AND ", [&](const sql::ExprPtr& expr) { return text(*expr); });
   }
   void sortKeys(const std::string& indent, const std::vector<sql::SortKey>& keys) {
      list(indent, "Sort Key", keys, ", ",
           [&](const sql::SortKey& key) { return text(*key.expr) + (key.descending ? " DESC" : ""); });
   }
   void files(const std::string& indent, const plan::Scan& scan) {
      if (!scan.table.external) return;
      lines.push_back(indent + "Files: " + std::to_string(scan.table.external->files().size()));
      list(indent, "Columns", scan.columns, ", ",
           [&](const plan::ScanColumn& column) { return plan_.columns[column.column].name; });
   }
   void details(const plan::Node& node, const std::string& indent) {
      if (const auto* scan = node.getIf<plan::Scan>()) {
         files(indent, *scan);
         predicates(indent, "Filter", scan->predicates);
      } else if (const auto* filter = node.getIf<plan::Filter>()) {
         predicates(indent, "Filter", filter->predicates);
      } else if (const auto* join = node.getIf<plan::HashJoin>()) {
         list(indent, "Join Cond", join->keys, " AND ",
              [&](const plan::JoinKey& key) { return "(" + text(*key.probe) + " = " + text(*key.build) + ")"; });
         predicates(indent, "Join Filter", join->predicates);
      } else if (const auto* loop = node.getIf<plan::NestedLoopJoin>()) {
         predicates(indent, "Filter", loop->predicates);
      } else if (const auto* aggregate = node.getIf<plan::Aggregate>()) {
         list(indent, "Group Key", aggregate->keys, ", ",
              [&](const sql::ComputedColumn& key) { return text(*key.expr); });
      } else if (const auto* sort = node.getIf<plan::Sort>()) {
         sortKeys(indent, sort->keys);
      } else if (const auto* top = node.getIf<plan::TopN>()) {
         sortKeys(indent, top->keys);
      } else if (const auto* limit = node.getIf<plan::Limit>()) {
         sortKeys(indent, limit->keys);
      }
      if (options_.verbose)
         list(indent, "Output", node.output, ", ", [&](sql::ColumnId column) { return plan_.columns[column].name; });
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
      AllocationMeter meter(core.database.governor->ledger());
      sql::BoundQuery query = bindUnderLocks(core, context.script, *inner, context.parameters);
      if (!query.readOnly && options.analyze) requireWritable(core, "EXPLAIN");
      auto made = std::make_unique<QueryExecution>(core, std::move(query), options.analyze);
      made->keep(meter.settle());
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
