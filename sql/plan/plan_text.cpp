#include <cmath>

#include "common/thread/stack.hpp"
#include "sql/plan/plan.hpp"

// A plan as indented text, for tests and debugging; engine/ writes the text of EXPLAIN.

namespace ouzel::sql::plan {

namespace {

class Printer {
public:
   explicit Printer(const Plan& plan) : columns_(plan.columns) {}

   void print(const Node& node, uint32_t depth, std::string& out) const {
      checkStack();
      const std::string indent(depth * 2, ' ');
      out +=
          indent + nodeName(node) + " rows=" + std::to_string(std::llround(node.estimatedRows)) + details(node) + "\n";
      for (const CtePlan& cte : node.ctes()) {
         out += indent + "  cte " + std::to_string(cte.id) + " " + cte.name + "\n";
         print(*cte.plan, depth + 2, out);
      }
      for (const NodePtr& child : node.children)
         print(*child, depth + 1, out);
   }

private:
   std::string details(const Node& node) const {
      std::string out;
      node.visit([&](const auto& op) {
         forEachField(op, [&](const auto& field, const auto& value) {
            if (const std::string shown = text(value); !shown.empty()) out += " " + (field.name + ("=" + shown));
         });
      });
      return out;
   }

   // The text of a field's value; empty: it is not shown.
   std::string text(const ExprPtr& expr) const { return expr ? toString(*expr, columns_) : ""; }
   std::string text(ColumnId column) const {
      if (column == noColumn) return "";
      return columns_[column].name + "#" + std::to_string(static_cast<uint32_t>(column));
   }
   std::string text(const ScanColumn& scanned) const { return text(scanned.column); }
   std::string text(const ScanPath& path) const { return text(path.column); }
   std::string text(const ComputedColumn& computed) const {
      return text(computed.column) + " := " + text(computed.expr);
   }
   std::string text(const JoinKey& key) const {
      return text(key.probe) + (key.nullsEqual ? " is " : " = ") + text(key.build);
   }
   std::string text(const SortKey& key) const { return text(key.expr) + (key.descending ? " desc" : ""); }
   std::string text(const AggregateCall& call) const {
      std::string out = text(call.column) + "(";
      for (const ExprPtr& arg : call.args)
         out += text(arg) + ":" + physical(arg->repr);
      return out + "):" + physical(columns_[call.column].repr);
   }
   std::string text(const WindowCall& call) const { return text(call.column) + text(call.args); }
   std::string text(const WindowSpec& spec) const { return text(spec.partitionBy) + text(spec.orderBy); }
   std::string text(const RuntimeFilterUse& use) const {
      return std::to_string(use.filter) + " on " + text(use.column);
   }
   std::string text(const RuntimeFilterSource& source) const { return std::to_string(source.filter); }
   std::string text(bool isSet) const { return isSet ? "true" : ""; }
   template <class T>
   std::string text(const std::vector<T>& list) const {
      std::string out;
      for (const T& one : list)
         if (const std::string shown = text(one); !shown.empty()) out += (out.empty() ? "(" : ", ") + shown;
      return out.empty() ? out : out + ")";
   }
   template <class T>
   std::string text(const T&) const {
      return "";
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
