#pragma once
#include "sql/algebra/collations.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::catalog {
struct FunctionInfo;
}

namespace ouzel::sql {

/// Makes an expression whose operands have a collation of ICU do what the collation says: what it compares becomes
/// collation keys, lower() and its kin follow the locale. Expressions that use no collation stay as they are. Throws
/// 0A000 for what a nondeterministic collation does not allow.
void collateCall(Expr& expr, const IcuCollation& collation);
/// The same for operand `member` of a Subquery that compares it with a column of its query.
void collateMember(BindState& state, Expr& subquery, size_t member, const IcuCollation& collation);
/// True for an aggregate that chooses one of its texts: min(), max(), percentile_disc(), mode(). The texts become
/// readable keys (makeReadableKey), and so does the result. `directCount`: arguments before those of WITHIN GROUP.
bool collateChoice(const catalog::FunctionInfo& function, std::vector<ExprPtr>& args, uint32_t directCount,
                   const IcuCollation& collation);
/// Arguments of a hypothetical-set aggregate that have a collation of ICU, before and in WITHIN GROUP, become keys.
void collateHypothetical(const CollationTable& collations, std::vector<ExprPtr>& args, uint32_t directCount);

} // namespace ouzel::sql
