#include "sql/bind/policy/row_security.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/policy/policy_binder.hpp"

namespace ouzel::sql {

using catalog::PolicyCommand;

RelPtr restrictRead(BindState& state, const Scope& scope, const catalog::Relation& table, RelPtr scan,
                    const std::vector<GetColumn>& row) {
   const Oid role = state.access.role;
   if (!policiesApply(state, table, role)) return scan;
   scan = makeSelect(std::move(scan), PolicyBinder(state, scope, table, role).visible(PolicyCommand::Select, row));
   return makeRel(RelKind::Barrier, op::Barrier{table.oid, role}, std::move(scan));
}

void restrictLocked(BindState& state, const Scope& scope, Rel& barrier, const op::Get& scan) {
   const auto& fields = barrier.as<op::Barrier>();
   if (fields.relation == invalidOid) return;
   const auto table = state.context.catalog.relation(fields.relation);
   PolicyBinder policies(state, scope, *table, fields.role);
   barrier.inputs[0] = makeSelect(std::move(barrier.inputs[0]), policies.visible(PolicyCommand::Update, scan.columns));
}

} // namespace ouzel::sql
