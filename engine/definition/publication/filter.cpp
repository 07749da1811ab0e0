#include <algorithm>
#include <span>

#include "catalog/builtin/extension_types.hpp"
#include "catalog/object/function_text.hpp"
#include "engine/definition/publication/published_objects.hpp"
#include "engine/query/source_range.hpp"
#include "sql/algebra/expr.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/stored_expression.hpp"

// The filters of publications. Logical decoding would evaluate them where the catalog may be an older one, so
// PostgreSQL allows only what stays the same for ever.

namespace ouzel::engine {

namespace {

constexpr const char* otherNode = "Only columns, constants, built-in operators, built-in data types, built-in "
                                  "collations, and immutable built-in functions are allowed.";
constexpr const char* userType = "User-defined types are not allowed.";
constexpr const char* mutableFunction = "User-defined or built-in mutable functions are not allowed.";

[[noreturn]] void refuse(const char* why, uint32_t position) {
   throw SqlError(sqlstate::featureNotSupported, "invalid publication WHERE expression").at(position).detail(why);
}

bool isUserType(const SqlType& type) {
   return type.named() >= firstUserOid || catalog::extensionType(type.named()) != nullptr;
}

/// Why the expression, its arguments aside, is not allowed; null: it is.
const char* objectionTo(const sql::Expr& expr) {
   switch (expr.kind) {
   case sql::ExprKind::Subquery:
   case sql::ExprKind::SubscriptRef:
   case sql::ExprKind::Parameter:
   case sql::ExprKind::TextCast: return otherNode;
   default: break;
   }
   const catalog::FunctionInfo* function = functionOf(expr);
   const bool isOther = function && (function->name == "ouzel_field" || function->name == "ouzel_domain");
   if (isOther) return otherNode; // PostgreSQL has nodes for them, no functions
   // Tests of whole rows are functions here.
   const bool isOwn = function && function->name.starts_with("ouzel_");
   if (isUserType(expr.type) ||
       (isOwn && std::ranges::any_of(expr.args, isUserType, [](const auto& arg) { return arg->type; })))
      return userType;
   if (function && function->volatility != catalog::Volatility::Immutable) return mutableFunction;
   if (expr.type.collation >= firstUserOid) return "User-defined collations are not allowed.";
   return nullptr;
}

// Value functions of SQL, and system columns.
constexpr std::string_view sqlValues[] = {
    "current_catalog",   "current_date", "current_role",   "current_schema", "current_time", "current_user",
    "current_timestamp", "localtime",    "localtimestamp", "session_user",   "user"};
constexpr std::string_view systemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

/// Whether the text has one of the words, which is no string and no name in quotes. `asField`: also behind a point.
bool hasWord(std::string_view text, std::span<const std::string_view> words, bool asField) {
   bool isField = false;
   for (Token token = nextToken(text, 0); token.begin != token.end; token = nextToken(text, token.end)) {
      std::string word(text.substr(token.begin, token.end - token.begin));
      std::ranges::transform(word, word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
      if (token.kind == 'w' && (asField || !isField) && std::ranges::find(words, word) != words.end()) return true;
      isField = word == ".";
   }
   return false;
}

sql::BoundExpression bound(CommandContext& context, const NamedTable& named) {
   const catalog::SearchPath path = context.core.searchPath();
   sql::BindContext binding = context.core.bindContext(path, &context.source());
   binding.allowParameters = false;
   return sql::bindExpression(*named.where, sql::ExpressionUse::PublicationFilter, named.table.get(), std::nullopt, {},
                              binding);
}

} // namespace

StoredFilter storedFilter(CommandContext& context, const NamedTable& named) {
   const std::string_view all = context.source().text();
   const size_t where = afterKeyword(all, static_cast<size_t>(std::max(0, named.name->location)), "where");
   const std::string_view inner = parenthesized(all, where);
   const std::string_view text = expressionText(inner, 0, inner.size());
   if (hasWord(text, systemColumns, true))
      refuse("System columns are not allowed.", context.position(sql::startLocation(named.where)));
   const sql::BoundExpression expression = bound(context, named);
   StoredFilter filter;
   const catalog::SearchPath path = context.core.searchPath();
   sql::StoredExpression stored =
       sql::storedExpression(*named.where, sql::ExpressionUse::PublicationFilter, named.table.get(), std::nullopt,
                             context.core.bindContext(path, &context.source()),
                             static_cast<uint32_t>(text.data() - all.data()), static_cast<uint32_t>(text.size()));
   filter.text = std::move(stored.text);
   const uint32_t position = expression.expr->position;
   if (hasWord(text, sqlValues, false)) refuse(otherNode, position);
   if (stored.readsRow) refuse(userType, position); // the table's
   catalog::forEachCall(filter.text, [&](Oid called) {
      const bool isFunction = context.core.transaction.catalog().function(called) != nullptr;
      refuse(isFunction ? mutableFunction : "User-defined operators are not allowed.", position);
   });
   sql::forEachExpr(*expression.expr, [&](const sql::Expr& expr) {
      if (const char* why = objectionTo(expr)) refuse(why, expr.position ? expr.position : position);
      return true;
   });
   for (const sql::GetColumn& input : expression.inputs)
      filter.reads.push_back(input.attribute);
   std::ranges::sort(filter.reads);
   filter.reads.erase(std::ranges::unique(filter.reads).begin(), filter.reads.end());
   return filter;
}

} // namespace ouzel::engine
