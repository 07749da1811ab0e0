#include "sql/bind/policy/row_security.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/row_security.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/policy/policy_expression.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

Oid effectiveRole(const BindState& state, Oid role) {
   return role != invalidOid ? role : state.context.searchPath.role;
}

} // namespace

bool isRestricted(const BindState& state, const catalog::Relation& table, Oid role) {
   const Oid user = state.context.searchPath.role; // invalidOid: the server itself
   if (!table.hasRowSecurity || state.recorder || user == invalidOid) return false;
   const catalog::Snapshot& snapshot = state.context.catalog;
   const Oid who = effectiveRole(state, role);
   if (!catalog::isRestricted(snapshot, who, table)) return false;
   if (!state.context.rowSecurity) {
      SqlError error(sqlstate::insufficientPrivilege,
                     "query would be affected by row-level security policy for table \"" + table.name + "\"");
      if (catalog::ownsObject(snapshot, who, table.owner))
         throw std::move(error).hint(
             "To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.");
      throw error;
   }
   return true;
}

namespace {

/// The policies of one table for one role, as expressions over one row.
class PolicyBinder {
public:
   PolicyBinder(BindState& state, const Scope& scope, const catalog::Relation& table, Oid role)
      : state_(state), scope_(scope), table_(table), role_(role) {}

   /// What rows a command may see: conjuncts.
   std::vector<ExprPtr> visible(char command, const std::vector<GetColumn>& row) {
      std::vector<ExprPtr> conjuncts;
      const catalog::Policies policies = catalog::policiesFor(state_.context.catalog, role_, table_, command);
      auto permitted = permissive(policies, row, true);
      if (!permitted) {
         conjuncts.push_back(makeBoolean(false));
         return conjuncts;
      }
      for (const catalog::Policy* policy : policies.restrictive)
         if (!policy->usingExpr.empty()) conjuncts.push_back(bind(*policy, policy->usingExpr, row));
      conjuncts.push_back(std::move(permitted));
      return conjuncts;
   }

   /// How a check names what it refuses: "new row violates row-level security policy", "" or " (USING expression)".
   struct Words {
      const char* subject;
      const char* clause;
   };
   /// What a row has to pass, as checks. `byUsing`: by the USING expressions also where there is a WITH CHECK.
   std::vector<Dml::Check> checks(char command, const std::vector<GetColumn>& row, bool byUsing, const Words& words) {
      std::vector<Dml::Check> result;
      const catalog::Policies policies = catalog::policiesFor(state_.context.catalog, role_, table_, command);
      auto permitted = permissive(policies, row, byUsing);
      const bool isAny = permitted != nullptr;
      result.push_back(check(isAny ? std::move(permitted) : makeBoolean(false), {}, words));
      if (!isAny) return result;
      for (const catalog::Policy* policy : policies.restrictive)
         if (const std::string& text = textOf(*policy, byUsing); !text.empty())
            result.push_back(check(bind(*policy, text, row), " \"" + policy->name + "\"", words));
      return result;
   }

private:
   static const std::string& textOf(const catalog::Policy& policy, bool byUsing) {
      return byUsing || policy.checkExpr.empty() ? policy.usingExpr : policy.checkExpr;
   }
   /// Null if no permissive policy says anything.
   ExprPtr permissive(const catalog::Policies& policies, const std::vector<GetColumn>& row, bool byUsing) {
      std::vector<ExprPtr> any;
      for (const catalog::Policy* policy : policies.permissive)
         if (const std::string& text = textOf(*policy, byUsing); !text.empty()) any.push_back(bind(*policy, text, row));
      return any.empty() ? nullptr : makeOr(std::move(any));
   }
   ExprPtr bind(const catalog::Policy& policy, const std::string& text, const std::vector<GetColumn>& row) {
      return bindPolicy(state_, scope_.depth, table_, policy.tableName, text, row);
   }
   Dml::Check check(ExprPtr expr, const std::string& name, const Words& words) const {
      Dml::Check check;
      check.expr = makeTest(ExprKind::IsTrue, std::move(expr)); // unknown is not enough, as it is for constraints
      check.policyError = std::string(words.subject) + " violates row-level security policy" + name + words.clause +
                          " for table \"" + table_.name + "\"";
      return check;
   }

   BindState& state_;
   const Scope& scope_;
   const catalog::Relation& table_;
   const Oid role_;
};

constexpr PolicyBinder::Words newRow{"new row", ""}, conflictingRow{"new row", " (USING expression)"},
    targetRow{"target row", " (USING expression)"};

} // namespace

RelPtr restrictRead(BindState& state, const Scope& scope, const catalog::Relation& table, RelPtr scan,
                    const std::vector<GetColumn>& row) {
   if (!isRestricted(state, table, state.access.role)) return scan;
   const Oid role = effectiveRole(state, state.access.role);
   scan = makeSelect(std::move(scan), PolicyBinder(state, scope, table, role).visible('r', row));
   return makeRel(RelKind::Barrier, op::Barrier{table.oid, role}, std::move(scan));
}

void restrictLocked(BindState& state, const Scope& scope, Rel& barrier, const op::Get& scan) {
   const auto& fields = barrier.as<op::Barrier>();
   if (fields.relation == invalidOid) return;
   const auto table = state.context.catalog.relation(fields.relation);
   barrier.inputs[0] = makeSelect(std::move(barrier.inputs[0]),
                                  PolicyBinder(state, scope, *table, fields.role).visible('w', scan.columns));
}

TargetPolicies::TargetPolicies(BindState& state, const catalog::RelationPtr& table, Oid role)
   : table_(table), role_(effectiveRole(state, role)), isAny_(isRestricted(state, *table, role)) {
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

namespace {

/// Checks of MERGE and ON CONFLICT are for the rows of some clauses.
void onlyFor(std::vector<Dml::Check>& checks, const Dml& dml, DmlAction action) {
   std::vector<ExprPtr> isMeant;
   for (size_t number = 0; number < dml.actions.size(); ++number)
      if (dml.actions[number] == action)
         isMeant.push_back(makeCompare(
             CompareOp::Eq, makeColumn(dml.clause, plainType(oid::int4)),
             makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, static_cast<int64_t>(number)))));
   if (isMeant.empty()) {
      checks.clear();
      return;
   }
   const ExprPtr condition = makeOr(std::move(isMeant));
   for (Dml::Check& check : checks) {
      auto guarded = makeTyped(ExprKind::Case, check.expr->type);
      guarded->args.push_back(clone(*condition));
      guarded->args.push_back(std::move(check.expr));
      guarded->args.push_back(makeBoolean(true));
      check.expr = std::move(guarded);
   }
}

void append(std::vector<Dml::Check>& to, std::vector<Dml::Check> more) {
   std::move(more.begin(), more.end(), std::back_inserter(to));
}

/// Checks with subqueries: they are computed below the operator, which then tests the results.
void computeSubqueries(BindState& state, const Scope& scope, Rel& write, std::vector<Dml::Check>& checks) {
   std::vector<ComputedColumn> computed;
   for (Dml::Check& check : checks) {
      bool hasSubquery = false;
      forEachExpr(*check.expr, [&hasSubquery](const Expr& expr) {
         hasSubquery = hasSubquery || expr.kind == ExprKind::Subquery;
         return !hasSubquery;
      });
      if (!hasSubquery) continue;
      const ColumnId holds = state.addColumn(scope, "policy", plainType(oid::boolean));
      computed.push_back({holds, std::exchange(check.expr, makeColumn(holds, plainType(oid::boolean)))});
   }
   write.inputs[0] = makeMap(std::move(write.inputs[0]), std::move(computed));
}

void prepend(std::vector<Dml::Check>& to, std::vector<Dml::Check> first) {
   append(first, std::move(to));
   to = std::move(first);
}

} // namespace

void TargetPolicies::apply(BindState& state, const Scope& scope, Rel& write) const {
   if (!isAny_) return;
   Dml& dml = *write.as<op::Write>().dml;
   PolicyBinder policies(state, scope, *table_, role_);
   const bool isRead = state.targetsRead.contains(number_);
   if (barrier_) {
      std::vector<ExprPtr> conjuncts;
      const auto add = [&](char command) {
         for (ExprPtr& conjunct : policies.visible(command, stored_))
            conjuncts.push_back(std::move(conjunct));
      };
      if (write.kind == RelKind::Update) add('w');
      if (write.kind == RelKind::Delete) add('d');
      if (isRead) add('r');
      barrier_->inputs[0] = makeSelect(std::move(barrier_->inputs[0]), std::move(conjuncts));
   }

   // Checks of the new row, by what a clause does.
   const auto written = [&](char command, const std::vector<GetColumn>& row) {
      auto checks = policies.checks(command, row, false, newRow);
      if (isRead && !(write.kind == RelKind::Merge && command == 'a'))
         append(checks, policies.checks('r', row, true, newRow));
      return checks;
   };
   const auto stored = [&](char command, const PolicyBinder::Words& words) {
      auto checks = policies.checks(command, stored_, true, words);
      if (isRead && write.kind == RelKind::Insert) append(checks, policies.checks('r', stored_, true, words));
      return checks;
   };
   std::vector<Dml::Check> ofNew, ofProposed, ofStored;
   if (write.kind == RelKind::Update) ofNew = written('w', dml.target);
   if (write.kind == RelKind::Insert) {
      auto inserted = written('a', dml.proposed.empty() ? dml.target : dml.proposed);
      (dml.proposed.empty() ? ofNew : ofProposed) = std::move(inserted);
      if (dml.conflict == ConflictAction::Update) {
         ofStored = stored('w', conflictingRow);
         ofNew = written('w', dml.target);
      }
   }
   if (write.kind == RelKind::Merge) {
      for (const auto& [command, action] : {std::pair{'a', DmlAction::Insert}, {'w', DmlAction::Update}}) {
         if (dml.target.empty()) continue; // only deletes
         auto checks = written(command, dml.target);
         onlyFor(checks, dml, action);
         append(ofNew, std::move(checks));
      }
      for (const auto& [command, action] : {std::pair{'w', DmlAction::Update}, {'d', DmlAction::Delete}}) {
         auto checks = stored(command, targetRow);
         onlyFor(checks, dml, action);
         append(ofStored, std::move(checks));
      }
   }
   for (auto* checks : {&ofNew, &ofProposed, &ofStored})
      computeSubqueries(state, scope, write, *checks);
   prepend(dml.checks, std::move(ofNew));
   prepend(dml.proposedChecks, std::move(ofProposed));
   prepend(dml.storedChecks, std::move(ofStored));
}

} // namespace ouzel::sql
