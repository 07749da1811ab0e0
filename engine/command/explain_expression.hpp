#pragma once
#include <string>
#include <unordered_map>

#include "engine/core/session_core.hpp"
#include "sql/plan/plan.hpp"

namespace ouzel::engine {

/// Expressions of a plan as SQL, as PostgreSQL writes them in EXPLAIN: `(l_shipdate >= '1994-01-01'::date)`. A column
/// that the plan computes is shown as what computes it, as long as that is short. Used by the session's thread; the
/// plan lives longer.
class ExplainExpressions {
public:
   /// `isVerbose`: columns have the name of their table, also if there is one table only.
   ExplainExpressions(SessionCore& core, const sql::plan::Plan& plan, bool isVerbose);

   std::string text(const sql::Expr& expr) const { return text(expr, 0); }
   std::string text(sql::ColumnId column) const { return text(column, 0); }
   /// With DESC and NULLS FIRST or LAST where they are not the default.
   std::string text(const sql::SortKey& key) const;

private:
   /// What makes a column: one of these.
   struct Origin {
      const sql::plan::Scan* scan = nullptr;
      bool isPath = false; ///< a part of the documents of a column of the scan
      const sql::Expr* expr = nullptr;
      const sql::AggregateCall* aggregate = nullptr;
      const sql::WindowCall* window = nullptr;
   };

   void collect(const sql::plan::Node& node);
   std::string text(const sql::Expr& expr, uint32_t depth) const;
   std::string text(sql::ColumnId column, uint32_t depth) const;
   std::string name(sql::ColumnId column) const;
   std::string list(const std::vector<sql::ExprPtr>& exprs, uint32_t depth, const char* separator = ", ",
                    size_t first = 0) const;
   std::string infix(const sql::Expr& expr, const std::string& word, uint32_t depth) const;
   std::string inList(const sql::Expr& expr, uint32_t depth) const;
   std::string anyArray(const sql::Expr& expr, uint32_t depth) const;
   std::string call(const sql::Expr& expr, uint32_t depth) const;
   std::optional<std::string> routineCall(const sql::Expr& expr, uint32_t depth) const;
   std::string caseText(const sql::Expr& expr, uint32_t depth) const;
   std::string cast(const std::string& value, const SqlType& type) const {
      return "(" + value + ")::" + typeName(type);
   }
   /// The value as the type's output function gives it; none: it has no text.
   std::optional<std::string> valueText(const sql::Expr& constant) const;
   std::string constant(const sql::Expr& expr) const;
   std::string typeName(const SqlType& type) const;

   SessionCore& core_;
   const sql::ColumnTable& columns_;
   std::unordered_map<uint32_t, Origin> origins_;
   size_t scans_ = 0;
   const bool isVerbose_;
};

} // namespace ouzel::engine
