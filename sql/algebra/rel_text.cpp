#include <cstdio>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/type_form.hpp"
#include "common/thread/stack.hpp"
#include "common/type/text_codec.hpp"
#include "sql/algebra/rel.hpp"

// The algebra as indented text, for tests and debugging: nothing parses it.

namespace ouzel::sql {

namespace {

const char* const compareNames[] = {"=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"};

std::string int128Text(int128 value) {
   if (value == 0) return "0";
   const bool negative = value < 0;
   uint128 rest = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
   std::string text;
   for (; rest != 0; rest /= 10)
      text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
   return negative ? "-" + text : text;
}

std::string valueText(const Expr& constant) {
   const Value& value = constant.as<scalar::Constant>().value;
   if (value.isNull) return "null";
   const bool isText = constant.type.oid == oid::text || constant.type.oid == oid::varchar ||
                       constant.type.oid == oid::bpchar || constant.type.oid == oid::name ||
                       constant.type.oid == oid::unknown;
   const bool isOfUser = constant.type.oid >= firstUserOid || constant.type.domain != invalidOid;
   if (isRowValue(constant.type.oid) || isRowValue(arrayElementType(constant.type.oid)))
      return "a constant row"; // its fields' types are known to the catalog only
   // The bytes of other strings are no text.
   if (findTypeForm(constant.type.oid) || (!isText && !isOfUser && value.type == PhysicalType::String))
      return "'" + textOf(constant.type, value, SessionFormat()) + "'";
   switch (value.type) {
   case PhysicalType::Bool: return value.i64 ? "true" : "false";
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64:
   case PhysicalType::I128: {
      std::string text = value.type == PhysicalType::I128 ? int128Text(value.i128) : std::to_string(value.i64);
      if (constant.repr.scale) text += "e-" + std::to_string(constant.repr.scale);
      return text;
   }
   case PhysicalType::F32:
   case PhysicalType::F64: {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", value.f64);
      return buffer;
   }
   case PhysicalType::Interval:
      return "interval(" + std::to_string(value.interval.months) + "," + std::to_string(value.interval.days) + "," +
             std::to_string(value.interval.micros) + ")";
   case PhysicalType::Decimal: return textOf({oid::numeric, -1, invalidOid}, value, SessionFormat());
   case PhysicalType::String: {
      // A text has no zero. A collation key ends with one, and the text that it is of may follow.
      const size_t zero = value.bytes.find('\0');
      if (zero == std::string::npos) return "'" + value.bytes + "'";
      return zero + 1 == value.bytes.size() ? "a collation key" : "the key of '" + value.bytes.substr(zero + 1) + "'";
   }
   }
   return "?";
}

std::string nameOf(CompareOp op) {
   return compareNames[static_cast<int>(op)];
}

std::string nameOf(const catalog::FunctionInfo* function) {
   return function ? std::string(function->name) : "?";
}

std::string typeText(const SqlType& type) {
   const catalog::TypeInfo* info = catalog::builtins().type(type.oid);
   return (info ? std::string(info->name) : std::to_string(type.oid)) +
          (type.typmod >= 0 ? ":" + std::to_string(type.typmod) : "");
}

class Printer {
public:
   explicit Printer(const ColumnTable& columns) : columns_(columns) {}

   std::string name(ColumnId column) const {
      if (column == noColumn) return "none";
      const uint32_t index = static_cast<uint32_t>(column);
      return (index < columns_.size() ? columns_[column].name : std::string()) + "#" + std::to_string(index);
   }
   std::string names(const std::vector<ColumnId>& list) const {
      std::string text;
      for (const ColumnId column : list)
         text += (text.empty() ? "" : ", ") + name(column);
      return text;
   }
   std::string list(const std::vector<ExprPtr>& exprs, const char* separator = ", ") const {
      std::string text;
      for (const ExprPtr& expr : exprs)
         text += (&expr == &exprs.front() ? "" : separator) + print(*expr);
      return text;
   }
   std::string print(const Expr& e) const;
   std::string order(const std::vector<SortKey>& keys) const {
      std::string text;
      for (const SortKey& key : keys) {
         text += (text.empty() ? "" : ", ") + print(*key.expr) + (key.descending ? " desc" : "");
         if (key.nullsFirst != key.descending) text += key.nullsFirst ? " nulls first" : " nulls last";
      }
      return text;
   }
   std::string computed(const std::vector<ComputedColumn>& columns) const {
      std::string text;
      for (const ComputedColumn& c : columns)
         text += (text.empty() ? "" : ", ") + name(c.column) + " := " + print(*c.expr);
      return text;
   }
   void print(const Rel& rel, uint32_t depth, std::string& out) const;

private:
   std::string fields(const op::Get& get) const;
   std::string fields(const op::Values& values) const;
   std::string fields(const op::TableFunction& call) const;
   std::string fields(const op::Select& select) const { return predicate(select.predicate); }
   std::string fields(const op::Map& map) const { return " [" + computed(map.computed) + "]"; }
   std::string fields(const op::Join& join) const;
   std::string fields(const op::GroupBy& group) const;
   std::string fields(const op::Window& window) const;
   std::string fields(const op::Distinct& distinct) const {
      return " [" + names(distinct.columns) + "]" +
             (distinct.sortKeys.empty() ? "" : " order [" + order(distinct.sortKeys) + "]");
   }
   std::string fields(const op::Sort& sort) const { return " [" + order(sort.keys) + "]"; }
   std::string fields(const op::Limit& limit) const;
   std::string fields(const op::SetOp& setOp) const;
   std::string fields(const op::CteScan& scan) const {
      return " " + std::to_string(scan.cte) + " [" + names(scan.columns) + "] <- [" + names(scan.cteColumns) + "]";
   }
   static std::string fields(const op::With&) { return ""; }
   static std::string fields(const op::LockRows&) { return ""; }
   static std::string fields(const op::Barrier&) { return ""; }
   static std::string fields(const op::Write& write) { return " " + write.dml->table.name; }
   std::string predicate(const ExprPtr& expr) const { return expr ? " " + print(*expr) : ""; }
   static std::string subqueryIndented(std::string text);

   const ColumnTable& columns_;
};

std::string Printer::print(const Expr& e) const {
   checkStack();
   switch (e.kind) {
   case ExprKind::Column: return name(columnOf(e));
   case ExprKind::Constant: return valueText(e);
   case ExprKind::Parameter: return "$" + std::to_string(e.as<scalar::Parameter>().number + 1);
   case ExprKind::Compare:
      return "(" + print(*e.args[0]) + " " + nameOf(e.as<scalar::Compare>().op) + " " + print(*e.args[1]) + ")";
   case ExprKind::And: return "(" + list(e.args, " and ") + ")";
   case ExprKind::Or: return "(" + list(e.args, " or ") + ")";
   case ExprKind::Not: return "not " + print(*e.args[0]);
   case ExprKind::IsNull: return print(*e.args[0]) + " is null";
   case ExprKind::IsNotNull: return print(*e.args[0]) + " is not null";
   case ExprKind::IsTrue: return print(*e.args[0]) + " is true";
   case ExprKind::IsNotTrue: return print(*e.args[0]) + " is not true";
   case ExprKind::IsFalse: return print(*e.args[0]) + " is false";
   case ExprKind::IsNotFalse: return print(*e.args[0]) + " is not false";
   case ExprKind::Case: return "case(" + list(e.args) + ")";
   case ExprKind::Coalesce: return "coalesce(" + list(e.args) + ")";
   case ExprKind::InList: return (e.as<scalar::InList>().negated ? "not in(" : "in(") + list(e.args) + ")";
   case ExprKind::Call: return nameOf(functionOf(e)) + "(" + list(e.args) + ")";
   case ExprKind::Relabel: return "relabel(" + list(e.args) + ")";
   case ExprKind::TextCast: return "cast(" + list(e.args) + " as " + typeText(e.type) + ")";
   case ExprKind::Convert:
      return "convert(" + list(e.args) + " to " + std::to_string(static_cast<int>(e.repr.physical)) + "/" +
             std::to_string(e.repr.scale) + ")";
   case ExprKind::TypmodCast: return "typmod(" + list(e.args) + " as " + typeText(e.type) + ")";
   case ExprKind::Subquery: {
      static const char* const kinds[] = {"scalar", "exists", "any", "all", "array"};
      const auto& subquery = e.as<scalar::Subquery>();
      std::string text;
      print(*subquery.query, 0, text);
      return std::string(kinds[static_cast<int>(subquery.kind)]) + "(" + list(e.args) + " {" + subqueryIndented(text) +
             "})";
   }
   case ExprKind::Array: return "array[" + list(e.args) + "]";
   case ExprKind::Row: return "row(" + list(e.args) + ")";
   case ExprKind::SubscriptRef: {
      std::string text = print(*e.args[0]);
      for (size_t i = 1; i < e.args.size(); ++i)
         text += "[" + print(*e.args[i]) + "]";
      return text;
   }
   case ExprKind::AnyArray: {
      const auto& any = e.as<scalar::AnyArray>();
      return "(" + print(*e.args[0]) + " " + (any.function ? nameOf(any.function) : nameOf(any.op)) +
             (any.isAll ? " all " : " any ") + print(*e.args[1]) + ")";
   }
   }
   return "?";
}

std::string Printer::subqueryIndented(std::string text) {
   std::string line;
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\n')
         line += text[i];
      else if (i + 1 < text.size())
         line += " | ";
   }
   return line;
}

std::string Printer::fields(const op::Get& get) const {
   std::vector<ColumnId> ids;
   for (const GetColumn& column : get.columns)
      ids.push_back(column.column);
   return " " + get.table.name + " [" + names(ids) + "]" + predicate(get.predicate);
}

std::string Printer::fields(const op::Values& values) const {
   std::string text = " [" + names(values.columns) + "]";
   for (const auto& row : values.rows)
      text += " (" + list(row) + ")";
   return text;
}

std::string Printer::fields(const op::TableFunction& call) const {
   return " " + nameOf(call.function) + "(" + list(call.args) + ") [" + names(call.columns) + "]";
}

std::string Printer::fields(const op::Join& join) const {
   static const char* const kinds[] = {"Inner", "Left", "Right",  "Full",      "Semi",
                                       "Anti",  "Mark", "Single", "RightSemi", "RightAnti"};
   return std::string(" ") + kinds[static_cast<int>(join.kind)] + (join.dependent ? " dependent" : "") +
          (join.markColumn != noColumn ? " mark " + name(join.markColumn) : "") + predicate(join.predicate);
}

std::string Printer::fields(const op::GroupBy& group) const {
   std::string text = " [" + computed(group.keys) + "]";
   for (const AggregateCall& call : group.aggregates) {
      text += " " + name(call.column) + " := " + nameOf(call.function) + "(" + (call.distinct ? "distinct " : "") +
              (call.star ? "*" : list(call.args)) + (call.orderBy.empty() ? "" : " order by " + order(call.orderBy)) +
              ")";
      if (call.filter) text += " filter " + print(*call.filter);
   }
   for (const auto& set : group.groupingSets) {
      text += " (";
      for (const uint32_t key : set)
         text += (text.back() == '(' ? "" : ",") + std::to_string(key);
      text += ")";
   }
   for (const GroupingCall& call : group.groupingCalls)
      text += " " + name(call.column) + " := grouping";
   return text;
}

std::string Printer::fields(const op::Window& window) const {
   std::string text = " partition [" + list(window.spec.partitionBy) + "] order [" + order(window.spec.orderBy) + "]";
   for (const WindowCall& call : window.calls)
      text +=
          " " + name(call.column) + " := " + nameOf(call.function) + "(" + (call.star ? "*" : list(call.args)) + ")";
   return text;
}

std::string Printer::fields(const op::Limit& limit) const {
   return (limit.limit ? " " + print(*limit.limit) : "") + (limit.offset ? " offset " + print(*limit.offset) : "") +
          (limit.withTies ? " with ties" : "");
}

std::string Printer::fields(const op::SetOp& setOp) const {
   static const char* const kinds[] = {"Union", "Intersect", "Except"};
   return std::string(" ") + kinds[static_cast<int>(setOp.kind)] + (setOp.all ? "All" : "") + " [" +
          names(setOp.columns) + "] <- [" + names(setOp.inputColumns[0]) + "] [" + names(setOp.inputColumns[1]) + "]";
}

void Printer::print(const Rel& rel, uint32_t depth, std::string& out) const {
   checkStack();
   out += std::string(depth * 2, ' ') + nameOf(rel.kind) +
          std::visit([this](const auto& own) { return this->fields(own); }, rel.fields) + "\n";
   const auto* with = rel.getIf<op::With>();
   for (size_t i = 0; with && i < with->ctes.size(); ++i) {
      const Cte& cte = with->ctes[i];
      out += std::string(depth * 2 + 2, ' ') + "cte " + std::to_string(cte.id) + " " + cte.name + " [" +
             names(cte.columns) + "]\n";
      print(*cte.query, depth + 2, out);
      if (cte.recursive) print(*cte.recursive, depth + 2, out);
   }
   for (const RelPtr& input : rel.inputs)
      print(*input, depth + 1, out);
}

} // namespace

std::string toString(const Rel& rel, const ColumnTable& columns) {
   std::string text;
   Printer(columns).print(rel, 0, text);
   return text;
}

std::string toString(const Expr& expr, const ColumnTable& columns) {
   return Printer(columns).print(expr);
}

} // namespace ouzel::sql
