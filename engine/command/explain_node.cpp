#include "engine/command/explain_node.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "catalog/builtin/builtin.hpp"
#include "common/format.hpp"
#include "common/thread/stack.hpp"
#include "engine/command/explain_expression.hpp"
#include "io/format/external_table.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/plan/remote_query.hpp"

namespace ouzel::engine {

namespace plan = sql::plan;

namespace {

using Kind = ExplainProperty::Kind;

const char* joinType(sql::JoinKind kind) {
   switch (kind) {
   case sql::JoinKind::Inner: return "Inner";
   case sql::JoinKind::Left: return "Left";
   case sql::JoinKind::Right: return "Right";
   case sql::JoinKind::Full: return "Full";
   case sql::JoinKind::Semi: return "Semi";
   case sql::JoinKind::Anti: return "Anti";
   case sql::JoinKind::Mark: return "Mark";
   case sql::JoinKind::Single: return "Single";
   case sql::JoinKind::RightSemi: return "Right Semi";
   case sql::JoinKind::RightAnti: return "Right Anti";
   }
   return "Inner";
}

/// Bytes of a value as PostgreSQL guesses them without statistics.
int widthOf(const SqlType& type) {
   constexpr int unknown = 32;
   const catalog::TypeInfo* info = catalog::builtins().type(type.oid);
   if (isEnumType(type.oid)) return 4;
   if (info && info->length > 0) return info->length;
   const bool hasLength = type.oid == oid::bpchar || type.oid == oid::varchar;
   if (!hasLength || type.typmod < 4) return unknown;
   const int most = type.typmod - 4;
   if (type.oid == oid::bpchar || most <= unknown) return most;
   return most < 1000 ? unknown + (most - unknown) / 2 : unknown + (1000 - unknown) / 2;
}

/// Whether the operator gives its first row after it has read all rows of its input.
bool isBlocking(const plan::Node& node) {
   switch (node.kind) {
   case plan::NodeKind::Aggregate:
   case plan::NodeKind::Sort:
   case plan::NodeKind::TopN:
   case plan::NodeKind::Window:
   case plan::NodeKind::RecursiveUnion: return true;
   default: return false;
   }
}

double startupCost(const plan::Node& node) {
   checkStack();
   if (node.children.empty()) return 0;
   double cost = isBlocking(node) ? node.children[0]->estimatedCost : startupCost(*node.children[0]);
   if (node.getIf<plan::Join>() && node.children.size() > 1) cost += node.children[1]->estimatedCost;
   return std::min(cost, node.estimatedCost);
}

/// Makes the document; visits operators in the order of QueryExecution::profile().
class TreeBuilder {
public:
   TreeBuilder(SessionCore& core, const plan::Plan& plan, const ExplainOptions& options,
               const std::vector<executor::OperatorProfile>* profile)
      : plan_(plan), options_(options), profile_(profile), expressions_(core, plan, options.verbose) {
      if (profile)
         for (const executor::OperatorProfile& one : *profile)
            allNanos_ += one.nanos;
   }

   ExplainNode build(const plan::Node& node) {
      uint64_t nanos = 0;
      return build(node, nanos);
   }

private:
   /// Adds the time of the operator and of those below it to `nanos`.
   ExplainNode build(const plan::Node& node, uint64_t& nanos) {
      checkStack();
      for (const plan::CtePlan& cte : node.ctes())
         names_[cte.id] = cte.name;
      ExplainNode result;
      name(result, node);
      const size_t index = next_++;
      const executor::OperatorProfile* profile = profile_ && index < profile_->size() ? &(*profile_)[index] : nullptr;
      std::vector<ExplainNode> plans;
      uint64_t inclusive = profile ? profile->nanos : 0;
      for (const auto& child : node.children)
         plans.push_back(build(*child, inclusive));
      for (const plan::CtePlan& cte : node.ctes()) {
         plans.push_back(build(*cte.plan, inclusive));
         plans.back().subplan = "CTE " + cte.name;
      }
      if (options_.costs) costs(result, node);
      if (profile) measured(result, *profile, inclusive);
      result.titled = result.properties.size();
      if (profile) used(result, *profile);
      details(result, node);
      if (profile)
         for (const auto& [name, value] : profile->notes)
            text(result, name, value);
      result.plans = std::move(plans);
      nanos += inclusive;
      return result;
   }

   static void text(ExplainNode& node, std::string name, std::string value) {
      node.properties.push_back({std::move(name), Kind::Text, {std::move(value)}});
   }
   static void number(ExplainNode& node, std::string name, std::string value) {
      node.properties.push_back({std::move(name), Kind::Number, {std::move(value)}});
   }

   // ---- names ----

   /// `title`: of the text; empty: the type.
   static void type(ExplainNode& result, const char* type, std::string title = {}) {
      result.title = title.empty() ? std::string(type) : std::move(title);
      text(result, "Node Type", type);
   }
   void onTable(ExplainNode& result, const char* type, const std::string& title, const sql::TableRef& table) {
      const std::string name = catalog::quoteIdentifier(table.name),
                        alias = catalog::quoteIdentifier(table.alias.empty() ? table.name : table.alias);
      const bool showsSchema = options_.verbose && !table.schema.empty();
      TreeBuilder::type(result, type,
                        title + " on " + (showsSchema ? catalog::quoteIdentifier(table.schema) + "." : "") + name +
                            (alias == name ? "" : " " + alias));
      text(result, "Relation Name", table.name);
      if (showsSchema) text(result, "Schema", table.schema);
      text(result, "Alias", table.alias.empty() ? table.name : table.alias);
   }
   void modifies(ExplainNode& result, const char* operation, const plan::Node& node) {
      onTable(result, "ModifyTable", operation, node.as<plan::Write>().dml->table);
      text(result, "Operation", operation);
   }
   void join(ExplainNode& result, const char* word, const plan::Node& node) {
      const std::string kind = joinType(node.as<plan::Join>().kind);
      const bool isHash = node.kind == plan::NodeKind::HashJoin;
      const std::string shown = kind == "Inner" ? "" : kind + " ";
      type(result, isHash ? "Hash Join" : "Nested Loop",
           isHash || !shown.empty() ? std::string(word) + " " + shown + "Join" : std::string(word));
      text(result, "Join Type", kind);
   }
   std::string cteName(uint32_t cte) const {
      const auto found = names_.find(cte);
      return found == names_.end() ? "" : " on " + catalog::quoteIdentifier(found->second);
   }
   void name(ExplainNode& result, const plan::Node& node) {
      switch (node.kind) {
      case plan::NodeKind::TableScan: {
         const auto& scan = node.as<plan::TableScan>();
         const char* kind = scan.looksUp() ? "Index Scan" : "Seq Scan";
         return onTable(result, kind, kind, scan.table);
      }
      case plan::NodeKind::VirtualScan: {
         const sql::TableRef& table = node.as<plan::VirtualScan>().table;
         if (!table.external) return onTable(result, "Seq Scan", "Seq Scan", table);
         return onTable(result, "Foreign Scan", std::string(table.external->formatName()) + " Scan", table);
      }
      case plan::NodeKind::Values: {
         const auto& rows = node.as<plan::Values>().rows;
         return type(result, rows.size() == 1 && rows[0].empty() ? "Result" : "Values Scan");
      }
      case plan::NodeKind::TableFunction: {
         const catalog::FunctionInfo* function = node.as<plan::TableFunction>().function;
         const std::string called = function ? std::string(function->name) : "?";
         type(result, "Function Scan", "Function Scan on " + called);
         return text(result, "Function Name", called);
      }
      case plan::NodeKind::ProjectSet: return type(result, "ProjectSet");
      case plan::NodeKind::Filter: return type(result, "Filter");
      case plan::NodeKind::Project: return type(result, "Project");
      case plan::NodeKind::HashJoin: return join(result, "Hash", node);
      case plan::NodeKind::NestedLoopJoin: return join(result, "Nested Loop", node);
      case plan::NodeKind::Aggregate: {
         const bool isPlain = node.as<plan::Aggregate>().keys.empty();
         type(result, "Aggregate", isPlain ? "Aggregate" : "HashAggregate");
         return text(result, "Strategy", isPlain ? "Plain" : "Hashed");
      }
      case plan::NodeKind::Sort: return type(result, "Sort");
      case plan::NodeKind::TopN: return type(result, "Sort", "Top-N Sort");
      case plan::NodeKind::Limit: return type(result, "Limit");
      case plan::NodeKind::Window: return type(result, "WindowAgg");
      case plan::NodeKind::DistinctOn: return type(result, "Unique");
      case plan::NodeKind::Append: return type(result, "Append");
      case plan::NodeKind::Materialize: return type(result, "With");
      case plan::NodeKind::CteScan: return type(result, "CTE Scan", "CTE Scan" + cteName(node.as<plan::CteScan>().cte));
      case plan::NodeKind::RecursiveUnion: return type(result, "Recursive Union");
      case plan::NodeKind::RecursiveScan:
         return type(result, "WorkTable Scan", "WorkTable Scan" + cteName(node.as<plan::RecursiveScan>().cte));
      case plan::NodeKind::LockRows: return type(result, "LockRows");
      case plan::NodeKind::Insert: return modifies(result, "Insert", node);
      case plan::NodeKind::Update: return modifies(result, "Update", node);
      case plan::NodeKind::Delete: return modifies(result, "Delete", node);
      case plan::NodeKind::Merge: return modifies(result, "Merge", node);
      }
   }

   // ---- numbers ----

   void costs(ExplainNode& result, const plan::Node& node) {
      const double rows = std::max(1.0, std::round(node.estimatedRows));
      const double startup = startupCost(node);
      int64_t width = 0;
      for (const sql::ColumnId column : node.output)
         width += widthOf(plan_.columns[column].type);
      result.title += format("  (cost={:.2f}..{:.2f} rows={:.0f} width={})", startup, node.estimatedCost, rows, width);
      number(result, "Startup Cost", format("{:.2f}", startup));
      number(result, "Total Cost", format("{:.2f}", node.estimatedCost));
      number(result, "Plan Rows", format("{:.0f}", rows));
      number(result, "Plan Width", std::to_string(width));
   }
   /// `nanos`: of the operator and all below it, summed over the workers.
   void measured(ExplainNode& result, const executor::OperatorProfile& profile, uint64_t nanos) {
      const double millis = static_cast<double>(nanos) / 1e6;
      if (options_.timing()) {
         result.title += format(" (actual time=0.000..{:.3f} rows={} loops=1)", millis, profile.rows);
         number(result, "Actual Startup Time", "0.000");
         number(result, "Actual Total Time", format("{:.3f}", millis));
      } else {
         result.title += format(" (actual rows={} loops=1)", profile.rows);
      }
      number(result, "Actual Rows", std::to_string(profile.rows));
      number(result, "Actual Loops", "1");
   }
   void used(ExplainNode& result, const executor::OperatorProfile& profile) {
      const size_t kilobytes = (profile.memoryPeak + 1023) / 1024;
      const bool isText = options_.format == ExplainFormat::Text;
      if (options_.timing()) {
         const double millis = static_cast<double>(profile.nanos) / 1e6;
         const double share =
             allNanos_ == 0 ? 0 : 100 * static_cast<double>(profile.nanos) / static_cast<double>(allNanos_);
         if (isText) {
            number(result, "Own Time", format("{:.3f} ms ({:.0f} %)  Memory: {} kB", millis, share, kilobytes));
         } else {
            number(result, "Own Time", format("{:.3f}", millis));
            number(result, "Own Share", format("{:.1f}", share));
         }
      }
      if (!isText) number(result, "Peak Memory Usage", std::to_string(kilobytes));
   }

   // ---- details ----

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
      text(node, name, items.size() > 1 ? "(" + all + ")" : std::move(all));
   }
   void predicates(ExplainNode& node, const char* name, const std::vector<sql::ExprPtr>& predicates) {
      conjunction(node, name, predicates, [&](const sql::ExprPtr& expr) { return expressions_.text(*expr); });
   }
   void sortKeys(ExplainNode& node, const std::vector<sql::SortKey>& keys) {
      list(node, "Sort Key", keys, [&](const sql::SortKey& key) { return expressions_.text(key); });
   }
   void files(ExplainNode& node, const plan::Scan& scan) {
      if (!scan.table.external || scan.table.external->remote()) return;
      number(node, "Files", std::to_string(scan.table.external->files().size()));
      list(node, "Columns", scan.columns,
           [&](const plan::ScanColumn& column) { return plan_.columns[column.column].name; });
   }
   void details(ExplainNode& result, const plan::Node& node) {
      if (options_.verbose)
         list(result, "Output", node.output, [&](sql::ColumnId column) { return expressions_.text(column); });
      if (const auto* scan = node.getIf<plan::Scan>()) {
         files(result, *scan);
         if (scan->table.parts && !profile_) // a run tells which it has read
            text(result, "Partitions", sql::partsText(scan->table));
         predicates(result, "Filter", scan->predicates);
         const auto* computed = node.getIf<plan::VirtualScan>();
         if (options_.verbose && computed && scan->table.external && scan->table.external->remote())
            text(result, "Remote SQL", plan::remoteQuery(*computed));
      } else if (const auto* filter = node.getIf<plan::Filter>()) {
         predicates(result, "Filter", filter->predicates);
      } else if (const auto* join = node.getIf<plan::HashJoin>()) {
         conjunction(result, "Hash Cond", join->keys, [&](const plan::JoinKey& key) {
            return "(" + expressions_.text(*key.probe) + (key.nullsEqual ? " IS NOT DISTINCT FROM " : " = ") +
                   expressions_.text(*key.build) + ")";
         });
         predicates(result, "Join Filter", join->predicates);
      } else if (const auto* loop = node.getIf<plan::NestedLoopJoin>()) {
         predicates(result, "Join Filter", loop->predicates);
      } else if (const auto* aggregate = node.getIf<plan::Aggregate>()) {
         list(result, "Group Key", aggregate->keys,
              [&](const sql::ComputedColumn& key) { return expressions_.text(*key.expr); });
      } else if (const auto* sort = node.getIf<plan::Sort>()) {
         sortKeys(result, sort->keys);
      } else if (const auto* window = node.getIf<plan::Window>(); window && window->rowsWanted > 0) {
         const std::string call = expressions_.text(window->calls[window->ranking].column);
         text(result, "Run Condition", "(" + call + " <= " + std::to_string(window->rowsWanted) + ")");
      } else if (const auto* top = node.getIf<plan::TopN>()) {
         sortKeys(result, top->keys);
      } else if (const auto* limit = node.getIf<plan::Limit>()) {
         sortKeys(result, limit->keys);
      }
   }

   const plan::Plan& plan_;
   const ExplainOptions& options_;
   const std::vector<executor::OperatorProfile>* profile_;
   const ExplainExpressions expressions_;
   uint64_t allNanos_ = 0;
   std::map<uint32_t, std::string> names_; ///< of CTEs
   size_t next_ = 0;
};

} // namespace

ExplainNode explainPlan(SessionCore& core, const plan::Plan& plan, const ExplainOptions& options,
                        const std::vector<executor::OperatorProfile>* profile) {
   return TreeBuilder(core, plan, options, profile).build(*plan.root);
}

} // namespace ouzel::engine
