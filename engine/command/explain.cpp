#include <algorithm>
#include <optional>

#include "common/env/clock.hpp"
#include "common/format.hpp"
#include "engine/command/command.hpp"
#include "engine/command/explain_node.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/parse/node_access.hpp"

// EXPLAIN and EXPLAIN ANALYZE: options and the whole document. explain_node.cpp describes the plan,
// explain_document.cpp writes the text.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

using Kind = ExplainProperty::Kind;

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

namespace {

/// What EXPLAIN has found out.
struct Report {
   ExplainNode plan;
   std::vector<std::pair<std::string, std::string>> functions; ///< of a function, what is done with it
   int64_t start = 0, planned = 0, ended = 0;
   size_t memoryPeak = 0;
};

std::string emitReport(CommandContext& context, const ::ExplainStmt& statement, const ExplainOptions& options,
                       Report report) {
   ExplainDocument document;
   document.plan = std::move(report.plan);
   if (options.settings) addSettings(context.core, document);
   for (const auto& [name, what] : report.functions)
      if (options.verbose) document.properties.push_back({"Function", Kind::Text, {name + ": " + what}});
   const auto add = [&](const char* name, std::string value, const char* unit) {
      const bool isText = options.format == ExplainFormat::Text;
      document.properties.push_back({name, Kind::Number, {std::move(value) + (isText ? unit : "")}});
   };
   if (options.summary()) {
      add("Planning Time", format("{:.3f}", static_cast<double>(report.planned - report.start) / 1e6), " ms");
      if (options.analyze) {
         add("Peak Memory", std::to_string((report.memoryPeak + 1023) / 1024), " kB");
         add("Execution Time", format("{:.3f}", static_cast<double>(report.ended - report.planned) / 1e6), " ms");
      }
   }
   std::vector<std::vector<std::string>> rows;
   for (std::string& line : writeExplain(document, options.format))
      rows.push_back({std::move(line)});
   emitTextRows(context.sink, explainColumns(statement), rows);
   return "EXPLAIN";
}

std::string explainQuery(CommandContext& context, const ::ExplainStmt& statement, const ExplainOptions& options,
                         const ::Node& inner, bool runs) {
   SessionCore& core = context.core;
   Report report;
   report.start = steadyNanos();
   const auto make = [&] {
      AllocationMeter meter(core.database.governor->ledger());
      ProgramNotes programs(core);
      sql::BoundQuery query = bindUnderLocks(core, context.script, inner, context.parameters);
      report.functions = std::move(programs.notes);
      if (query.hasRules()) throwNotSupported("EXPLAIN of a statement that rules rewrite");
      if (runs) requirePopulated(core, query.relations);
      if (runs && !changesOnlyTemporary(core, query)) requireWritable(core, "EXPLAIN");
      auto made = std::make_unique<QueryExecution>(core, std::move(query), runs);
      made->keep(meter.settle());
      report.planned = steadyNanos();
      return made;
   };
   const std::unique_ptr<QueryExecution> execution = runs ? runUntilWritten(core, make) : make();
   if (runs) {
      NoRows nowhere;
      execution->run(0, &nowhere);
      finishQuery(core, *execution);
   }
   report.ended = steadyNanos();
   report.memoryPeak = execution->memoryPeak();
   report.plan = explainPlan(core, execution->plan(), options, runs ? &execution->profile() : nullptr);
   return emitReport(context, statement, options, std::move(report));
}

/// The plan of CREATE TABLE AS is that of its query. With ANALYZE the table is made.
std::string explainCreation(CommandContext& context, const ::ExplainStmt& statement, const ExplainOptions& options,
                            const ::CreateTableAsStmt& creation, const RelationMaker& relations) {
   SessionCore& core = context.core;
   refuseInto(context.script, *creation.query);
   if (relations.skips(context, creation)) {
      emitTextRows(context.sink, explainColumns(statement), {});
      return "EXPLAIN";
   }
   if (!options.analyze) return explainQuery(context, statement, options, *creation.query, false);
   if (creation.into->skipData) { // the query is planned, but does not run
      relations.create(context, creation, nullptr);
      return explainQuery(context, statement, options, *creation.query, false);
   }
   Report report;
   ProgramNotes programs(core);
   report.start = steadyNanos();
   relations.create(context, creation, [&](QueryExecution& execution, bool hasRun) {
      (hasRun ? report.ended : report.planned) = steadyNanos();
      if (!hasRun) return;
      report.memoryPeak = execution.memoryPeak();
      ExplainNode insert = explainPlan(core, execution.plan(), options, &execution.profile());
      report.plan = std::move(insert.plans.front());
   });
   report.functions = std::move(programs.notes);
   return emitReport(context, statement, options, std::move(report));
}

} // namespace

std::string explain(CommandContext& context, const ::ExplainStmt& statement, const RelationMaker& relations) {
   const ExplainOptions options = parseOptions(context, statement.options);
   if (isNode(statement.query, T_CreateTableAsStmt))
      return explainCreation(context, statement, options, *as<::CreateTableAsStmt>(statement.query), relations);
   if (SelectInto::is(*statement.query)) {
      const SelectInto creation(*statement.query);
      return explainCreation(context, statement, options, creation.statement(), relations);
   }
   if (!sql::isBindable(*statement.query)) throwNotSupported("EXPLAIN of this statement");
   return explainQuery(context, statement, options, *statement.query, options.analyze);
}

} // namespace ouzel::engine
