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

ExprPtr keyOf(ColumnId column, bool encodesKeys, const Query& query) {
   ExprPtr key = query.ref(column);
   const bool isEncoded = encodesKeys && isKeyed(key->type, query.columns.collations);
   return isEncoded ? makeOrderKey(std::move(key), query.columns.collations) : std::move(key);
}

RelPtr numbered(RelPtr input, const std::vector<ColumnId>& columns, ColumnId& number, bool encodesKeys, Query& query) {
   op::Window window;
   for (const ColumnId column : columns)
      window.spec.partitionBy.push_back(keyOf(column, encodesKeys, query));
   WindowCall call;
   call.function = catalog::builtins().findFunction("row_number", {});
   call.type = int8Type;
   number = call.column = query.newColumn("row_number", int8Type, false);
   window.calls.push_back(std::move(call));
   return makeRel(RelKind::Window, std::move(window), std::move(input));
}

} // namespace

void replaceSetOperation(RelPtr& rel, bool encodesKeys, Query& query) {
   const auto& setOp = rel->as<op::SetOp>();
   RelPtr left = std::move(rel->inputs[0]), right = std::move(rel->inputs[1]);
   std::vector<ExprPtr> conjuncts;
   const auto compare = [&](ColumnId a, ColumnId b) {
      conjuncts.push_back(
          makeCompare(CompareOp::IsNotDistinctFrom, keyOf(a, encodesKeys, query), keyOf(b, encodesKeys, query)));
   };
   // Columns compare pairwise, even if a column is listed twice. The ids of the two sides must differ.
   for (size_t i = 0; i < setOp.columns.size(); ++i)
      compare(setOp.inputColumns[0][i], setOp.inputColumns[1][i]);
   const JoinKind kind = setOp.kind == SetOpKind::Intersect ? JoinKind::Semi : JoinKind::Anti;
   if (setOp.all) {
      ColumnId numbers[2];
      left = numbered(std::move(left), setOp.inputColumns[0], numbers[0], encodesKeys, query);
      right = numbered(std::move(right), setOp.inputColumns[1], numbers[1], encodesKeys, query);
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

void replaceSetOperations(RelPtr& root, Query& query) {
   forEachChild(*root, [&](RelPtr& child) { replaceSetOperations(child, query); });
   const auto* setOp = root->getIf<op::SetOp>();
   if (setOp && setOp->kind != SetOpKind::Union) replaceSetOperation(root, false, query);
}

} // namespace ouzel::optimizer
