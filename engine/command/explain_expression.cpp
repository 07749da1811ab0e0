#include "engine/command/explain_expression.hpp"

#include <unordered_set>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/thread/stack.hpp"
#include "common/type/text_codec.hpp"
#include "sql/algebra/columns.hpp"

namespace ouzel::engine {

using sql::ColumnId;
using sql::Expr;
using sql::ExprKind;
namespace plan = sql::plan;
namespace scalar = sql::scalar;

namespace {

constexpr uint32_t depthMax = 12; ///< of columns that are shown as what computes them
constexpr size_t originMax = 200; ///< bytes of such a text

const char* const compareNames[] = {"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"};

std::string nameOf(sql::CompareOp op) {
   return compareNames[static_cast<size_t>(op)];
}

std::string quoted(std::string_view text) {
   std::string out = "'";
   for (const char c : text) {
      if (c == '\'') out += '\'';
      out += c;
   }
   return out + "'";
}

/// The operator that calls the function; null: none does.
const catalog::OperatorInfo* operatorOf(const catalog::FunctionInfo& function) {
   static const auto operators = [] {
      std::unordered_map<Oid, const catalog::OperatorInfo*> map;
      for (const catalog::OperatorInfo& one : catalog::builtins().operators())
         map.emplace(one.function, &one);
      return map;
   }();
   const auto found = operators.find(function.oid);
   if (found == operators.end() || function.argCount() != (found->second->isPrefix() ? 1u : 2u)) return nullptr;
   return found->second;
}

bool isCastFunction(const catalog::FunctionInfo& function) {
   static const auto functions = [] {
      std::unordered_set<Oid> set;
      for (const catalog::CastInfo& one : catalog::builtins().casts())
         if (one.function != invalidOid) set.insert(one.function);
      return set;
   }();
   return functions.contains(function.oid);
}

} // namespace

ExplainExpressions::ExplainExpressions(SessionCore& core, const plan::Plan& plan, bool isVerbose)
   : core_(core), columns_(plan.columns), isVerbose_(isVerbose) {
   collect(*plan.root);
}

void ExplainExpressions::collect(const plan::Node& node) {
   checkStack();
   const auto note = [&](ColumnId column, Origin origin) { origins_[static_cast<uint32_t>(column)] = origin; };
   if (const auto* scan = node.getIf<plan::Scan>()) {
      ++scans_;
      for (const plan::ScanColumn& column : scan->columns)
         note(column.column, {.scan = scan});
      for (const plan::ScanPath& path : scan->paths)
         note(path.column, {.scan = scan, .isPath = true});
   } else if (const auto* computing = node.getIf<plan::Computing>()) {
      for (const sql::ComputedColumn& computed : computing->computed)
         note(computed.column, {.expr = computed.expr.get()});
   } else if (const auto* aggregate = node.getIf<plan::Aggregate>()) {
      for (const sql::ComputedColumn& key : aggregate->keys)
         note(key.column, {.expr = key.expr.get()});
      for (const sql::AggregateCall& call : aggregate->aggregates)
         note(call.column, {.aggregate = &call});
   } else if (const auto* window = node.getIf<plan::Window>()) {
      for (const sql::WindowCall& call : window->calls)
         note(call.column, {.window = &call});
   }
   for (const plan::NodePtr& child : node.children)
      collect(*child);
   for (const plan::CtePlan& cte : node.ctes())
      collect(*cte.plan);
}

std::string ExplainExpressions::text(const sql::SortKey& key) const {
   std::string out = text(*key.expr) + (key.descending ? " DESC" : "");
   if (key.nullsFirst != key.descending) out += key.nullsFirst ? " NULLS FIRST" : " NULLS LAST";
   return out;
}

std::string ExplainExpressions::name(ColumnId column) const {
   const std::string& name = columns_[column].name;
   return name.empty() ? "?" : catalog::quoteIdentifier(name);
}

std::string ExplainExpressions::text(ColumnId column, uint32_t depth) const {
   const auto found = origins_.find(static_cast<uint32_t>(column));
   if (found == origins_.end()) return name(column);
   const Origin& origin = found->second;
   if (origin.scan) {
      const sql::TableRef& table = origin.scan->table;
      if (origin.isPath) return "(" + columns_[column].name + ")";
      if (scans_ < 2 && !isVerbose_) return name(column);
      return catalog::quoteIdentifier(table.alias.empty() ? table.name : table.alias) + "." + name(column);
   }
   if (depth >= depthMax) return name(column);
   std::string out;
   if (origin.expr) {
      if (origin.expr->kind == ExprKind::Column) return text(sql::columnOf(*origin.expr), depth + 1);
      out = text(*origin.expr, depth + 1);
   } else {
      const auto shown = [&](const auto& call) {
         const char* distinct = call.distinct ? "DISTINCT " : "";
         return std::string(call.function ? call.function->name : "?") + "(" + distinct +
                (call.star || call.args.empty() ? (call.star ? "*" : "") : list(call.args, depth + 1)) + ")" +
                (call.filter ? " FILTER (WHERE " + text(*call.filter, depth + 1) + ")" : "");
      };
      out = origin.aggregate ? shown(*origin.aggregate) : shown(*origin.window) + " OVER (?)";
   }
   if (out.size() > originMax) return name(column);
   return out.starts_with('(') ? out : "(" + out + ")";
}

std::string ExplainExpressions::list(const std::vector<sql::ExprPtr>& exprs, uint32_t depth, const char* separator,
                                     size_t first) const {
   std::string out;
   for (size_t i = first; i < exprs.size(); ++i)
      out += (i == first ? "" : separator) + text(*exprs[i], depth);
   return out;
}

std::string ExplainExpressions::infix(const Expr& expr, const std::string& word, uint32_t depth) const {
   return "(" + text(*expr.args[0], depth) + " " + word + " " + text(*expr.args[1], depth) + ")";
}

std::string ExplainExpressions::text(const Expr& expr, uint32_t depth) const {
   checkStack();
   const auto test = [&](const char* what) { return "(" + text(*expr.args[0], depth) + " " + what + ")"; };
   switch (expr.kind) {
   case ExprKind::Column: return text(sql::columnOf(expr), depth);
   case ExprKind::Constant: return constant(expr);
   case ExprKind::Parameter: return "$" + std::to_string(expr.as<scalar::Parameter>().number + 1);
   case ExprKind::Compare: return infix(expr, nameOf(expr.as<scalar::Compare>().op), depth);
   case ExprKind::And: return "(" + list(expr.args, depth, " AND ") + ")";
   case ExprKind::Or: return "(" + list(expr.args, depth, " OR ") + ")";
   case ExprKind::Not: return "(NOT " + text(*expr.args[0], depth) + ")";
   case ExprKind::IsNull: return test("IS NULL");
   case ExprKind::IsNotNull: return test("IS NOT NULL");
   case ExprKind::IsTrue: return test("IS TRUE");
   case ExprKind::IsNotTrue: return test("IS NOT TRUE");
   case ExprKind::IsFalse: return test("IS FALSE");
   case ExprKind::IsNotFalse: return test("IS NOT FALSE");
   case ExprKind::Case: return caseText(expr, depth);
   case ExprKind::Coalesce: return "COALESCE(" + list(expr.args, depth) + ")";
   case ExprKind::InList: return inList(expr, depth);
   case ExprKind::Call: return call(expr, depth);
   case ExprKind::Relabel:
   case ExprKind::TextCast:
   case ExprKind::TypmodCast: return cast(text(*expr.args[0], depth), expr.type);
   case ExprKind::Convert: return text(*expr.args[0], depth);
   case ExprKind::Subquery: return "(SubPlan)";
   case ExprKind::Array: return "ARRAY[" + list(expr.args, depth) + "]";
   case ExprKind::Row: return "ROW(" + list(expr.args, depth) + ")";
   case ExprKind::SubscriptRef: {
      std::string out = text(*expr.args[0], depth);
      for (size_t i = 1; i < expr.args.size(); ++i)
         out += "[" + text(*expr.args[i], depth) + "]";
      return out;
   }
   case ExprKind::AnyArray: return anyArray(expr, depth);
   }
   return "?";
}

std::string ExplainExpressions::caseText(const Expr& expr, uint32_t depth) const {
   std::string out = "CASE";
   const size_t pairs = expr.args.size() / 2;
   for (size_t i = 0; i < pairs; ++i)
      out += " WHEN " + text(*expr.args[2 * i], depth) + " THEN " + text(*expr.args[2 * i + 1], depth);
   if (expr.args.size() % 2 != 0) out += " ELSE " + text(*expr.args.back(), depth);
   return out + " END";
}

/// As PostgreSQL, which makes an array of the constants: (a = ANY ('{1,2}'::integer[])).
std::string ExplainExpressions::inList(const Expr& expr, uint32_t depth) const {
   const bool isNegated = expr.as<scalar::InList>().negated;
   const std::string test = "(" + text(*expr.args[0], depth) + (isNegated ? " <> ALL " : " = ANY ");
   std::string values;
   for (size_t i = 1; i < expr.args.size(); ++i) {
      const auto value = expr.args[i]->kind == ExprKind::Constant ? valueText(*expr.args[i]) : std::nullopt;
      if (!value) return test + "(ARRAY[" + list(expr.args, depth, ", ", 1) + "]))";
      const bool isPlain = !value->empty() && value->find_first_of(",{}\"\\ ") == std::string::npos;
      values += (i > 1 ? "," : "") + (isPlain ? *value : "\"" + *value + "\"");
   }
   return test + "(" + quoted("{" + values + "}") + "::" + typeName(expr.args[0]->type) + "[]))";
}

std::string ExplainExpressions::anyArray(const Expr& expr, uint32_t depth) const {
   const auto& any = expr.as<scalar::AnyArray>();
   const catalog::OperatorInfo* op = any.function ? operatorOf(*any.function) : nullptr;
   const std::string word = op             ? std::string(op->name)
                            : any.function ? std::string(any.function->name)
                                           : nameOf(any.op);
   return "(" + text(*expr.args[0], depth) + " " + word + (any.isAll ? " ALL (" : " ANY (") +
          text(*expr.args[1], depth) + "))";
}

std::string ExplainExpressions::call(const Expr& expr, uint32_t depth) const {
   const catalog::FunctionInfo* function = sql::functionOf(expr);
   if (!function) return "?(" + list(expr.args, depth) + ")";
   if (const auto routine = routineCall(expr, depth)) return *routine;
   if (function->name == "ouzel_oid") return text(*expr.args[0], depth); // its cast is said around it
   if (const catalog::OperatorInfo* op = operatorOf(*function); op && expr.args.size() == function->argCount()) {
      const std::string word(op->name);
      return op->isPrefix() ? "(" + word + " " + text(*expr.args[0], depth) + ")" : infix(expr, word, depth);
   }
   if (!expr.args.empty() && isCastFunction(*function)) return cast(text(*expr.args[0], depth), expr.type);
   return catalog::quoteIdentifier(function->name) + "(" + list(expr.args, depth) + ")";
}

/// ouzel_field(ouzel_run(oid, ouzel_row(..., arguments)), 0) is how the call of a function that runs apart is planned.
std::optional<std::string> ExplainExpressions::routineCall(const Expr& expr, uint32_t depth) const {
   const auto calls = [](const Expr& one, std::string_view name) {
      const catalog::FunctionInfo* function = one.kind == ExprKind::Call ? sql::functionOf(one) : nullptr;
      return function && function->name == name;
   };
   const Expr* run = calls(expr, "ouzel_field") ? expr.args[0].get() : &expr;
   if (!calls(*run, "ouzel_run") || run->args[0]->kind != ExprKind::Constant) return std::nullopt;
   const auto oid = static_cast<Oid>(run->args[0]->as<scalar::Constant>().value.i64);
   const catalog::FunctionPtr function = core_.transaction.catalog().function(oid);
   if (!function) return std::nullopt;
   const Expr& row = *run->args[1];
   const ColumnId column = sql::columnOf(row);
   const auto origin = origins_.find(static_cast<uint32_t>(column));
   const Expr& made = origin != origins_.end() && origin->second.expr ? *origin->second.expr : row;
   const std::string arguments = calls(made, "ouzel_row") ? list(made.args, depth, ", ", 1) : "...";
   return catalog::quoteIdentifier(function->name) + "(" + arguments + ")";
}

std::optional<std::string> ExplainExpressions::valueText(const Expr& constant) const {
   const Value& value = constant.as<scalar::Constant>().value;
   const SqlType& type = constant.type;
   if (value.isNull) return std::nullopt;
   if (value.type == PhysicalType::String) {
      // A collation key ends with a zero; the text that it is of may follow.
      const size_t zero = value.bytes.find('\0');
      const bool isText = type.oid == oid::text || type.oid == oid::varchar || type.oid == oid::bpchar;
      if (isText && zero != std::string::npos) {
         if (zero + 1 == value.bytes.size()) return std::nullopt;
         return value.bytes.substr(zero + 1);
      }
   }
   alignas(16) unsigned char place[16] = {};
   value.store(place);
   std::string out;
   appendText(out, type, constant.repr, place, core_.format());
   return out;
}

std::string ExplainExpressions::constant(const Expr& expr) const {
   const Value& value = expr.as<scalar::Constant>().value;
   if (value.isNull) return "NULL::" + typeName(expr.type);
   const std::optional<std::string> shown = valueText(expr);
   if (!shown) return "'...'::" + typeName(expr.type);
   if (expr.type.oid == oid::boolean) return value.i64 ? "true" : "false";
   const bool isNumber = expr.type.oid == oid::int4 || expr.type.oid == oid::numeric;
   if (isNumber && !shown->empty() && (*shown)[0] >= '0' && (*shown)[0] <= '9') return *shown;
   return quoted(*shown) + "::" + typeName(expr.type);
}

std::string ExplainExpressions::typeName(const SqlType& type) const {
   const catalog::SearchPath path = core_.searchPath();
   const auto typmod = type.typmod >= 0 ? std::optional(type.typmod) : std::nullopt;
   return catalog::formatType({core_.transaction.catalog(), path}, type.named(), typmod);
}

} // namespace ouzel::engine
