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

/// The base T of the node's operator; null: it has none.
template <class T>
const T* baseOf(const Node& node) {
   return node.visit([](const auto& op) -> const T* {
      if constexpr (std::is_base_of_v<T, std::remove_cvref_t<decltype(op)>>) return &op;
      return nullptr;
   });
}

} // namespace

const Scan* Node::base(const Scan*) const {
   return baseOf<Scan>(*this);
}
const Computing* Node::base(const Computing*) const {
   return baseOf<Computing>(*this);
}
const Join* Node::base(const Join*) const {
   return baseOf<Join>(*this);
}
const Write* Node::base(const Write*) const {
   return baseOf<Write>(*this);
}

Operator::Operator(Operator&& other) noexcept = default;
Operator::~Operator() = default;

Node::Node(Operator&& op) : kind(static_cast<NodeKind>(op.index())), operator_(std::move(op)) {}
Node::~Node() = default;

std::string nodeName(const Node& node) {
   switch (node.kind) {
   case NodeKind::TableScan: return onTable("Table Scan", node.as<TableScan>().table);
   case NodeKind::VirtualScan: {
      const TableRef& table = node.as<VirtualScan>().table;
      if (table.external) return std::string(table.external->formatName()) + " Scan on " + table.name;
      return onTable("Virtual Scan", table);
   }
   case NodeKind::Values: {
      const auto& rows = node.as<Values>().rows;
      return rows.size() == 1 && rows[0].empty() ? "Result" : "Values Scan";
   }
   case NodeKind::TableFunction: {
      const catalog::FunctionInfo* function = node.as<TableFunction>().function;
      return "Function Scan on " + (function ? std::string(function->name) : std::string("?"));
   }
   case NodeKind::ProjectSet: return "Project Set";
   case NodeKind::Filter: return "Filter";
   case NodeKind::Project: return "Project";
   case NodeKind::HashJoin: return std::string("Hash ") + joinWord(node.as<Join>().kind) + "Join";
   case NodeKind::NestedLoopJoin: return std::string("Nested Loop ") + joinWord(node.as<Join>().kind) + "Join";
   case NodeKind::Aggregate: {
      const auto& aggregate = node.as<Aggregate>();
      if (aggregate.keys.empty()) return "Aggregate";
      return aggregate.aggregates.empty() ? "Distinct" : "Hash Aggregate";
   }
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
   case NodeKind::Insert: return onTable("Insert", node.as<Write>().dml->table);
   case NodeKind::Update: return onTable("Update", node.as<Write>().dml->table);
   case NodeKind::Delete: return onTable("Delete", node.as<Write>().dml->table);
   case NodeKind::Merge: return onTable("Merge", node.as<Write>().dml->table);
   }
   return "?";
}

} // namespace ouzel::sql::plan
