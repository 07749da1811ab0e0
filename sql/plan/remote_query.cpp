#include "sql/plan/remote_query.hpp"

#include <algorithm>
#include <optional>

#include "catalog/object/search_path.hpp"
#include "common/thread/stack.hpp"
#include "common/type/text_codec.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::sql::plan {

namespace {

/// How far two servers agree on a type: on its order too, on what is equal, or not at all. Texts are ordered by
/// collations, which may differ from server to server.
enum class Agreement : uint8_t { None, Equality, Order };

Agreement agreementOn(const SqlType& type) {
   switch (type.oid) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::float4:
   case oid::float8:
   case oid::numeric:
   case oid::oid:
   case oid::date:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::interval:
   case oid::bytea:
   case oid::uuid: return Agreement::Order;
   case oid::text:
   case oid::varchar:
   case oid::bpchar: {
      constexpr Oid bytewise[] = {invalidOid, defaultCollation, 950, 951}; // others may take different texts for equal
      return std::find(std::begin(bytewise), std::end(bytewise), type.collation) != std::end(bytewise)
                 ? Agreement::Equality
                 : Agreement::None;
   }
   default: return Agreement::None;
   }
}

bool isNumber(const SqlType& type) {
   constexpr Oid numbers[] = {oid::int2, oid::int4, oid::int8, oid::float4, oid::float8, oid::numeric};
   return std::find(std::begin(numbers), std::end(numbers), type.oid) != std::end(numbers);
}

/// Backslashes make it one that means the same under every setting of standard_conforming_strings.
std::string quoted(std::string_view text) {
   std::string out = text.find('\\') == std::string_view::npos ? "'" : "E'";
   for (const char c : text) {
      if (c == '\'' || c == '\\') out += c;
      out += c;
   }
   return out + "'";
}

/// Writes expressions; none where the other server might understand them differently.
class RemoteText {
public:
   explicit RemoteText(const VirtualScan& scan) : scan_(scan) {}

   std::optional<std::string> predicate(const Expr& expr) const {
      checkStack();
      switch (expr.kind) {
      case ExprKind::Column: return expr.type.oid == oid::boolean ? value(expr) : std::nullopt;
      case ExprKind::Compare: return compare(expr);
      case ExprKind::InList: return inList(expr);
      case ExprKind::Call: return like(expr);
      case ExprKind::And: return list(expr, " AND ");
      case ExprKind::Or: return list(expr, " OR ");
      case ExprKind::Not: {
         const auto inner = predicate(*expr.args[0]);
         return inner ? std::optional("(NOT " + *inner + ")") : std::nullopt;
      }
      case ExprKind::IsNull: return test(expr, " IS NULL");
      case ExprKind::IsNotNull: return test(expr, " IS NOT NULL");
      case ExprKind::IsTrue: return test(expr, " IS TRUE");
      case ExprKind::IsNotTrue: return test(expr, " IS NOT TRUE");
      case ExprKind::IsFalse: return test(expr, " IS FALSE");
      case ExprKind::IsNotFalse: return test(expr, " IS NOT FALSE");
      default: return std::nullopt;
      }
   }

   /// NULL: the scan has no such column.
   std::optional<std::string> column(ColumnId id) const {
      for (const ScanColumn& scanned : scan_.columns)
         if (scanned.column == id) return columnName(scanned);
      return std::nullopt;
   }
   std::string columnName(const ScanColumn& scanned) const {
      const std::vector<std::string>& names = scan_.table.external->remote()->columns;
      return catalog::quoteIdentifier(names[static_cast<size_t>(scanned.attribute - 1)]);
   }

private:
   std::optional<std::string> value(const Expr& expr) const {
      switch (expr.kind) {
      case ExprKind::Column: return column(columnOf(expr));
      case ExprKind::Constant: return constant(expr);
      case ExprKind::Convert: return value(*expr.args[0]); // the same value
      case ExprKind::Relabel: {
         const Oid from = expr.args[0]->type.oid;
         const bool isText = expr.type.oid == oid::text || expr.type.oid == oid::varchar;
         return isText && (from == oid::text || from == oid::varchar) ? value(*expr.args[0]) : std::nullopt;
      }
      case ExprKind::Call: return cast(expr);
      default: return std::nullopt;
      }
   }
   /// A number as one of another type.
   std::optional<std::string> cast(const Expr& expr) const {
      const catalog::FunctionInfo* function = functionOf(expr);
      if (!function || expr.args.size() != 1 || !isNumber(expr.type) || !isNumber(expr.args[0]->type)) return {};
      if (function->name != internalName(expr.type.oid)) return {};
      const auto inner = value(*expr.args[0]);
      return inner ? std::optional("(" + *inner + ")::" + formatType({expr.type.oid, -1, invalidOid})) : std::nullopt;
   }
   static std::string_view internalName(Oid type) {
      switch (type) {
      case oid::int2: return "int2";
      case oid::int4: return "int4";
      case oid::int8: return "int8";
      case oid::float4: return "float4";
      case oid::float8: return "float8";
      default: return "numeric";
      }
   }
   static std::optional<std::string> constant(const Expr& expr) {
      const Value& value = expr.as<scalar::Constant>().value;
      if (agreementOn(expr.type) == Agreement::None) return {};
      const SqlType type{expr.type.oid, -1, invalidOid};
      if (value.isNull) return "NULL::" + formatType(type);
      if (type.oid == oid::boolean) return std::string(value.i64 ? "true" : "false");
      // A collation key has a zero; no text has one.
      const bool isBytes = type.oid == oid::bytea;
      if (!isBytes && value.type == PhysicalType::String && agreementOn(expr.type) == Agreement::Equality &&
          value.bytes.find('\0') != std::string::npos)
         return {};
      alignas(16) unsigned char place[16] = {};
      value.store(place);
      std::string text;
      appendText(text, type, expr.repr, place, SessionFormat());
      const bool isPlain = isNumber(type) && text.find_first_not_of("0123456789.") == std::string::npos;
      if (isPlain && (type.oid == oid::int4 || (type.oid == oid::numeric && text.find('.') != std::string::npos)))
         return text;
      return quoted(text) + "::" + formatType(type);
   }

   std::optional<std::string> compare(const Expr& expr) const {
      const Expr &lhs = *expr.args[0], &rhs = *expr.args[1];
      if (lhs.type.oid != rhs.type.oid) return {};
      const CompareOp op = expr.as<scalar::Compare>().op;
      const bool isEquality = op == CompareOp::Eq || op == CompareOp::Ne || op == CompareOp::IsDistinctFrom ||
                              op == CompareOp::IsNotDistinctFrom;
      const Agreement needed = isEquality ? Agreement::Equality : Agreement::Order;
      if (agreementOn(lhs.type) < needed || agreementOn(rhs.type) < needed) return {};
      const auto left = value(lhs), right = value(rhs);
      if (!left || !right) return {};
      constexpr const char* words[] = {
          " = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM "};
      return "(" + *left + words[static_cast<size_t>(op)] + *right + ")";
   }
   std::optional<std::string> like(const Expr& expr) const {
      const catalog::FunctionInfo* function = functionOf(expr);
      if (!function || function->oid >= firstUserOid || expr.args.size() != 2) return {};
      const char* op = function->name == "textlike" ? " ~~ " : function->name == "textnlike" ? " !~~ " : nullptr;
      if (!op || expr.args[0]->type.oid == oid::bpchar || agreementOn(expr.args[0]->type) == Agreement::None) return {};
      const auto left = value(*expr.args[0]), right = value(*expr.args[1]);
      return left && right ? std::optional("(" + *left + op + *right + ")") : std::nullopt;
   }
   std::optional<std::string> inList(const Expr& expr) const {
      std::string list;
      for (size_t i = 0; i < expr.args.size(); ++i) {
         const Expr& arg = *expr.args[i];
         if (arg.type.oid != expr.args[0]->type.oid || agreementOn(arg.type) == Agreement::None) return {};
         const auto text = value(arg);
         if (!text) return {};
         if (i == 0)
            list = "(" + *text + (expr.as<scalar::InList>().negated ? " NOT IN (" : " IN (");
         else
            list += (i > 1 ? ", " : "") + *text;
      }
      return list + "))";
   }
   std::optional<std::string> list(const Expr& expr, const char* word) const {
      std::string all;
      for (const ExprPtr& arg : expr.args) {
         const auto text = predicate(*arg);
         if (!text) return {};
         all += (all.empty() ? "(" : word) + *text;
      }
      return all + ")";
   }
   /// Of a column of any type, or of a predicate.
   std::optional<std::string> test(const Expr& expr, const char* word) const {
      const Expr& arg = *expr.args[0];
      auto tested = value(arg);
      if (!tested && arg.type.oid == oid::boolean) tested = predicate(arg);
      return tested ? std::optional("(" + *tested + word + ")") : std::nullopt;
   }

   const VirtualScan& scan_;
};

} // namespace

std::string remoteQuery(const VirtualScan& scan) {
   const io::RemoteRelation& remote = *scan.table.external->remote();
   const RemoteText text(scan);
   std::string query;
   for (const ScanColumn& column : scan.columns)
      query += (query.empty() ? "SELECT " : ", ") + text.columnName(column);
   if (query.empty()) query = "SELECT NULL"; // the rows count
   query += " FROM " + catalog::quoteIdentifier(remote.schema) + "." + catalog::quoteIdentifier(remote.name);
   const char* word = " WHERE ";
   for (const ExprPtr& predicate : scan.predicates) {
      const auto condition = text.predicate(*predicate);
      if (!condition) continue;
      query += word + ("(" + *condition + ")");
      word = " AND ";
   }
   if (scan.rowsMax > 0) query += " LIMIT " + std::to_string(scan.rowsMax) + "::bigint";
   return query;
}

bool isRemote(const VirtualScan& scan, const Expr& predicate) {
   return RemoteText(scan).predicate(predicate).has_value();
}

} // namespace ouzel::sql::plan
