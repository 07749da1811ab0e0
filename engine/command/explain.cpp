#include <algorithm>
#include <cmath>
#include <optional>

#include "common/env/clock.hpp"
#include "common/format.hpp"
#include "common/thread/stack.hpp"
#include "engine/command/command.hpp"
#include "engine/command/explain_document.hpp"
#include "engine/query/statement_runner.hpp"
#include "io/format/external_table.hpp"
#include "sql/algebra/constant_naming.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/parse/node_access.hpp"

// EXPLAIN and EXPLAIN ANALYZE: the plan as a document, which explain_document.cpp writes.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
namespace plan = sql::plan;

namespace {

struct ExplainOptions {
   bool analyze = false, costs = true, verbose = false, wal = false, settings = false;
   std::optional<bool> timingGiven, summaryGiven;
   ExplainFormat format = ExplainFormat::Text;

   bool timing() const { return timingGiven.value_or(analyze); }
   bool summary() const { return summaryGiven.value_or(analyze); }
};

ExplainFormat formatOption(const CommandContext& context, const ::DefElem& option) {
   std::string given;
   if (option.arg && isNode(option.arg, T_Integer))
      given = std::to_string(as<::Integer>(option.arg)->ival);
   else if (option.arg)
      given = sql::stringOf(option.arg);
   else
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   if (given == "text") return ExplainFormat::Text;
   if (given == "xml") return ExplainFormat::Xml;
   if (given == "json") return ExplainFormat::Json;
   if (given == "yaml") return ExplainFormat::Yaml;
   throw SqlError(sqlstate::invalidParameterValue,
                  "unrecognized value for EXPLAIN option \"" + std::string(option.defname) + "\": \"" + given + "\"")
       .at(context.position(option.location));
}

ExplainOptions parseOptions(const CommandContext& context, const ::List* list) {
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
         options.timingGiven = booleanOption(*option);
      } else if (name == "summary") {
         options.summaryGiven = booleanOption(*option);
      } else if (name == "wal") {
         options.wal = booleanOption(*option);
      } else if (name == "settings") {
         options.settings = booleanOption(*option);
      } else if (name == "buffers") {
         booleanOption(*option); // an operator's notes tell what it has read
      } else if (name == "format") {
         options.format = formatOption(context, *option);
      } else {
         throw SqlError(sqlstate::syntaxError, "unrecognized EXPLAIN option \"" + std::string(name) + "\"")
             .at(context.position(option->location));
      }
   }
   const auto requireAnalyze = [&](bool isWanted, const char* option) {
      if (isWanted && !options.analyze)
         throw SqlError(sqlstate::invalidParameterValue, "EXPLAIN option " + std::string(option) + " requires ANALYZE");
   };
   requireAnalyze(options.wal, "WAL");
   requireAnalyze(options.timingGiven.value_or(false), "TIMING");
   return options;
}

using Kind = ExplainProperty::Kind;

/// Makes the document; visits operators in the order of QueryExecution::profile().
class TreeBuilder {
public:
   TreeBuilder(const plan::Plan& plan, const ExplainOptions& options,
               const std::vector<executor::OperatorProfile>* profile)
      : plan_(plan), options_(options), profile_(profile) {}

   ExplainNode build(const plan::Node& node) {
      checkStack();
      ExplainNode result;
      result.title = plan::nodeName(node);
      text(result, "Node Type", result.title);
      if (options_.costs) {
         const double rows = std::max(1.0, std::round(node.estimatedRows));
         result.title += format("  (cost={:.0f} rows={:.0f})", node.estimatedCost, rows);
         number(result, "Total Cost", format("{:.2f}", node.estimatedCost));
         number(result, "Plan Rows", format("{:.0f}", rows));
      }
      const size_t index = next_++;
      const executor::OperatorProfile* profile = profile_ && index < profile_->size() ? &(*profile_)[index] : nullptr;
      if (profile) measured(result, *profile);
      result.titled = result.properties.size();
      details(result, node);
      if (profile)
         for (const auto& [name, value] : profile->notes)
            text(result, name, value);
      for (const auto& child : node.children)
         result.plans.push_back(build(*child));
      for (const plan::CtePlan& cte : node.ctes()) {
         result.plans.push_back(build(*cte.plan));
         result.plans.back().subplan = "CTE " + cte.name;
      }
      return result;
   }

private:
   static void text(ExplainNode& node, std::string name, std::string value) {
      node.properties.push_back({std::move(name), Kind::Text, {std::move(value)}});
   }
   static void number(ExplainNode& node, std::string name, std::string value) {
      node.properties.push_back({std::move(name), Kind::Number, {std::move(value)}});
   }
   void measured(ExplainNode& node, const executor::OperatorProfile& profile) {
      const double millis = static_cast<double>(profile.nanos) / 1e6;
      const size_t kilobytes = (profile.memoryPeak + 1023) / 1024;
      number(node, "Actual Rows", std::to_string(profile.rows));
      if (!options_.timing()) {
         node.title += format(" (actual rows={})", profile.rows);
         return;
      }
      node.title += format(" (actual time={:.3f} ms rows={} memory={} kB)", millis, profile.rows, kilobytes);
      number(node, "Actual Total Time", format("{:.3f}", millis));
      number(node, "Peak Memory Usage", std::to_string(kilobytes));
   }
   std::string text(const sql::Expr& expr) const { return sql::toString(expr, plan_.columns); }
   /// Adds a property with the text of each item; none without items.
   template <class Items, class TextOf>
   void list(ExplainNode& node, const char* name, const Items& items, const TextOf& textOf) {
      if (items.empty()) return;
      ExplainProperty property{name, Kind::List, {}};
      for (const auto& item : items)
         property.values.push_back(textOf(item));
      node.properties.push_back(std::move(property));
   }
   /// The same for a conjunction, which is one text.
   template <class Items, class TextOf>
   void conjunction(ExplainNode& node, const char* name, const Items& items, const TextOf& textOf) {
      if (items.empty()) return;
      std::string all;
      for (const auto& item : items)
         all += (all.empty() ? "" : " AND ") + textOf(item);
      text(node, name, std::move(all));
   }
   void predicates(ExplainNode& node, const char* name, const std::vector<sql::ExprPtr>& predicates) {
      conjunction(node, name, predicates, [&](const sql::ExprPtr& expr) { return text(*expr); });
   }
   void sortKeys(ExplainNode& node, const std::vector<sql::SortKey>& keys) {
      list(node, "Sort Key", keys,
           [&](const sql::SortKey& key) { return text(*key.expr) + (key.descending ? " DESC" : ""); });
   }
   void files(ExplainNode& node, const plan::Scan& scan) {
      if (!scan.table.external) return;
      number(node, "Files", std::to_string(scan.table.external->files().size()));
      list(node, "Columns", scan.columns,
           [&](const plan::ScanColumn& column) { return plan_.columns[column.column].name; });
   }
   void details(ExplainNode& result, const plan::Node& node) {
      if (const auto* scan = node.getIf<plan::Scan>()) {
         files(result, *scan);
         if (scan->table.parts && !profile_) // a run tells which it has read
            text(result, "Partitions", sql::partsText(scan->table));
         predicates(result, "Filter", scan->predicates);
      } else if (const auto* filter = node.getIf<plan::Filter>()) {
         predicates(result, "Filter", filter->predicates);
      } else if (const auto* join = node.getIf<plan::HashJoin>()) {
         conjunction(result, "Join Cond", join->keys,
                     [&](const plan::JoinKey& key) { return "(" + text(*key.probe) + " = " + text(*key.build) + ")"; });
         predicates(result, "Join Filter", join->predicates);
      } else if (const auto* loop = node.getIf<plan::NestedLoopJoin>()) {
         predicates(result, "Filter", loop->predicates);
      } else if (const auto* aggregate = node.getIf<plan::Aggregate>()) {
         list(result, "Group Key", aggregate->keys, [&](const sql::ComputedColumn& key) { return text(*key.expr); });
      } else if (const auto* sort = node.getIf<plan::Sort>()) {
         sortKeys(result, sort->keys);
      } else if (const auto* top = node.getIf<plan::TopN>()) {
         sortKeys(result, top->keys);
      } else if (const auto* limit = node.getIf<plan::Limit>()) {
         sortKeys(result, limit->keys);
      }
      if (options_.verbose)
         list(result, "Output", node.output, [&](sql::ColumnId column) { return plan_.columns[column].name; });
   }

   const plan::Plan& plan_;
   const ExplainOptions& options_;
   const std::vector<executor::OperatorProfile>* profile_;
   size_t next_ = 0;
};

/// Settings that plans depend on and that are not as they are by default.
void addSettings(const SessionCore& core, ExplainDocument& document) {
   ExplainProperty changed{"Settings", Kind::Pairs, {}};
   for (const SettingInfo& info : settingTable()) {
      const std::string& value = core.settings.values()[info.index];
      if (!info.category.starts_with("Query Tuning") || value == info.initial) continue;
      changed.values.emplace_back(info.name);
      changed.values.push_back(displaySetting(info, value));
   }
   if (!changed.values.empty()) document.properties.push_back(std::move(changed));
}

/// Collects what is done with functions in PL/pgSQL while it lives.
class ProgramNotes {
public:
   explicit ProgramNotes(SessionCore& core) : core_(core) { core.programNotes = &notes; }
   ~ProgramNotes() { core_.programNotes = nullptr; }
   ProgramNotes(const ProgramNotes&) = delete;

   std::vector<std::pair<std::string, std::string>> notes; ///< a function, and what is done with it

private:
   SessionCore& core_;
};

/// Swallows the rows of an analysed query.
class NoRows final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch&) override {}
};

} // namespace

std::vector<ResultColumn> explainColumns(const ::ExplainStmt& statement) {
   ResultColumn column = textColumn("QUERY PLAN");
   // Bad options are refused when the statement runs.
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
      if (sql::textOf(option->defname) != "format" || !option->arg || !isNode(option->arg, T_String)) continue;
      const std::string_view format = sql::stringOf(option->arg);
      column.type.oid = format == "json" ? oid::json : format == "xml" ? oid::xml : oid::text;
   }
   return {std::move(column)};
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
   std::vector<std::pair<std::string, std::string>> functions;
   const auto make = [&] {
      AllocationMeter meter(core.database.governor->ledger());
      ProgramNotes programs(core);
      sql::BoundQuery query = bindUnderLocks(core, context.script, *inner, context.parameters);
      functions = std::move(programs.notes);
      if (query.hasRules()) throwNotSupported("EXPLAIN of a statement that rules rewrite");
      if (options.analyze) requirePopulated(core, query.relations);
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
   ExplainDocument document;
   const sql::ConstantNaming naming(core.format().types);
   document.plan = TreeBuilder(execution->plan(), options, options.analyze ? &execution->profile() : nullptr)
                       .build(*execution->plan().root);
   if (options.settings) addSettings(core, document);
   for (const auto& [name, what] : functions)
      if (options.verbose) document.properties.push_back({"Function", Kind::Text, {name + ": " + what}});
   const auto add = [&](const char* name, std::string value, const char* unit) {
      const bool isText = options.format == ExplainFormat::Text;
      document.properties.push_back({name, Kind::Number, {std::move(value) + (isText ? unit : "")}});
   };
   if (options.summary()) {
      add("Planning Time", format("{:.3f}", static_cast<double>(planned - start) / 1e6), " ms");
      if (options.analyze) {
         add("Peak Memory", std::to_string((execution->memoryPeak() + 1023) / 1024), " kB");
         add("Execution Time", format("{:.3f}", static_cast<double>(ended - planned) / 1e6), " ms");
      }
   }
   std::vector<std::vector<std::string>> rows;
   for (std::string& line : writeExplain(document, options.format))
      rows.push_back({std::move(line)});
   emitTextRows(context.sink, explainColumns(statement), rows);
   return "EXPLAIN";
}

} // namespace ouzel::engine
