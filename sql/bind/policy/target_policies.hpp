#pragma once
#include <vector>

#include "catalog/object/objects.hpp"
#include "sql/bind/policy/policy_binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// What the policies of a table ask of a statement that writes it: which stored rows it sees, and checks of new and of
/// stored rows. Which of them count depends on what the statement reads of its target, so they come last.
class TargetPolicies {
public:
   /// Nothing is asked.
   TargetPolicies() = default;
   /// `role`: in whose name the table is written; invalidOid: who runs the statement.
   TargetPolicies(BindState& state, const catalog::RelationPtr& table, Oid role);

   /// The columns of `item` are those of the target: reading one takes the right to see its rows.
   void watch(NamespaceItem& item) const;
   /// The statement reads the target without naming a column: an ON CONFLICT finds rows by a key.
   void noteRead(BindState& state) const;
   /// Puts a barrier over the target's scan, for which apply() has predicates.
   RelPtr guard(RelPtr scan);
   /// The same for a scan that a view has put behind a barrier, to read it.
   void guardView(Rel* barrier);
   /// The columns of the stored row, for the policies over it.
   void setStored(std::vector<GetColumn> stored) { stored_ = std::move(stored); }
   const std::vector<GetColumn>& stored() const { return stored_; }
   /// ON CONFLICT DO UPDATE: checks of the stored row that a proposed one meets. They come before the statement's WHERE
   /// and SET, which must not see a row that the policies hide.
   std::vector<Dml::Check> conflictChecks(BindState& state, const Scope& scope) const;
   /// The last step: predicates of the target's scan and checks of `write`, which is complete but for them.
   void apply(BindState& state, const Scope& scope, Rel& write) const;

private:
   void restrictScan(PolicyBinder& policies, RelKind kind, bool isRead) const;

   catalog::RelationPtr table_;
   Oid role_ = invalidOid;
   bool isAny_ = false;
   uint32_t number_ = 0; ///< of the target among those of the statement
   Rel* barrier_ = nullptr;
   std::vector<GetColumn> stored_;
};

} // namespace ouzel::sql
