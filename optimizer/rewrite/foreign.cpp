#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/table_parts.hpp"

// Foreign tables have names and columns, but nobody has code to read or write them. A plan for one cannot be made.

namespace ouzel::optimizer {

using namespace sql;

namespace {

void requireHandler(const TableRef& table) {
   if (!table.wrapper.empty() && !table.parts) catalog::throwNoHandler(table.wrapper);
}

} // namespace

void requireHandlers(Rel& root) {
   forEachRel(root, [](Rel& rel) {
      if (const auto* get = rel.getIf<op::Get>()) requireHandler(get->table);
      if (const auto* write = rel.getIf<op::Write>()) requireHandler(write->dml->table);
      forEachOwnExpr(rel, [](ExprPtr& expr) {
         forEachExpr(*expr, [](const Expr& e) {
            if (const auto* subquery = e.getIf<scalar::Subquery>()) requireHandlers(*subquery->query);
            return true;
         });
      });
   });
}

void requireHandlersOfParts(Rel& root) {
   forEachRel(root, [](Rel& rel) {
      const auto* get = rel.getIf<op::Get>();
      if (!get || !get->table.parts) return;
      forEachPart(get->table, [](const TablePart& part) {
         if (!part.wrapper.empty()) catalog::throwNoHandler(part.wrapper);
      });
   });
}

} // namespace ouzel::optimizer
