#include "catalog/builtin/builtin.hpp"
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
   auto window = std::make_unique<Rel>(RelKind::Window);
   for (const ColumnId column : columns)
      window->windowSpec.partitionBy.push_back(query.ref(column));
   WindowCall call;
   call.function = catalog::builtins().findFunction("row_number", {});
   call.type = int8Type;
   number = call.column = query.newColumn("row_number", int8Type, false);
   window->windowCalls.push_back(std::move(call));
   window->inputs.push_back(std::move(input));
   return window;
}

void replaceOne(RelPtr& rel, Query& query) {
   RelPtr left = std::move(rel->inputs[0]), right = std::move(rel->inputs[1]);
   std::vector<ExprPtr> conjuncts;
   const auto compare = [&](ColumnId a, ColumnId b) {
      conjuncts.push_back(makeCompare(CompareOp::IsNotDistinctFrom, query.ref(a), query.ref(b)));
   };
   // Columns compare pairwise, even if a column is listed twice. The ids of the two sides must differ.
   for (size_t i = 0; i < rel->columns.size(); ++i)
      compare(rel->setOpInputs[0][i], rel->setOpInputs[1][i]);
   const JoinKind kind = rel->setOpKind == SetOpKind::Intersect ? JoinKind::Semi : JoinKind::Anti;
   if (rel->all) {
      ColumnId numbers[2];
      left = numbered(std::move(left), rel->setOpInputs[0], numbers[0], query);
      right = numbered(std::move(right), rel->setOpInputs[1], numbers[1], query);
      conjuncts.push_back(makeCompare(CompareOp::Eq, query.ref(numbers[0]), query.ref(numbers[1])));
   }
   RelPtr join = makeJoin(kind, std::move(left), std::move(right), makeAnd(std::move(conjuncts)));
   std::vector<ComputedColumn> renamed;
   for (size_t i = 0; i < rel->columns.size(); ++i)
      renamed.push_back({rel->columns[i], query.ref(rel->setOpInputs[0][i])});
   if (rel->all) {
      rel = makeMap(std::move(join), std::move(renamed));
      return;
   }
   auto group = std::make_unique<Rel>(RelKind::GroupBy);
   group->keys = std::move(renamed);
   group->inputs.push_back(std::move(join));
   if (group->keys.empty()) { // rows without columns: at most one row remains
      auto limit = std::make_unique<Rel>(RelKind::Limit);
      limit->limit = makeInt8(1);
      limit->inputs = std::move(group->inputs);
      rel = std::move(limit);
      return;
   }
   rel = std::move(group);
}

} // namespace

void replaceSetOperations(RelPtr& root, Query& query) {
   for (RelPtr& input : root->inputs)
      replaceSetOperations(input, query);
   for (Cte& cte : root->ctes) {
      replaceSetOperations(cte.query, query);
      if (cte.recursive) replaceSetOperations(cte.recursive, query);
   }
   if (root->kind == RelKind::SetOp && root->setOpKind != SetOpKind::Union) replaceOne(root, query);
}

} // namespace ouzel::optimizer
