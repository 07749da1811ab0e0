#include "sql/algebra/verify.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/verify_expr.hpp"

namespace ouzel::sql {

namespace {

/// Walks one tree bottom-up and checks each operator. `below` has the columns that the operator's inputs give; `outer`
/// has the columns of enclosing queries.
class RelVerifier {
public:
   RelVerifier(const ColumnTable& columns, std::string_view after, const TreeForm& form)
      : exprs_(columns, after, false), form_(form) {
      if (form.hasSubqueries)
         exprs_.onSubquery([this](const Rel& subquery, const VisibleColumns& outer) { walk(subquery, outer); });
   }

   void run(const Rel& root, const std::vector<OutputColumn>& output) {
      const VisibleColumns given = walk(root, {});
      exprs_.enter("the result");
      for (const OutputColumn& column : output) {
         exprs_.checkColumn(column.column, given);
         exprs_.ensure(areAlike(exprs_.columns()[column.column].type, column.type),
                       "a result column is of its column's type", column.name);
      }
   }

private:
   /// A CTE that the walk has met. `scope` is the walk's place: in the CTE's recursive term, where the CTE may be
   /// scanned, or past both.
   struct KnownCte {
      enum class Scope : uint8_t { Recursion, Readers, Past };
      const Cte* cte;
      Scope scope;
   };

   VisibleColumns walk(const Rel& rel, const VisibleColumns& outer);
   VisibleColumns walkInputs(const Rel& rel, const VisibleColumns& outer);
   void checkShape(const Rel& rel);
   void checkOwn(const Rel& rel, const VisibleColumns& visible, const VisibleColumns& outer);
   void checkGet(const Rel& rel, const VisibleColumns& outer);
   void checkValues(const op::Values& values, const VisibleColumns& outer);
   void checkTableFunction(const op::TableFunction& call, const VisibleColumns& visible);
   void checkComputed(const Rel& rel, const VisibleColumns& visible);
   void checkJoin(const op::Join& join, const VisibleColumns& visible);
   void checkGroupBy(const op::GroupBy& group, const VisibleColumns& visible);
   void checkAggregate(const AggregateCall& call, const VisibleColumns& visible);
   void checkWindow(const op::Window& window, const VisibleColumns& visible);
   void checkFrame(const FrameBound& bound, const VisibleColumns& visible);
   void checkSortKeys(const std::vector<SortKey>& keys, const VisibleColumns& visible);
   void checkLimit(const Rel& rel, const VisibleColumns& visible, const VisibleColumns& outer);
   void checkSetOp(const Rel& rel, const VisibleColumns& outer);
   void checkCteScan(const Rel& rel);
   void checkRowLocks(const op::LockRows& rows, const VisibleColumns& visible);
   void checkDml(const Rel& rel, const VisibleColumns& visible);
   void checkDmlColumns(const std::vector<GetColumn>& columns, const VisibleColumns& visible);
   void defineCte(const Cte& cte, const VisibleColumns& outer);
   void makeColumns(const Rel& rel);
   void make(ColumnId column);

   ExprVerifier exprs_;
   const TreeForm form_;
   VisibleColumns made_; ///< by any operator so far
   std::unordered_map<uint32_t, KnownCte> ctes_;
};

size_t inputCount(const Rel& rel) {
   switch (rel.kind) {
   case RelKind::Get:
   case RelKind::VirtualGet:
   case RelKind::Values:
   case RelKind::CteScan:
   case RelKind::RecursiveScan: return 0;
   case RelKind::TableFunction: // one input when the arguments read columns of that input
      return rel.inputs.empty() ? 0 : 1;
   case RelKind::Join:
   case RelKind::SetOp: return 2;
   case RelKind::Limit: // two when an input computes the bounds
      return rel.inputs.size() == 2 ? 2 : 1;
   default: return 1;
   }
}

/// Join kinds whose right side may read columns of the left.
bool mayDepend(JoinKind kind) {
   return kind != JoinKind::Right && kind != JoinKind::Full;
}

VisibleColumns RelVerifier::walk(const Rel& rel, const VisibleColumns& outer) {
   checkStack();
   std::string above = exprs_.enter(nameOf(rel.kind));
   checkShape(rel);
   const auto* with = rel.getIf<op::With>();
   if (with)
      for (const Cte& cte : with->ctes)
         defineCte(cte, outer);
   VisibleColumns below = walkInputs(rel, outer);
   below.add(outer);
   checkOwn(rel, below, outer);
   makeColumns(rel);
   if (with)
      for (const Cte& cte : with->ctes)
         ctes_.at(cte.id).scope = KnownCte::Scope::Past;
   exprs_.enter(std::move(above));
   return VisibleColumns(outputColumns(rel));
}

VisibleColumns RelVerifier::walkInputs(const Rel& rel, const VisibleColumns& outer) {
   VisibleColumns below;
   const auto* join = rel.getIf<op::Join>();
   for (const RelPtr& input : rel.inputs) {
      VisibleColumns visible = outer;
      if (join && join->dependent) visible.add(below); // `below` is empty for the left side
      below.add(walk(*input, visible));
   }
   return below;
}

void RelVerifier::checkShape(const Rel& rel) {
   exprs_.ensure(rel.inputs.size() == inputCount(rel), "an operator has the inputs of its kind");
   for (const RelPtr& input : rel.inputs)
      exprs_.ensure(input != nullptr, "an input is there");
   if (isDml(rel.kind)) exprs_.ensure(rel.as<op::Write>().dml != nullptr, "DML operators say what they write");
}

void RelVerifier::make(ColumnId column) {
   exprs_.ensure(static_cast<uint32_t>(column) < exprs_.columns().size(), "a column made is in the table of columns");
   exprs_.ensure(made_.add(column), "a column is made once", column);
}

/// Notes the columns that this operator makes, and refuses columns that were made before.
void RelVerifier::makeColumns(const Rel& rel) {
   forEachOwnColumn(rel, [this](ColumnId column, ColumnRole role) {
      if (role == ColumnRole::Made) make(column);
   });
}

void RelVerifier::checkOwn(const Rel& rel, const VisibleColumns& visible, const VisibleColumns& outer) {
   switch (rel.kind) {
   case RelKind::Get:
   case RelKind::VirtualGet: return checkGet(rel, outer);
   case RelKind::Values: return checkValues(rel.as<op::Values>(), outer);
   case RelKind::TableFunction: return checkTableFunction(rel.as<op::TableFunction>(), visible);
   case RelKind::Select:
      if (const ExprPtr& predicate = rel.as<op::Select>().predicate) exprs_.checkPredicate(predicate, visible);
      return;
   case RelKind::Map:
   case RelKind::ProjectSet: return checkComputed(rel, visible);
   case RelKind::Join: return checkJoin(rel.as<op::Join>(), visible);
   case RelKind::GroupBy: return checkGroupBy(rel.as<op::GroupBy>(), visible);
   case RelKind::Window: return checkWindow(rel.as<op::Window>(), visible);
   case RelKind::Distinct:
      for (const ColumnId column : rel.as<op::Distinct>().columns)
         exprs_.checkColumn(column, visible);
      return checkSortKeys(rel.as<op::Distinct>().sortKeys, visible);
   case RelKind::Sort:
      exprs_.ensure(!rel.as<op::Sort>().keys.empty(), "a sort has keys");
      return checkSortKeys(rel.as<op::Sort>().keys, visible);
   case RelKind::Limit: return checkLimit(rel, visible, outer);
   case RelKind::SetOp: return checkSetOp(rel, outer);
   case RelKind::CteScan:
   case RelKind::RecursiveScan: return checkCteScan(rel);
   case RelKind::With: return exprs_.ensure(!rel.as<op::With>().ctes.empty(), "With defines a CTE");
   case RelKind::LockRows: return checkRowLocks(rel.as<op::LockRows>(), visible);
   case RelKind::Barrier: return;
   case RelKind::Insert:
   case RelKind::Update:
   case RelKind::Delete:
   case RelKind::Merge: return checkDml(rel, visible);
   }
}

void RelVerifier::checkGet(const Rel& rel, const VisibleColumns& outer) {
   const auto& get = rel.as<op::Get>();
   for (const GetColumn& column : get.columns) {
      const bool isRowId = column.attribute == rowIdAttribute && rel.kind == RelKind::Get;
      const bool isTableOid = column.attribute == tableOidAttribute && rel.kind == RelKind::Get;
      exprs_.ensure(column.attribute > 0 || isRowId || isTableOid,
                    "a scan reads attributes from 1, the row id or the table's OID", column.column);
   }
   for (const GetPath& path : get.paths)
      exprs_.ensure(path.attribute > 0 && rel.kind == RelKind::Get, "a path is one of a stored attribute", path.column);
   if (get.predicate) {
      VisibleColumns scanned = outer;
      for (const GetColumn& column : get.columns)
         scanned.add(column.column);
      for (const GetPath& path : get.paths)
         scanned.add(path.column);
      exprs_.checkPredicate(get.predicate, scanned);
   }
}

void RelVerifier::checkValues(const op::Values& values, const VisibleColumns& outer) {
   for (const auto& row : values.rows) {
      exprs_.ensure(row.size() == values.columns.size(), "a row has a value for each column");
      exprs_.check(row, outer);
      for (size_t i = 0; i < row.size(); ++i)
         exprs_.ensure(isNullConstant(*row[i]) ? isCompatible(row[i]->type, exprs_.columns()[values.columns[i]].type)
                                               : areAlike(row[i]->type, exprs_.columns()[values.columns[i]].type),
                       "a value is of its column's type", values.columns[i]);
   }
}

void RelVerifier::checkTableFunction(const op::TableFunction& call, const VisibleColumns& visible) {
   exprs_.ensure(call.function != nullptr, "a table function is known");
   exprs_.check(call.args, visible);
}

void RelVerifier::checkComputed(const Rel& rel, const VisibleColumns& visible) {
   const auto& map = rel.as<op::Map>();
   for (const ComputedColumn& computed : map.computed) {
      exprs_.checkComputed(computed, visible);
      forEachExpr(*computed.expr, [&](const Expr& expr) {
         const bool isSet = expr.kind == ExprKind::Call && functionOf(expr)->returnsSet;
         const bool isAllowed = rel.kind == RelKind::ProjectSet && &expr == computed.expr.get();
         exprs_.ensure(!isSet || isAllowed, "a set-returning function stands at the top of ProjectSet",
                       computed.column);
         return true;
      });
   }
}

void RelVerifier::checkJoin(const op::Join& join, const VisibleColumns& visible) {
   exprs_.ensure(!join.dependent || form_.hasDependence, "dependent joins are gone after unnesting");
   exprs_.ensure(join.kind != JoinKind::RightSemi && join.kind != JoinKind::RightAnti,
                 "joins that give the right side's rows are for plans");
   exprs_.ensure((join.kind == JoinKind::Mark) == (join.markColumn != noColumn),
                 "mark joins and only they have a mark");
   exprs_.ensure(!join.dependent || mayDepend(join.kind), "a right or full join does not depend");
   if (join.predicate) exprs_.checkPredicate(join.predicate, visible);
}

void RelVerifier::checkGroupBy(const op::GroupBy& group, const VisibleColumns& visible) {
   for (const ComputedColumn& key : group.keys)
      exprs_.checkComputed(key, visible);
   for (const AggregateCall& call : group.aggregates)
      checkAggregate(call, visible);
   for (const auto& set : group.groupingSets)
      for (const uint32_t key : set)
         exprs_.ensure(key < group.keys.size(), "a grouping set names keys that exist");
   for (const GroupingCall& call : group.groupingCalls)
      for (const uint32_t key : call.keys)
         exprs_.ensure(key < group.keys.size(), "GROUPING names keys that exist");
}

void RelVerifier::checkAggregate(const AggregateCall& call, const VisibleColumns& visible) {
   exprs_.ensure(call.function != nullptr, "an aggregate has a function");
   exprs_.ensure(call.function->kind == catalog::FunctionKind::Aggregate, "an aggregate's function is one",
                 call.function->name);
   exprs_.ensure(!call.star || call.args.empty(), "an aggregate of * has no arguments", call.function->name);
   exprs_.check(call.args, visible);
   exprs_.check(call.directArgs, visible);
   checkSortKeys(call.orderBy, visible);
   if (call.filter) exprs_.checkPredicate(call.filter, visible);
   exprs_.ensure(static_cast<uint32_t>(call.column) < exprs_.columns().size(), "an aggregate's column exists");
   exprs_.ensure(isCompatible(exprs_.columns()[call.column].type, call.type),
                 "an aggregate's column is of the aggregate's type", call.column);
}

void RelVerifier::checkWindow(const op::Window& window, const VisibleColumns& visible) {
   exprs_.check(window.spec.partitionBy, visible);
   checkSortKeys(window.spec.orderBy, visible);
   checkFrame(window.spec.start, visible);
   checkFrame(window.spec.end, visible);
   exprs_.ensure(window.spec.start.kind != FrameBoundKind::UnboundedFollowing, "a frame starts before the end");
   exprs_.ensure(window.spec.end.kind != FrameBoundKind::UnboundedPreceding, "a frame ends after the start");
   for (const WindowCall& call : window.calls) {
      exprs_.ensure(call.function != nullptr, "a window call has a function");
      exprs_.ensure(call.function->kind == catalog::FunctionKind::Window ||
                        call.function->kind == catalog::FunctionKind::Aggregate,
                    "a window call is of a window function or an aggregate", call.function->name);
      exprs_.check(call.args, visible);
      if (call.filter) exprs_.checkPredicate(call.filter, visible);
      exprs_.ensure(isCompatible(exprs_.columns()[call.column].type, call.type),
                    "a window call's column is of the call's type", call.column);
   }
}

void RelVerifier::checkFrame(const FrameBound& bound, const VisibleColumns& visible) {
   const bool hasOffset =
       bound.kind == FrameBoundKind::OffsetPreceding || bound.kind == FrameBoundKind::OffsetFollowing;
   exprs_.ensure(hasOffset == (bound.offset != nullptr), "a frame's bound has the offset that its kind wants");
   if (bound.offset) exprs_.check(bound.offset, visible);
}

void RelVerifier::checkSortKeys(const std::vector<SortKey>& keys, const VisibleColumns& visible) {
   for (const SortKey& key : keys)
      exprs_.check(key.expr, visible);
}

void RelVerifier::checkLimit(const Rel& rel, const VisibleColumns& visible, const VisibleColumns& outer) {
   const auto& limit = rel.as<op::Limit>();
   VisibleColumns bounds = outer;
   if (rel.inputs.size() > 1) bounds.add(outputColumns(*rel.inputs[1]));
   if (limit.limit) exprs_.check(limit.limit, bounds);
   if (limit.offset) exprs_.check(limit.offset, bounds);
   exprs_.ensure(!limit.limit || limit.limit->type.oid == oid::int8, "LIMIT is bigint");
   exprs_.ensure(!limit.offset || limit.offset->type.oid == oid::int8, "OFFSET is bigint");
   checkSortKeys(limit.sortKeys, visible);
}

void RelVerifier::checkSetOp(const Rel& rel, const VisibleColumns& outer) {
   const auto& setOp = rel.as<op::SetOp>();
   exprs_.ensure(form_.hasDifferences || setOp.kind == SetOpKind::Union, "INTERSECT and EXCEPT have become joins");
   for (size_t side = 0; side < 2; ++side) {
      VisibleColumns given(outputColumns(*rel.inputs[side]));
      given.add(outer); // a side may pass on a column of an enclosing query
      exprs_.ensure(setOp.inputColumns[side].size() == setOp.columns.size(),
                    "a set operation has one number of columns");
      for (size_t i = 0; i < setOp.columns.size(); ++i) {
         exprs_.checkColumn(setOp.inputColumns[side][i], given);
         exprs_.ensure(
             areAlike(exprs_.columns()[setOp.inputColumns[side][i]].type, exprs_.columns()[setOp.columns[i]].type),
             "columns of a set operation are of one type", setOp.columns[i]);
      }
   }
}

void RelVerifier::checkCteScan(const Rel& rel) {
   const auto& scan = rel.as<op::CteScan>();
   const auto found = ctes_.find(scan.cte);
   exprs_.ensure(found != ctes_.end(), "a CTE is defined before it is scanned", scan.cte);
   const Cte& cte = *found->second.cte;
   if (rel.kind == RelKind::RecursiveScan) {
      exprs_.ensure(found->second.scope == KnownCte::Scope::Recursion,
                    "a working table is scanned inside its recursion", cte.name);
      exprs_.ensure(scan.columns.size() == cte.columns.size(), "a working table has its CTE's columns", cte.name);
      return;
   }
   exprs_.ensure(found->second.scope == KnownCte::Scope::Readers,
                 "a CTE is scanned in its With's body or in later CTEs", cte.name);
   exprs_.ensure(scan.columns.size() == scan.cteColumns.size(), "each column of a CTE scan stands for one of the CTE");
   const VisibleColumns given(cte.columns);
   for (size_t i = 0; i < scan.columns.size(); ++i) {
      exprs_.checkColumn(scan.cteColumns[i], given);
      exprs_.ensure(areAlike(exprs_.columns()[scan.columns[i]].type, exprs_.columns()[scan.cteColumns[i]].type),
                    "a column of a CTE scan is of the CTE's type", scan.columns[i]);
   }
}

void RelVerifier::defineCte(const Cte& cte, const VisibleColumns& outer) {
   exprs_.ensure(cte.query != nullptr, "a CTE has a query", cte.name);
   exprs_.ensure(!ctes_.contains(cte.id), "a CTE's id is defined once", cte.id);
   const VisibleColumns given = walk(*cte.query, outer);
   for (const ColumnId column : cte.columns)
      exprs_.checkColumn(column, given);
   ctes_.emplace(cte.id, KnownCte{&cte, KnownCte::Scope::Recursion});
   if (cte.recursive) {
      const VisibleColumns step = walk(*cte.recursive, outer);
      exprs_.ensure(cte.recursiveColumns.size() == cte.columns.size(), "a recursive term gives its CTE's columns",
                    cte.name);
      for (size_t i = 0; i < cte.columns.size(); ++i) {
         exprs_.checkColumn(cte.recursiveColumns[i], step);
         exprs_.ensure(areAlike(exprs_.columns()[cte.columns[i]].type, exprs_.columns()[cte.recursiveColumns[i]].type),
                       "a recursive term's columns are of the CTE's types", cte.name);
      }
   }
   ctes_.at(cte.id).scope = KnownCte::Scope::Readers;
}

void RelVerifier::checkRowLocks(const op::LockRows& rows, const VisibleColumns& visible) {
   exprs_.ensure(!rows.locks.empty(), "LockRows locks rows of a table");
   for (const RowLock& lock : rows.locks) {
      exprs_.checkColumn(lock.rowId, visible);
      exprs_.ensure(exprs_.columns()[lock.rowId].type.oid == oid::int8, "a row id is bigint");
   }
}

void RelVerifier::checkDmlColumns(const std::vector<GetColumn>& columns, const VisibleColumns& visible) {
   int16_t last = 0;
   for (const GetColumn& column : columns) {
      exprs_.checkColumn(column.column, visible);
      exprs_.ensure(column.attribute > last, "written attributes come in order, each once", column.column);
      last = column.attribute;
   }
}

void RelVerifier::checkDml(const Rel& rel, const VisibleColumns& visible) {
   const Dml& dml = *rel.as<op::Write>().dml;
   checkDmlColumns(dml.target, visible);
   checkDmlColumns(dml.proposed, visible);
   const bool changesRows = rel.kind == RelKind::Update || rel.kind == RelKind::Delete;
   exprs_.ensure(!changesRows || dml.isInstead || dml.rowId != noColumn, "UPDATE and DELETE know the row");
   if (dml.rowId != noColumn) exprs_.checkColumn(dml.rowId, visible);
   for (const GetColumn& stored : dml.storedKeys)
      exprs_.checkColumn(stored.column, visible);
   exprs_.ensure((dml.clause == noColumn) == dml.actions.empty(), "a clause number and actions come together");
   if (dml.clause != noColumn) {
      exprs_.checkColumn(dml.clause, visible);
      exprs_.ensure(exprs_.columns()[dml.clause].type.oid == oid::int4, "a clause number is integer");
   }
   exprs_.ensure((dml.input != nullptr) == (dml.inputLine != noColumn), "an input and its line come together");
   if (dml.inputLine != noColumn) exprs_.checkColumn(dml.inputLine, visible);
   for (const auto* checks : {&dml.checks, &dml.proposedChecks})
      for (const Dml::Check& check : *checks) {
         exprs_.ensure((check.expr == nullptr) == (check.notNullAttribute != 0), "a check is an expression or NOT NULL",
                       check.constraint);
         if (check.expr) exprs_.checkPredicate(check.expr, visible);
      }
   for (const ComputedColumn& computed : dml.returning)
      exprs_.checkComputed(computed, visible);
}

} // namespace

void verify(const Rel& root, const std::vector<OutputColumn>& output, const ColumnTable& columns,
            std::string_view after, const TreeForm& form) {
   RelVerifier(columns, after, form).run(root, output);
}

} // namespace ouzel::sql
