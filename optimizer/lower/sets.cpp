#include <algorithm>

#include "common/error/sql_error.hpp"
#include "optimizer/lower/lowering.hpp"

// Lowers UNION, common table expressions and recursion. rewrite/set_operations.cpp has replaced INTERSECT and EXCEPT.

namespace ouzel::optimizer {

using namespace sql;

Lowered Lowering::lowerUnion(Rel& rel, const ColumnSet& need) {
   auto& setOp = rel.as<op::SetOp>();
   if (setOp.kind != SetOpKind::Union) throwInternal("set operation in lowering");
   // UNION without ALL compares all columns, also columns without readers.
   std::vector<size_t> kept;
   for (size_t i = 0; i < setOp.columns.size(); ++i)
      if (!setOp.all || need.contains(setOp.columns[i])) kept.push_back(i);

   // Nested UNION ALLs, and any UNION below a UNION, become branches of one Append.
   struct Branch {
      Rel* input;
      std::vector<ColumnId> columns;
   };
   std::vector<Branch> branches;
   const std::function<void(Rel&, const std::vector<ColumnId>&)> flatten = [&](Rel& input,
                                                                               const std::vector<ColumnId>& columns) {
      const auto* nested = input.getIf<op::SetOp>();
      if (!nested || nested->kind != SetOpKind::Union || (setOp.all && !nested->all)) {
         branches.push_back({&input, columns});
         return;
      }
      for (int side = 0; side < 2; ++side) {
         std::vector<ColumnId> below;
         for (const ColumnId column : columns) {
            const auto at = std::find(nested->columns.begin(), nested->columns.end(), column) - nested->columns.begin();
            below.push_back(nested->inputColumns[side][static_cast<size_t>(at)]);
         }
         flatten(*input.inputs[side], below);
      }
   };
   for (int side = 0; side < 2; ++side) {
      std::vector<ColumnId> columns;
      for (const size_t i : kept)
         columns.push_back(setOp.inputColumns[side][i]);
      flatten(*rel.inputs[side], columns);
   }

   plan::NodePtr append = makeNode(plan::Append{}, rel);
   std::vector<Lowered> inputs;
   for (const Branch& branch : branches)
      inputs.push_back(lower(*branch.input, ColumnSet(branch.columns)));
   std::vector<Representation> target;
   for (size_t i = 0; i < kept.size(); ++i) {
      Representation repr = query_.columns[branches[0].columns[i]].repr;
      for (const Branch& branch : branches)
         repr = ExprLowering::common(repr, query_.columns[branch.columns[i]].repr,
                                     query_.columns[setOp.columns[kept[i]]].type);
      target.push_back(repr);
      std::optional<Bounds> bounds = exprs_.bounds(branches[0].columns[i]);
      for (const Branch& branch : branches) {
         const std::optional<Bounds> more = exprs_.bounds(branch.columns[i]);
         if (bounds && more)
            bounds = Bounds{std::min(bounds->min, more->min), std::max(bounds->max, more->max)};
         else
            bounds.reset();
      }
      if (repr.physical == PhysicalType::Decimal) bounds.reset();
      const ColumnId column = setOp.all ? setOp.columns[kept[i]] : query_.copyColumn(setOp.columns[kept[i]]);
      exprs_.setColumn(column, repr, bounds);
      append->output.push_back(column);
   }
   double rowsMax = 0;
   for (size_t b = 0; b < branches.size(); ++b) {
      std::vector<ColumnId> columns = branches[b].columns;
      Lowered input = convertColumns(std::move(inputs[b]), columns, target);
      rowsMax += input.rowsMax;
      append->as<plan::Append>().inputs.push_back(columns);
      append->children.push_back(std::move(input.node));
   }
   if (setOp.all) return {std::move(append), rowsMax};

   plan::NodePtr node = setOp.columns.empty() ? makeNode(plan::Limit{}, rel) : makeNode(plan::Aggregate{}, rel);
   append->estimatedRows = 0;
   for (const plan::NodePtr& child : append->children)
      append->estimatedRows += child->estimatedRows;
   if (setOp.columns.empty()) { // UNION of rows without columns: at most one row remains
      node->as<plan::Limit>().limit = makeInt8(1);
      node->children.push_back(std::move(append));
      return {std::move(node), 1};
   }
   for (size_t i = 0; i < kept.size(); ++i) {
      ExprPtr key = query_.ref(append->output[i]);
      const std::optional<Bounds> bounds = exprs_.lower(key);
      exprs_.setColumn(setOp.columns[i], key->repr, bounds);
      node->as<plan::Aggregate>().keys.push_back({setOp.columns[i], std::move(key)});
      if (need.contains(setOp.columns[i])) node->output.push_back(setOp.columns[i]);
   }
   node->children.push_back(std::move(append));
   return {std::move(node), rowsMax};
}

Lowered Lowering::lowerWith(Rel& rel, const ColumnSet& need) {
   plan::NodePtr node = makeNode(plan::Materialize{}, rel);
   for (Cte& cte : rel.as<op::With>().ctes)
      node->as<plan::Materialize>().ctes.push_back(lowerCte(cte));
   Lowered body = lower(*rel.inputs[0], need);
   node->output = body.node->output;
   node->children.push_back(std::move(body.node));
   return {std::move(node), body.rowsMax};
}

plan::CtePlan Lowering::lowerCte(Cte& cte) {
   plan::CtePlan result;
   result.id = cte.id;
   result.name = cte.name;
   KnownCte known;
   known.columns = cte.columns;
   const double rows = estimator_.rows(*cte.query);
   Lowered lowered;
   if (cte.recursive) {
      lowered = lowerRecursive(cte);
      known.planned = lowered.node->output;
   } else {
      // A data-modifying CTE runs even without readers; its columns are those of RETURNING.
      lowered = lower(*cte.query, ColumnSet(cte.columns));
      known.planned = cte.columns;
   }
   result.columns = known.planned;
   known.rowsMax = lowered.rowsMax;
   known.rows = rows;
   result.plan = std::move(lowered.node);
   ctes_[cte.id] = std::move(known);
   return result;
}

Lowered Lowering::lowerRecursive(Cte& cte) {
   auto node = std::make_unique<plan::Node>(plan::RecursiveUnion{cte.id, cte.unionAll, {}});
   node->estimatedRows = estimator_.rows(*cte.query) * 10;
   std::vector<Representation> target;
   // The step's numerics have no known bounds, so they are Decimal.
   for (const ColumnId column : cte.columns) {
      target.push_back(ExprLowering::genericRepresentation(query_.columns[column].type));
      const ColumnId output = query_.copyColumn(column);
      exprs_.setColumn(output, target.back(), std::nullopt);
      node->output.push_back(output);
   }
   recursing_[cte.id] = node->output;
   std::vector<ColumnId> base = cte.columns, step = cte.recursiveColumns;
   Lowered first = convertColumns(lower(*cte.query, ColumnSet(base)), base, target);
   Lowered second = convertColumns(lower(*cte.recursive, ColumnSet(step)), step, target);
   node->as<plan::RecursiveUnion>().inputs = {base, step};
   node->children.push_back(std::move(first.node));
   node->children.push_back(std::move(second.node));
   recursing_.erase(cte.id);
   return {std::move(node), 1e12};
}

Lowered Lowering::lowerCteScan(Rel& rel, const ColumnSet& need) {
   auto& scan = rel.as<op::CteScan>();
   const auto it = ctes_.find(scan.cte);
   if (it == ctes_.end()) throwInternal("scan of an unknown CTE");
   const KnownCte& cte = it->second;
   plan::NodePtr node = makeNode(plan::CteScan{scan.cte, {}}, rel);
   for (size_t i = 0; i < scan.columns.size(); ++i) {
      if (!need.contains(scan.columns[i])) continue;
      const auto at = std::find(cte.columns.begin(), cte.columns.end(), scan.cteColumns[i]) - cte.columns.begin();
      if (static_cast<size_t>(at) == cte.columns.size()) throwInternal("scan of an unknown CTE column");
      const ColumnId source = cte.planned[static_cast<size_t>(at)];
      exprs_.setColumn(scan.columns[i], query_.columns[source].repr, exprs_.bounds(source));
      node->output.push_back(scan.columns[i]);
      node->as<plan::CteScan>().columns.push_back(source);
   }
   return {std::move(node), cte.rowsMax};
}

Lowered Lowering::lowerRecursiveScan(Rel& rel, const ColumnSet& need) {
   auto& scan = rel.as<op::CteScan>();
   const auto it = recursing_.find(scan.cte);
   if (it == recursing_.end()) throwInternal("scan of a working table outside its recursion");
   plan::NodePtr node = makeNode(plan::RecursiveScan{scan.cte, {}}, rel);
   for (size_t i = 0; i < scan.columns.size(); ++i) {
      exprs_.setColumn(scan.columns[i], query_.columns[it->second[i]].repr, std::nullopt);
      if (!need.contains(scan.columns[i])) continue;
      node->output.push_back(scan.columns[i]);
      node->as<plan::RecursiveScan>().slots.push_back(static_cast<uint32_t>(i));
   }
   return {std::move(node), 1e12};
}

} // namespace ouzel::optimizer
