#include <cmath>

#include "sql/plan/plan.hpp"

// A plan as indented text, for tests and debugging; engine/ writes the text of EXPLAIN.

namespace ouzel::sql::plan {

namespace {

class Printer {
public:
   explicit Printer(const Plan& plan) : columns_(plan.columns) {}

   void print(const Node& node, uint32_t depth, std::string& out) const {
      const std::string indent(depth * 2, ' ');
      out +=
          indent + nodeName(node) + " rows=" + std::to_string(std::llround(node.estimatedRows)) + details(node) + "\n";
      for (const CtePlan& cte : node.ctes) {
         out += indent + "  cte " + std::to_string(cte.id) + " " + cte.name + "\n";
         print(*cte.plan, depth + 2, out);
      }
      for (const NodePtr& child : node.children)
         print(*child, depth + 1, out);
   }

private:
   std::string name(ColumnId column) const {
      return columns_[column].name + "#" + std::to_string(static_cast<uint32_t>(column));
   }
   std::string text(const Expr& expr) const { return toString(expr, columns_); }

   std::string details(const Node& node) const {
      std::string out;
      for (const JoinKey& key : node.joinKeys)
         out += " key(" + text(*key.probe) + (key.nullsEqual ? " is " : " = ") + text(*key.build) + ")";
      if (node.nullAware) out += " null-aware";
      for (const ExprPtr& predicate : node.predicates)
         out += " if " + text(*predicate);
      for (const RuntimeFilterSource& source : node.runtimeFilterSources)
         out += " filter" + std::to_string(source.filter) + "->";
      for (const RuntimeFilterUse& use : node.runtimeFilters)
         out += " ->filter" + std::to_string(use.filter) + "(" + name(use.column) + ")";
      for (const ComputedColumn& computed : node.computed)
         out += " " + name(computed.column) + " := " + text(*computed.expr);
      for (const ComputedColumn& key : node.keys)
         out += " by " + name(key.column) + " := " + text(*key.expr);
      for (const AggregateCall& call : node.aggregates) {
         out += " " + name(call.column) + "(";
         for (const ExprPtr& arg : call.args)
            out += text(*arg) + ":" + physical(arg->repr);
         out += "):" + physical(columns_[call.column].repr);
      }
      for (const SortKey& key : node.sortKeys)
         out += " order " + text(*key.expr) + (key.descending ? " desc" : "");
      if (node.limit) out += " limit " + text(*node.limit);
      if (node.offset) out += " offset " + text(*node.offset);
      return out;
   }

   static std::string physical(Representation repr) {
      static const char* const names[] = {"bool", "i16", "i32",      "i64",     "i128",
                                          "f32",  "f64", "interval", "decimal", "string"};
      return names[static_cast<int>(repr.physical)] + (repr.scale ? "/" + std::to_string(repr.scale) : std::string());
   }

   const ColumnTable& columns_;
};

} // namespace

std::string toString(const Plan& plan) {
   std::string out;
   Printer(plan).print(*plan.root, 0, out);
   return out;
}

} // namespace ouzel::sql::plan
