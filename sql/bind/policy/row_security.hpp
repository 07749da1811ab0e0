#pragma once
#include <string>
#include <vector>

#include "catalog/object/objects.hpp"
#include "sql/bind/state/bind_state.hpp"

// Row-level security: the policies of tables become predicates of the scans that read them, and checks of the rows that
// statements write. They hold for the role in whose name a table is used, and are part of the plan.
//
//    SELECT ... FROM t      Barrier                     above, nothing learns of rows that the policies hide
//                              Select (policies)
//                                 Get t

namespace ouzel::sql {

/// Whether the policies of the table count for a role; invalidOid: for who runs the statement. Throws 42501 if they do
/// and row_security is off.
bool isRestricted(const BindState& state, const catalog::Relation& table, Oid role);

/// A table in FROM: keeps the rows that the role in whose name it is read may see. `row`: the scan's columns.
RelPtr restrictRead(BindState& state, const Scope& scope, const catalog::Relation& table, RelPtr scan,
                    const std::vector<GetColumn>& row);
/// FOR UPDATE and its kin: only rows that the role of the barrier may change, too. `scan`: the Get below it.
void restrictLocked(BindState& state, const Scope& scope, Rel& barrier, const op::Get& scan);

/// What the policies ask of a statement that writes a table. Which of them count depends on what the statement reads of
/// its target, so the predicates come last.
class TargetPolicies {
public:
   /// Nothing is asked.
   TargetPolicies() = default;
   /// `role`: in whose name the table is written; invalidOid: who runs the statement.
   TargetPolicies(BindState& state, const catalog::RelationPtr& table, Oid role);
   bool isAny() const { return isAny_; }

   /// The columns of `item` are those of the target: reading one takes the right to see its rows.
   void watch(NamespaceItem& item) const;
   /// The statement reads the target without naming a column: an ON CONFLICT finds rows by a key.
   void noteRead(BindState& state) const;
   /// Puts a barrier over the target's scan, for which the last step has predicates.
   RelPtr guard(RelPtr scan);
   /// The same for a scan that a view has put behind a barrier.
   void guardView(Rel* barrier) { barrier_ = isAny_ ? barrier : nullptr; }
   /// The columns of the stored row, for the policies over it.
   void setStored(std::vector<GetColumn> stored) { stored_ = std::move(stored); }
   const std::vector<GetColumn>& stored() const { return stored_; }
   /// The last step: predicates of the target's scan and checks of `write`, which is complete but for them.
   void apply(BindState& state, const Scope& scope, Rel& write) const;

private:
   catalog::RelationPtr table_;
   Oid role_ = invalidOid;
   bool isAny_ = false;
   uint32_t number_ = 0; ///< of the target among those of the statement
   Rel* barrier_ = nullptr;
   std::vector<GetColumn> stored_;
};

} // namespace ouzel::sql
