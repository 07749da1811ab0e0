#include "catalog/builtin/builtin.hpp"
#include "optimizer/query/order_key.hpp"
#include "optimizer/rewrite/rules.hpp"

// INTERSECT and EXCEPT become joins that compare NULLs as equal:
//
//    L INTERSECT R        GroupBy over (L Semi R)          L EXCEPT R      GroupBy over (L Anti R)
//    with ALL             the same join without the GroupBy, over rows that are numbered among equal rows: the n-th
//                         copy on the left stays if there is an (EXCEPT: no) n-th copy on the right

namespace ouzel::optimizer {

using namespace sql;

namespace {

RelPtr numbered(RelPtr input, const std::vector<ColumnId>& columns, ColumnId& number, Query& query) {
   op::Window window;
   for (const ColumnId column : columns)
      window.spec.partitionBy.push_back(query.ref(column));
   WindowCall call;
   call.function = catalog::builtins().findFunction("row_number", {});
   call.type = int8Type;
   number = call.column = query.newColumn("row_number", int8Type, false);
   window.calls.push_back(std::move(call));
   return makeRel(RelKind::Window, std::move(window), std::move(input));
}

void replaceOne(RelPtr& rel, Query& query) {
   const auto& setOp = rel->as<op::SetOp>();
   RelPtr left = std::move(rel->inputs[0]), right = std::move(rel->inputs[1]);
   std::vector<ExprPtr> conjuncts;
   const auto compare = [&](ColumnId a, ColumnId b) {
      ExprPtr x = query.ref(a), y = query.ref(b);
      if (catalog::builtins().isArray(x->type.oid)) { // equal arrays may differ in their bytes
         x = makeOrderKey(std::move(x));
         y = makeOrderKey(std::move(y));
      }
      conjuncts.push_back(makeCompare(CompareOp::IsNotDistinctFrom, std::move(x), std::move(y)));
   };
   // Columns compare pairwise, even if a column is listed twice. The ids of the two sides must differ.
   for (size_t i = 0; i < setOp.columns.size(); ++i)
      compare(setOp.inputColumns[0][i], setOp.inputColumns[1][i]);
   const JoinKind kind = setOp.kind == SetOpKind::Intersect ? JoinKind::Semi : JoinKind::Anti;
   if (setOp.all) {
      ColumnId numbers[2];
      left = numbered(std::move(left), setOp.inputColumns[0], numbers[0], query);
      right = numbered(std::move(right), setOp.inputColumns[1], numbers[1], query);
      conjuncts.push_back(makeCompare(CompareOp::Eq, query.ref(numbers[0]), query.ref(numbers[1])));
   }
   RelPtr join = makeJoin(kind, std::move(left), std::move(right), makeAnd(std::move(conjuncts)));
   std::vector<ComputedColumn> renamed;
   for (size_t i = 0; i < setOp.columns.size(); ++i)
      renamed.push_back({setOp.columns[i], query.ref(setOp.inputColumns[0][i])});
   if (setOp.all) {
      rel = makeMap(std::move(join), std::move(renamed));
      return;
   }
   if (renamed.empty()) { // rows without columns: at most one row remains
      rel = makeRel(RelKind::Limit, op::Limit{makeInt8(1), nullptr, false, {}}, std::move(join));
      return;
   }
   op::GroupBy group;
   group.keys = std::move(renamed);
   rel = makeRel(RelKind::GroupBy, std::move(group), std::move(join));
}

} // namespace

void replaceSetOperations(RelPtr& root, Query& query) {
   forEachChild(*root, [&](RelPtr& child) { replaceSetOperations(child, query); });
   const auto* setOp = root->getIf<op::SetOp>();
   if (setOp && setOp->kind != SetOpKind::Union) replaceOne(root, query);
}

} // namespace ouzel::optimizer
