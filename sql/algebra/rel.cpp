#include "sql/algebra/rel.hpp"

#include <unordered_set>

namespace ouzel::sql {

namespace {

void appendAll(std::vector<ColumnId>& to, const std::vector<ColumnId>& from) {
   to.insert(to.end(), from.begin(), from.end());
}

/// Visits the columns that this operator makes, not those that its inputs give.
void ownColumns(const Rel& rel, const std::function<void(ColumnId)>& visit) {
   for (const GetColumn& column : rel.getColumns)
      visit(column.column);
   const bool definesColumns = rel.kind != RelKind::Distinct;
   if (definesColumns)
      for (const ColumnId column : rel.columns)
         visit(column);
   if (rel.ordinality != noColumn) visit(rel.ordinality);
   for (const ComputedColumn& computed : rel.computed)
      visit(computed.column);
   if (rel.markColumn != noColumn) visit(rel.markColumn);
   for (const ComputedColumn& key : rel.keys)
      visit(key.column);
   for (const AggregateCall& call : rel.aggregates)
      visit(call.column);
   for (const Rel::GroupingCall& call : rel.groupingCalls)
      visit(call.column);
   for (const WindowCall& call : rel.windowCalls)
      visit(call.column);
   if (rel.dml) {
      for (const GetColumn& column : rel.dml->target)
         visit(column.column);
      for (const GetColumn& column : rel.dml->proposed)
         visit(column.column);
      for (const ComputedColumn& computed : rel.dml->returning)
         visit(computed.column);
   }
}

struct FreeColumns {
   std::vector<ColumnId> read; ///< in order of appearance
   std::unordered_set<uint32_t> seen, made;

   void reads(ColumnId column) {
      if (column != noColumn && seen.insert(static_cast<uint32_t>(column)).second) read.push_back(column);
   }
   void visit(const Rel& rel) {
      ownColumns(rel, [this](ColumnId column) { made.insert(static_cast<uint32_t>(column)); });
      forEachOwnExpr(rel, [this](const Expr& expr) { visit(expr); });
      if (rel.kind == RelKind::Distinct)
         for (const ColumnId column : rel.columns)
            reads(column);
      for (const auto& side : rel.setOpInputs)
         for (const ColumnId column : side)
            reads(column);
      for (const RelPtr& input : rel.inputs)
         visit(*input);
      for (const Cte& cte : rel.ctes) {
         visit(*cte.query);
         if (cte.recursive) visit(*cte.recursive);
      }
   }
   void visit(const Expr& root) {
      forEachExpr(root, [this](const Expr& expr) {
         if (expr.kind == ExprKind::Column) reads(expr.column);
         if (expr.subquery) visit(*expr.subquery);
         return true;
      });
   }
};

ExprPtr cloneOrNull(const ExprPtr& expr) {
   return expr ? clone(*expr) : nullptr;
}

std::vector<ExprPtr> cloneList(const std::vector<ExprPtr>& list) {
   std::vector<ExprPtr> copy;
   copy.reserve(list.size());
   for (const ExprPtr& expr : list)
      copy.push_back(clone(*expr));
   return copy;
}

std::vector<ComputedColumn> cloneList(const std::vector<ComputedColumn>& list) {
   std::vector<ComputedColumn> copy;
   for (const ComputedColumn& computed : list)
      copy.push_back({computed.column, clone(*computed.expr)});
   return copy;
}

std::vector<SortKey> cloneList(const std::vector<SortKey>& list) {
   std::vector<SortKey> copy;
   for (const SortKey& key : list)
      copy.push_back({clone(*key.expr), key.descending, key.nullsFirst});
   return copy;
}

AggregateCall cloneCall(const AggregateCall& call) {
   AggregateCall copy;
   copy.column = call.column;
   copy.function = call.function;
   copy.args = cloneList(call.args);
   copy.directArgs = cloneList(call.directArgs);
   copy.orderBy = cloneList(call.orderBy);
   copy.filter = cloneOrNull(call.filter);
   copy.distinct = call.distinct;
   copy.star = call.star;
   copy.type = call.type;
   return copy;
}

WindowCall cloneCall(const WindowCall& call) {
   WindowCall copy;
   copy.column = call.column;
   copy.function = call.function;
   copy.args = cloneList(call.args);
   copy.filter = cloneOrNull(call.filter);
   copy.star = call.star;
   copy.distinct = call.distinct;
   copy.type = call.type;
   return copy;
}

WindowSpec cloneSpec(const WindowSpec& spec) {
   WindowSpec copy;
   copy.partitionBy = cloneList(spec.partitionBy);
   copy.orderBy = cloneList(spec.orderBy);
   copy.mode = spec.mode;
   copy.start = {spec.start.kind, cloneOrNull(spec.start.offset)};
   copy.end = {spec.end.kind, cloneOrNull(spec.end.offset)};
   copy.exclusion = spec.exclusion;
   return copy;
}

Cte cloneCte(const Cte& cte) {
   Cte copy;
   copy.id = cte.id;
   copy.name = cte.name;
   copy.query = clone(*cte.query);
   if (cte.recursive) copy.recursive = clone(*cte.recursive);
   copy.unionAll = cte.unionAll;
   copy.columns = cte.columns;
   copy.recursiveColumns = cte.recursiveColumns;
   copy.references = cte.references;
   copy.materialized = cte.materialized;
   return copy;
}

std::unique_ptr<Dml> cloneDml(const Dml& dml) {
   auto copy = std::make_unique<Dml>();
   copy->table = dml.table;
   copy->target = dml.target;
   copy->rowId = dml.rowId;
   copy->assigned = dml.assigned;
   copy->returning = cloneList(dml.returning);
   const auto cloneChecks = [](const std::vector<Dml::Check>& from, std::vector<Dml::Check>& to) {
      for (const Dml::Check& check : from)
         to.push_back({cloneOrNull(check.expr), check.constraint, check.notNullAttribute, check.column});
   };
   cloneChecks(dml.checks, copy->checks);
   copy->clause = dml.clause;
   copy->actions = dml.actions;
   copy->proposed = dml.proposed;
   cloneChecks(dml.proposedChecks, copy->proposedChecks);
   copy->conflictKeys = dml.conflictKeys;
   copy->conflict = dml.conflict;
   copy->isMain = dml.isMain;
   copy->input = dml.input;
   copy->inputLine = dml.inputLine;
   return copy;
}

} // namespace

std::vector<ColumnId> outputColumns(const Rel& rel) {
   std::vector<ColumnId> out;
   switch (rel.kind) {
   case RelKind::Select:
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::With:
   case RelKind::LockRows: return outputColumns(*rel.inputs[0]);
   case RelKind::Distinct: return rel.sortKeys.empty() ? rel.columns : outputColumns(*rel.inputs[0]);
   case RelKind::Map:
   case RelKind::ProjectSet:
   case RelKind::Window: out = outputColumns(*rel.inputs[0]); break;
   case RelKind::TableFunction:
      if (!rel.inputs.empty()) out = outputColumns(*rel.inputs[0]);
      break;
   case RelKind::Join:
      out = outputColumns(*rel.inputs[0]);
      if (rel.joinKind != JoinKind::Semi && rel.joinKind != JoinKind::Anti && rel.joinKind != JoinKind::Mark)
         appendAll(out, outputColumns(*rel.inputs[1]));
      break;
   case RelKind::Insert:
   case RelKind::Update:
   case RelKind::Delete:
   case RelKind::Merge:
      for (const ComputedColumn& computed : rel.dml->returning)
         out.push_back(computed.column);
      return out;
   default: break;
   }
   ownColumns(rel, [&out](ColumnId column) { out.push_back(column); });
   return out;
}

void forEachOwnExpr(Rel& rel, const std::function<void(ExprPtr&)>& visit) {
   const auto one = [&visit](ExprPtr& expr) {
      if (expr) visit(expr);
   };
   const auto list = [&visit](std::vector<ExprPtr>& exprs) {
      for (ExprPtr& expr : exprs)
         visit(expr);
   };
   const auto columns = [&visit](std::vector<ComputedColumn>& computed) {
      for (ComputedColumn& column : computed)
         visit(column.expr);
   };
   const auto order = [&visit](std::vector<SortKey>& keys) {
      for (SortKey& key : keys)
         visit(key.expr);
   };
   for (auto& row : rel.rows)
      list(row);
   list(rel.args);
   one(rel.predicate);
   columns(rel.computed);
   columns(rel.keys);
   for (AggregateCall& call : rel.aggregates) {
      list(call.args);
      list(call.directArgs);
      order(call.orderBy);
      one(call.filter);
   }
   list(rel.windowSpec.partitionBy);
   order(rel.windowSpec.orderBy);
   one(rel.windowSpec.start.offset);
   one(rel.windowSpec.end.offset);
   for (WindowCall& call : rel.windowCalls) {
      list(call.args);
      one(call.filter);
   }
   order(rel.sortKeys);
   one(rel.limit);
   one(rel.offset);
   if (rel.dml) {
      columns(rel.dml->returning);
      for (Dml::Check& check : rel.dml->checks)
         one(check.expr);
      for (Dml::Check& check : rel.dml->proposedChecks)
         one(check.expr);
   }
}

void forEachOwnExpr(const Rel& rel, const std::function<void(const Expr&)>& visit) {
   // The mutable visitor only hands out references and changes nothing.
   forEachOwnExpr(const_cast<Rel&>(rel), [&visit](ExprPtr& expr) { visit(*expr); });
}

std::vector<ColumnId> freeColumns(const Rel& rel) {
   FreeColumns walk;
   walk.visit(rel);
   std::vector<ColumnId> free;
   for (const ColumnId column : walk.read)
      if (!walk.made.contains(static_cast<uint32_t>(column))) free.push_back(column);
   // The row id and the target columns of a DML come from its input, so they are never free.
   return free;
}

RelPtr clone(const Rel& rel) {
   auto copy = std::make_unique<Rel>(rel.kind);
   for (const RelPtr& input : rel.inputs)
      copy->inputs.push_back(clone(*input));
   copy->table = rel.table;
   copy->getColumns = rel.getColumns;
   copy->columns = rel.columns;
   for (const auto& row : rel.rows)
      copy->rows.push_back(cloneList(row));
   copy->function = rel.function;
   copy->args = cloneList(rel.args);
   copy->ordinality = rel.ordinality;
   copy->predicate = cloneOrNull(rel.predicate);
   copy->computed = cloneList(rel.computed);
   copy->joinKind = rel.joinKind;
   copy->dependent = rel.dependent;
   copy->markColumn = rel.markColumn;
   copy->keys = cloneList(rel.keys);
   for (const AggregateCall& call : rel.aggregates)
      copy->aggregates.push_back(cloneCall(call));
   copy->groupingSets = rel.groupingSets;
   copy->groupingCalls = rel.groupingCalls;
   copy->windowSpec = cloneSpec(rel.windowSpec);
   for (const WindowCall& call : rel.windowCalls)
      copy->windowCalls.push_back(cloneCall(call));
   copy->sortKeys = cloneList(rel.sortKeys);
   copy->limit = cloneOrNull(rel.limit);
   copy->offset = cloneOrNull(rel.offset);
   copy->withTies = rel.withTies;
   copy->setOpKind = rel.setOpKind;
   copy->all = rel.all;
   copy->setOpInputs[0] = rel.setOpInputs[0];
   copy->setOpInputs[1] = rel.setOpInputs[1];
   copy->cte = rel.cte;
   copy->cteColumns = rel.cteColumns;
   for (const Cte& cte : rel.ctes)
      copy->ctes.push_back(cloneCte(cte));
   if (rel.dml) copy->dml = cloneDml(*rel.dml);
   copy->rowLocks = rel.rowLocks;
   return copy;
}

} // namespace ouzel::sql
