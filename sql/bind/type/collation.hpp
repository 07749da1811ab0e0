#pragma once
#include <span>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The collation of an expression while it is derived, by the rules of PostgreSQL's parse_collate.c. Operands pass on
/// what they have to the operator above; what is stronger wins.
struct DerivedCollation {
   enum class Strength : uint8_t {
      None,     ///< not collatable
      Implicit, ///< of a column, or a type's own
      Conflict, ///< different implicit ones, none of them the default
      Explicit, ///< of COLLATE
   };
   Strength strength = Strength::None;
   Oid collation = invalidOid;
   uint32_t position = 0; ///< of the operand that has it
   // Conflict: the second collation and its operand.
   Oid other = invalidOid;
   uint32_t otherPosition = 0;
};

std::string collationName(const BindState& state, Oid collation);
/// Gives the collatable nodes of a complete expression their collations. Throws 42P21 for different COLLATEs and 42P22
/// for a comparison of operands without a common collation. Costs nothing in statements that name no collation.
void settleCollations(BindState& state, Expr& expr);
/// The collation of several expressions that make one column. Conflict: 42P21, or conflictingCollation if
/// `mayConflict`.
Oid commonCollation(BindState& state, std::span<Expr* const> exprs, bool mayConflict);
/// The collation of a call's result and its arguments, which are settled. For calls that are no expressions:
/// aggregates and window functions. Throws 42P22 if the function compares and its arguments have none in common.
SqlType settleCall(BindState& state, const catalog::FunctionInfo& function, std::span<const ExprPtr> args,
                   const SqlType& result);
/// COLLATION FOR (value): the name of the value's collation, as SQL names it. Throws 42804 for a type without one.
ExprPtr bindCollationFor(BindState& state, ExprPtr value, uint32_t position);
/// Throws 42P21 if a sort or group key has no collation because its operands differ, 42P22 if it is a column of a
/// subquery that has none.
void requireCollation(BindState& state, const Expr& key);

} // namespace ouzel::sql
