#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/table_parts.hpp"

// Foreign tables: a scan of one becomes a scan of the other server's table. Where the wrapper has no code that reads,
// and for all that writes, no plan can be made.

namespace ouzel::optimizer {

using namespace sql;

namespace {

void requireHandler(const TableRef& table, std::string_view feature) {
   if (!table.wrapper.empty() && !table.parts) catalog::throwNoAccess(table.wrapper, table.hasHandler, feature);
}

/// A scan of the other server's table, where its wrapper has code that reads.
void readRemotely(RelPtr& rel) {
   auto& get = rel->as<op::Get>();
   if (!get.table.external) return requireHandler(get.table, "reading foreign tables");
   if (get.table.parts) return; // requireHandlersOfParts() refuses it, unless no foreign part is left
   for (const GetColumn& column : get.columns)
      if (column.attribute == rowIdAttribute) throwNotSupported("ctid, FOR UPDATE and FOR SHARE of foreign tables");
   rel = makeRel(RelKind::VirtualGet, std::move(get));
}

} // namespace

void readForeignTables(RelPtr& root) {
   if (const auto* write = root->getIf<op::Write>()) requireHandler(write->dml->table, "writing to foreign tables");
   forEachChild(*root, [](RelPtr& child) { readForeignTables(child); });
   forEachOwnExpr(*root, [](ExprPtr& expr) {
      rewriteExpr(expr, [](ExprPtr& part) {
         if (auto* subquery = part->getIf<scalar::Subquery>()) readForeignTables(subquery->query);
      });
   });
   if (root->kind == RelKind::Get) readRemotely(root);
}

void requireHandlersOfParts(Rel& root) {
   forEachRel(root, [](Rel& rel) {
      const auto* get = rel.getIf<op::Get>();
      if (!get || !get->table.parts) return;
      forEachPart(get->table, [](const TablePart& part) {
         if (!part.wrapper.empty())
            catalog::throwNoAccess(part.wrapper, part.hasHandler, "reading foreign tables as partitions or heirs");
      });
   });
}

} // namespace ouzel::optimizer
