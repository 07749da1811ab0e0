#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/lower/lowering.hpp"

// INSERT, UPDATE, DELETE, MERGE: new rows are converted to the representations that the table stores. Also row locks.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// True if the statement proposes at most one row, so that two rows of the statement cannot conflict.
bool hasOneRow(const Rel& rel) {
   checkStack();
   switch (rel.kind) {
   case RelKind::Values: return rel.as<op::Values>().rows.size() <= 1;
   case RelKind::Map:
   case RelKind::Select:
   case RelKind::Sort:
   case RelKind::Barrier:
   case RelKind::With: return hasOneRow(*rel.inputs[0]);
   case RelKind::Join: // ON CONFLICT's join with the stored rows of the key: at most one row matches
      return rel.as<op::Join>().kind == JoinKind::Left && hasOneRow(*rel.inputs[0]) &&
             rel.inputs[1]->kind == RelKind::Get;
   default: return false;
   }
}

plan::Operator emptyWrite(RelKind kind) {
   switch (kind) {
   case RelKind::Insert: return plan::Insert{};
   case RelKind::Update: return plan::Update{};
   case RelKind::Delete: return plan::Delete{};
   default: return plan::Merge{};
   }
}

} // namespace

Lowered Lowering::lowerDml(Rel& rel) {
   plan::NodePtr node = makeNode(emptyWrite(rel.kind), rel);
   Dml& dml = *rel.as<op::Write>().dml;
   ColumnSet below;
   addOwnReads(rel, below);
   if (hasOneRow(*rel.inputs[0])) dml.conflictKeys.clear();
   Lowered child = lower(*rel.inputs[0], below);

   // A column in the stored representation keeps its id. For any other column, a Project makes a converted copy, and
   // checks and RETURNING read the copy.
   std::vector<ComputedColumn> computed;
   ColumnMap converted;
   const auto convert = [&](GetColumn& target) {
      const Representation stored = storedRepresentation(query_.columns[target.column].type);
      if (query_.columns[target.column].repr == stored) return;
      const auto [it, isNew] = converted.try_emplace(target.column, noColumn);
      if (isNew) {
         ExprPtr expr = query_.ref(target.column);
         exprs_.lower(expr);
         ExprLowering::convert(expr, stored);
         it->second = query_.copyColumn(target.column);
         exprs_.setColumn(it->second, stored, std::nullopt);
         computed.push_back({it->second, std::move(expr)});
      }
      target.column = it->second;
   };
   for (GetColumn& target : dml.target)
      convert(target);
   for (GetColumn& proposed : dml.proposed)
      convert(proposed);
   if (!computed.empty()) {
      std::vector<ColumnId> output = child.node->output;
      for (const ComputedColumn& column : computed)
         output.push_back(column.column);
      child = project(std::move(child), std::move(computed), output);
   }
   const auto lowerOver = [&](ExprPtr& expr) {
      ExprPtr replacement;
      substituteColumns(expr, [&](ColumnId column) -> const Expr* {
         const auto it = converted.find(column);
         if (it == converted.end()) return nullptr;
         replacement = query_.ref(it->second);
         return replacement.get();
      });
      return exprs_.lower(expr);
   };
   for (auto* checks : {&dml.checks, &dml.proposedChecks, &dml.storedChecks})
      for (Dml::Check& check : *checks)
         if (check.expr) lowerOver(check.expr);
   for (Dml::PartCheck& check : dml.partChecks)
      if (check.check.expr) lowerOver(check.check.expr);
   for (Dml::PartKey& key : dml.partKeys)
      lowerOver(key.expr);
   for (ComputedColumn& column : dml.returning) {
      const std::optional<Bounds> bounds = lowerOver(column.expr);
      exprs_.setColumn(column.column, column.expr->repr, bounds);
      node->output.push_back(column.column);
   }
   node->children.push_back(std::move(child.node));
   node->as<plan::Write>().dml = std::move(rel.as<op::Write>().dml);
   return {std::move(node), child.rowsMax};
}

Lowered Lowering::lowerLockRows(Rel& rel, const ColumnSet& need) {
   plan::NodePtr node = makeNode(plan::LockRows{}, rel);
   ColumnSet below = need;
   addOwnReads(rel, below);
   Lowered child = lower(*rel.inputs[0], below);
   node->as<plan::LockRows>().locks = std::move(rel.as<op::LockRows>().locks);
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   return {std::move(node), child.rowsMax};
}

} // namespace ouzel::optimizer
