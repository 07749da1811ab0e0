#include "sql/bind/policy/policy_binder.hpp"

#include "catalog/object/acl.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/policy/policy_expression.hpp"

namespace ouzel::sql {

using catalog::PolicyCommand;

namespace {

Oid effectiveRole(const BindState& state, Oid role) {
   return role != invalidOid ? role : state.context.searchPath.role;
}

const std::string& textOf(const catalog::Policy& policy, bool byUsing) {
   return byUsing || policy.checkExpr.empty() ? policy.usingExpr : policy.checkExpr;
}

} // namespace

bool policiesApply(const BindState& state, const catalog::Relation& table, Oid role) {
   const bool isServer = state.context.searchPath.role == invalidOid;
   if (!table.hasRowSecurity || state.recorder || isServer) return false;
   const catalog::Snapshot& snapshot = state.context.catalog;
   const Oid who = effectiveRole(state, role);
   if (!catalog::isRestricted(snapshot, who, table)) return false;
   if (state.context.rowSecurity) return true;
   SqlError error(sqlstate::insufficientPrivilege,
                  "query would be affected by row-level security policy for table \"" + table.name + "\"");
   if (catalog::ownsObject(snapshot, who, table.owner))
      throw std::move(error).hint(
          "To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.");
   throw error;
}

PolicyBinder::PolicyBinder(BindState& state, const Scope& scope, const catalog::Relation& table, Oid role)
   : state_(state), scope_(scope), table_(table), role_(role), effectiveRole_(effectiveRole(state, role)) {}

std::vector<ExprPtr> PolicyBinder::visible(PolicyCommand command, const std::vector<GetColumn>& row) {
   std::vector<ExprPtr> conjuncts;
   const catalog::Policies policies = catalog::policiesFor(state_.context.catalog, effectiveRole_, table_, command);
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

std::vector<Dml::Check> PolicyBinder::checks(PolicyCommand command, const std::vector<GetColumn>& row, bool byUsing,
                                             const Words& words) {
   std::vector<Dml::Check> result;
   const catalog::Policies policies = catalog::policiesFor(state_.context.catalog, effectiveRole_, table_, command);
   auto permitted = permissive(policies, row, byUsing);
   const bool isAny = permitted != nullptr;
   result.push_back(check(isAny ? std::move(permitted) : makeBoolean(false), {}, words));
   if (!isAny) return result;
   for (const catalog::Policy* policy : policies.restrictive)
      if (const std::string& text = textOf(*policy, byUsing); !text.empty())
         result.push_back(check(bind(*policy, text, row), " \"" + policy->name + "\"", words));
   return result;
}

/// Null if no permissive policy says anything.
ExprPtr PolicyBinder::permissive(const catalog::Policies& policies, const std::vector<GetColumn>& row, bool byUsing) {
   std::vector<ExprPtr> any;
   for (const catalog::Policy* policy : policies.permissive)
      if (const std::string& text = textOf(*policy, byUsing); !text.empty()) any.push_back(bind(*policy, text, row));
   return any.empty() ? nullptr : makeOr(std::move(any));
}

ExprPtr PolicyBinder::bind(const catalog::Policy& policy, const std::string& text, const std::vector<GetColumn>& row) {
   return bindPolicy(state_, scope_.depth, role_, table_, policy, text, row);
}

Dml::Check PolicyBinder::check(ExprPtr expr, const std::string& name, const Words& words) const {
   Dml::Check check;
   check.expr = makeTest(ExprKind::IsTrue, std::move(expr)); // unknown is not enough, as it is for constraints
   check.policyError = std::string(words.subject) + " violates row-level security policy" + name + words.clause +
                       " for table \"" + table_.name + "\"";
   return check;
}

} // namespace ouzel::sql
