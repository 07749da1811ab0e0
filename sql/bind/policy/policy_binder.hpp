#pragma once
#include <string>
#include <vector>

#include "catalog/object/row_security.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Whether the policies of the table count for a role; invalidOid: for who runs the statement. Throws 42501 if they do
/// and row_security is off.
bool policiesApply(const BindState& state, const catalog::Relation& table, Oid role);

/// The policies of one table for one role, as expressions over one row.
class PolicyBinder {
public:
   /// `role`: invalidOid for who runs the statement. All arguments outlive this.
   PolicyBinder(BindState& state, const Scope& scope, const catalog::Relation& table, Oid role);

   /// The rows that a command may see: conjuncts.
   std::vector<ExprPtr> visible(catalog::PolicyCommand command, const std::vector<GetColumn>& row);

   /// How a check names what it refuses: "new row violates row-level security policy", then "" or
   /// " (USING expression)".
   struct Words {
      const char* subject;
      const char* clause;
   };
   /// What a row has to pass, as checks. `byUsing`: by the USING expressions also where there is a WITH CHECK.
   std::vector<Dml::Check> checks(catalog::PolicyCommand command, const std::vector<GetColumn>& row, bool byUsing,
                                  const Words& words);

private:
   ExprPtr permissive(const catalog::Policies& policies, const std::vector<GetColumn>& row, bool byUsing);
   ExprPtr bind(const catalog::Policy& policy, const std::string& text, const std::vector<GetColumn>& row);
   Dml::Check check(ExprPtr expr, const std::string& name, const Words& words) const;

   BindState& state_;
   const Scope& scope_;
   const catalog::Relation& table_;
   const Oid role_, effectiveRole_;
};

} // namespace ouzel::sql
