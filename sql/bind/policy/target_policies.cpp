#include "sql/bind/policy/target_policies.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

using catalog::PolicyCommand;

namespace {

using Checks = std::vector<Dml::Check>;

constexpr PolicyBinder::Words newRow{"new row", ""}, conflictingRow{"new row", " (USING expression)"},
    targetRow{"target row", " (USING expression)"};

void append(Checks& to, Checks more) {
   std::move(more.begin(), more.end(), std::back_inserter(to));
}
void prepend(Checks& to, Checks first) {
   append(first, std::move(to));
   to = std::move(first);
}

/// What the new row of a command has to pass. One that the statement reads has to be visible, too.
Checks newRowChecks(PolicyBinder& policies, PolicyCommand command, const std::vector<GetColumn>& row, bool isRead) {
   Checks checks = policies.checks(command, row, false, newRow);
   if (isRead) append(checks, policies.checks(PolicyCommand::Select, row, true, newRow));
   return checks;
}

/// Checks of MERGE are for the rows of some clauses.
Checks onlyFor(Checks checks, const Dml& dml, DmlAction action) {
   const SqlType int4 = plainType(oid::int4);
   std::vector<ExprPtr> isMeant;
   for (size_t number = 0; number < dml.actions.size(); ++number)
      if (dml.actions[number] == action)
         isMeant.push_back(
             makeCompare(CompareOp::Eq, makeColumn(dml.clause, int4),
                         makeConstant(int4, Value::integer(PhysicalType::I32, static_cast<int64_t>(number)))));
   if (isMeant.empty()) return {};
   const ExprPtr condition = makeOr(std::move(isMeant));
   for (Dml::Check& check : checks) {
      auto guarded = makeTyped(ExprKind::Case, check.expr->type);
      guarded->args.push_back(clone(*condition));
      guarded->args.push_back(std::move(check.expr));
      guarded->args.push_back(makeBoolean(true));
      check.expr = std::move(guarded);
   }
   return checks;
}

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&found](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

/// Checks with subqueries: they are computed below the operator, which then tests the results.
void computeSubqueries(BindState& state, const Scope& scope, Rel& write, Checks& checks) {
   std::vector<ComputedColumn> computed;
   for (Dml::Check& check : checks) {
      if (!check.expr || !hasSubquery(*check.expr)) continue;
      const ColumnId holds = state.addColumn(scope, "policy", plainType(oid::boolean));
      computed.push_back({holds, std::exchange(check.expr, makeColumn(holds, plainType(oid::boolean)))});
   }
   write.inputs[0] = makeMap(std::move(write.inputs[0]), std::move(computed));
}

} // namespace

TargetPolicies::TargetPolicies(BindState& state, const catalog::RelationPtr& table, Oid role)
   : table_(table), role_(role), isAny_(policiesApply(state, *table, role)) {
   if (isAny_) number_ = ++state.targets;
}

void TargetPolicies::watch(NamespaceItem& item) const {
   for (ScopeColumn& column : item.columns)
      column.target = number_;
}

void TargetPolicies::noteRead(BindState& state) const {
   if (isAny_) state.targetsRead.insert(number_);
}

RelPtr TargetPolicies::guard(RelPtr scan) {
   if (!isAny_) return scan;
   scan = makeRel(RelKind::Barrier, op::Barrier{table_->oid, role_}, std::move(scan));
   barrier_ = scan.get();
   return scan;
}

void TargetPolicies::guardView(Rel* barrier) {
   if (!isAny_ || !barrier) return;
   barrier_ = barrier;
   // What was put there for reading counts only if the statement reads, as apply() finds out.
   while (barrier->inputs[0]->kind == RelKind::Select) {
      RelPtr input = std::move(barrier->inputs[0]->inputs[0]);
      barrier->inputs[0] = std::move(input);
   }
}

Checks TargetPolicies::conflictChecks(BindState& state, const Scope& scope) const {
   if (!isAny_) return {};
   PolicyBinder policies(state, scope, *table_, role_);
   Checks checks = policies.checks(PolicyCommand::Update, stored_, true, conflictingRow);
   append(checks, policies.checks(PolicyCommand::Select, stored_, true, conflictingRow));
   return checks;
}

void TargetPolicies::restrictScan(PolicyBinder& policies, RelKind kind, bool isRead) const {
   if (!barrier_) return;
   std::vector<ExprPtr> conjuncts;
   const auto add = [&](PolicyCommand command) {
      for (ExprPtr& conjunct : policies.visible(command, stored_))
         conjuncts.push_back(std::move(conjunct));
   };
   if (kind == RelKind::Update) add(PolicyCommand::Update);
   if (kind == RelKind::Delete) add(PolicyCommand::Delete);
   if (isRead) add(PolicyCommand::Select);
   barrier_->inputs[0] = makeSelect(std::move(barrier_->inputs[0]), std::move(conjuncts));
}

namespace {

void checkInsert(PolicyBinder& policies, Dml& dml, bool isRead) {
   const bool mayConflict = !dml.proposed.empty();
   prepend(mayConflict ? dml.proposedChecks : dml.checks,
           newRowChecks(policies, PolicyCommand::Insert, mayConflict ? dml.proposed : dml.target, isRead));
   if (dml.conflict == ConflictAction::Update)
      prepend(dml.checks, newRowChecks(policies, PolicyCommand::Update, dml.target, isRead));
}

void checkMerge(PolicyBinder& policies, Dml& dml, const std::vector<GetColumn>& stored, bool isRead) {
   for (const auto& [command, action] :
        {std::pair{PolicyCommand::Update, DmlAction::Update}, {PolicyCommand::Delete, DmlAction::Delete}})
      append(dml.storedChecks, onlyFor(policies.checks(command, stored, true, targetRow), dml, action));
   if (dml.target.empty()) return; // it only deletes
   Checks checks = onlyFor(newRowChecks(policies, PolicyCommand::Insert, dml.target, false), dml, DmlAction::Insert);
   append(checks, onlyFor(newRowChecks(policies, PolicyCommand::Update, dml.target, isRead), dml, DmlAction::Update));
   prepend(dml.checks, std::move(checks));
}

} // namespace

void TargetPolicies::apply(BindState& state, const Scope& scope, Rel& write) const {
   if (!isAny_) return;
   Dml& dml = *write.as<op::Write>().dml;
   PolicyBinder policies(state, scope, *table_, role_);
   const bool isRead = state.targetsRead.contains(number_);
   restrictScan(policies, write.kind, isRead);
   if (write.kind == RelKind::Insert) checkInsert(policies, dml, isRead);
   if (write.kind == RelKind::Update)
      prepend(dml.checks, newRowChecks(policies, PolicyCommand::Update, dml.target, isRead));
   if (write.kind == RelKind::Merge) checkMerge(policies, dml, stored_, isRead);
   for (Checks* checks : {&dml.checks, &dml.proposedChecks, &dml.storedChecks})
      computeSubqueries(state, scope, write, *checks);
}

} // namespace ouzel::sql
