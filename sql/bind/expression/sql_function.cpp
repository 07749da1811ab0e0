#include "sql/bind/expression/sql_function.hpp"

#include <algorithm>
#include <array>

#include "sql/bind/expression/expression.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Built-in functions that PostgreSQL writes in SQL. As in PostgreSQL's planner, a simple body replaces the call. A
// function without a body in this file stays a call, with the kernel "sql:" followed by its name.

namespace ouzel::sql {

namespace {

struct SqlBody {
   Oid function;
   const char* body;
};

constexpr std::array bodies{
    SqlBody{879, "lpad($1, $2, ' ')"},
    SqlBody{880, "rpad($1, $2, ' ')"},
    SqlBody{1176, "($1 + $2)::timestamptz"},
    SqlBody{1285, "quote_literal($1::text)"},
    SqlBody{1290, "quote_nullable($1::text)"},
    SqlBody{1296, "$2 + $1"},
    SqlBody{1298, "$2 + $1"},
    SqlBody{1305, "($1, $1 + $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{1306, "($1, $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{1307, "($1, $1 + $2) OVERLAPS ($3, $4)"},
    SqlBody{1309, "($1, $1 + $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{1310, "($1, $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{1311, "($1, $1 + $2) OVERLAPS ($3, $4)"},
    SqlBody{1384, "date_part($1, $2::timestamp)"},
    SqlBody{1386, "age(current_date::timestamptz, $1)"},
    SqlBody{1481, "log(10::numeric, $1)"},
    SqlBody{1708, "round($1, 0)"},
    SqlBody{1710, "trunc($1, 0)"},
    SqlBody{1741, "log(10::numeric, $1)"},
    SqlBody{1810, "octet_length($1) * 8"},
    SqlBody{1811, "octet_length($1) * 8"},
    SqlBody{1848, "$2 + $1"},
    SqlBody{2003, "$1 || $2::text"},
    SqlBody{2004, "$1::text || $2"},
    SqlBody{2042, "($1, $1 + $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{2043, "($1, $2) OVERLAPS ($3, $3 + $4)"},
    SqlBody{2044, "($1, $1 + $2) OVERLAPS ($3, $4)"},
    SqlBody{2059, "age(current_date::timestamp, $1)"},
    SqlBody{2074, "substring($1, similar_to_escape($2, $3))"},
    SqlBody{2325, "pg_relation_size($1, 'main')"},
    SqlBody{2546, "$2 + $1"},
    SqlBody{2547, "$2 + $1"},
    SqlBody{2548, "$2 + $1"},
    SqlBody{2549, "$2 + $1"},
    SqlBody{2550, "$2 + $1"},
    SqlBody{13212,
            "CASE WHEN $2 = -1 THEN NULL WHEN $1 IN (1042, 1043) THEN $2 - 4 WHEN $1 IN (1560, 1562) THEN $2 END"},
    SqlBody{13213, "CASE WHEN $1 IN (25, 1042, 1043) THEN CASE WHEN $2 = -1 THEN 1073741824 "
                   "WHEN $1 <> 25 THEN ($2 - 4) * 4 END END"},
    SqlBody{13215, "CASE $1 WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 1700 THEN CASE WHEN $2 = -1 THEN NULL "
                   "ELSE (($2 - 4) >> 16) & 65535 END WHEN 700 THEN 24 WHEN 701 THEN 53 END"},
    SqlBody{13216, "CASE WHEN $1 IN (21, 23, 20, 700, 701) THEN 2 WHEN $1 = 1700 THEN 10 END"},
    SqlBody{13217, "CASE WHEN $1 IN (21, 23, 20) THEN 0 WHEN $1 = 1700 THEN CASE WHEN $2 = -1 THEN NULL "
                   "ELSE ($2 - 4) & 65535 END END"},
    SqlBody{13218,
            "CASE WHEN $1 = 1082 THEN 0 WHEN $1 IN (1083, 1114, 1184, 1266) THEN CASE WHEN $2 < 0 THEN 6 ELSE $2 "
            "END WHEN $1 = 1186 THEN CASE WHEN $2 < 0 OR $2 & 65535 = 65535 THEN 6 ELSE $2 & 65535 END END"},
    SqlBody{13219, "CASE WHEN $1 = 1186 THEN upper(substring(format_type($1, $2) from 'interval[()0-9]* (.*)')) END"},
};

uint32_t usesOf(std::string_view body, size_t parameter) {
   const std::string name = "$" + std::to_string(parameter + 1);
   uint32_t uses = 0;
   for (size_t at = body.find(name); at != std::string_view::npos; at = body.find(name, at + 1))
      ++uses;
   return uses;
}

} // namespace

bool isRepeatable(const Expr& root) {
   bool repeatable = !isVolatile(root);
   forEachExpr(root, [&](const Expr& expr) {
      repeatable &= expr.kind != ExprKind::Subquery;
      return repeatable;
   });
   return repeatable;
}

ExprPtr inlineSqlFunction(BindState& state, const catalog::FunctionInfo& function, std::vector<ExprPtr>& args,
                          const SqlType& resultType) {
   const auto found =
       std::find_if(bodies.begin(), bodies.end(), [&](const SqlBody& body) { return body.function == function.oid; });
   if (found == bodies.end()) return nullptr;
   for (size_t i = 0; i < args.size(); ++i)
      if (usesOf(found->body, i) != 1 && !isRepeatable(*args[i])) return nullptr;
   return coerce(state, bindBody(state, found->body, args), resultType.oid, -1, CoercionContext::Explicit);
}

ExprPtr bindBody(BindState& state, std::string_view body, const std::vector<ExprPtr>& args) {
   const DepthGuard guard(state);
   const auto script = ParsedScript::parseExpression(body);
   const SourceText* outerSource = std::exchange(state.source, nullptr);
   const auto* outerArgs = std::exchange(state.inlineArgs, &args);
   Scope scope(nullptr);
   auto expr = bindExpr(state, scope, script.expression(), Clause::Where);
   state.inlineArgs = outerArgs;
   state.source = outerSource;
   return expr;
}

} // namespace ouzel::sql
