#include "sql/plan/plan.hpp"

#include "catalog/builtin/builtin.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::sql::plan {

namespace {

const char* joinWord(JoinKind kind) {
   switch (kind) {
   case JoinKind::Inner: return "";
   case JoinKind::Left: return "Left ";
   case JoinKind::Right: return "Right ";
   case JoinKind::Full: return "Full ";
   case JoinKind::Semi: return "Semi ";
   case JoinKind::Anti: return "Anti ";
   case JoinKind::Mark: return "Mark ";
   case JoinKind::Single: return "Single ";
   case JoinKind::RightSemi: return "Right Semi ";
   case JoinKind::RightAnti: return "Right Anti ";
   }
   return "";
}

std::string onTable(const char* what, const TableRef& table) {
   std::string text = std::string(what) + " on " + table.name;
   if (!table.alias.empty() && table.alias != table.name) text += " " + table.alias;
   return text;
}

} // namespace

std::string nodeName(const Node& node) {
   switch (node.kind) {
   case NodeKind::TableScan: return onTable("Table Scan", node.table);
   case NodeKind::VirtualScan:
      if (node.table.external) return std::string(node.table.external->formatName()) + " Scan on " + node.table.name;
      return onTable("Virtual Scan", node.table);
   case NodeKind::Values: return node.rows.size() == 1 && node.rows[0].empty() ? "Result" : "Values Scan";
   case NodeKind::TableFunction:
      return "Function Scan on " + (node.function ? std::string(node.function->name) : std::string("?"));
   case NodeKind::ProjectSet: return "Project Set";
   case NodeKind::Filter: return "Filter";
   case NodeKind::Project: return "Project";
   case NodeKind::HashJoin: return std::string("Hash ") + joinWord(node.joinKind) + "Join";
   case NodeKind::NestedLoopJoin: return std::string("Nested Loop ") + joinWord(node.joinKind) + "Join";
   case NodeKind::Aggregate:
      return node.aggregates.empty() && !node.keys.empty() ? "Distinct"
             : node.keys.empty()                           ? "Aggregate"
                                                           : "Hash Aggregate";
   case NodeKind::Sort: return "Sort";
   case NodeKind::TopN: return "Top N";
   case NodeKind::Limit: return "Limit";
   case NodeKind::Window: return "Window";
   case NodeKind::DistinctOn: return "Unique";
   case NodeKind::Append: return "Append";
   case NodeKind::Materialize: return "With";
   case NodeKind::CteScan: return "CTE Scan";
   case NodeKind::RecursiveUnion: return "Recursive Union";
   case NodeKind::RecursiveScan: return "Work Table Scan";
   case NodeKind::LockRows: return "Lock Rows";
   case NodeKind::Insert: return onTable("Insert", node.dml->table);
   case NodeKind::Update: return onTable("Update", node.dml->table);
   case NodeKind::Delete: return onTable("Delete", node.dml->table);
   case NodeKind::Merge: return onTable("Merge", node.dml->table);
   }
   return "?";
}

} // namespace ouzel::sql::plan
