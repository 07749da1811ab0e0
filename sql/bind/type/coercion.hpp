#pragma once
#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

/// Casts an expression to `target`. REQUIRES: canCoerce.
ExprPtr coerce(BindState& state, ExprPtr expr, Oid target, int32_t typmod, CoercionContext context);
/// Applies a length or precision to a value that already has the type: varchar(n), numeric(p, s).
ExprPtr applyTypmod(ExprPtr expr, int32_t typmod, CoercionContext context);
/// Casts to a type and applies its length or precision. Without such a cast: null, and `expr` is unchanged.
ExprPtr tryCoerce(BindState& state, ExprPtr& expr, const SqlType& target, CoercionContext context);
/// The value of a domain's base type as one of the domain, whose checks it passes then.
ExprPtr intoDomain(ExprPtr value, const SqlType& target);
/// Casts to a type by assignment. Throws 42804 `argument of LIMIT must be type bigint, not type text`.
ExprPtr coerceToType(BindState& state, ExprPtr expr, Oid type, std::string_view construct);
/// Casts to boolean by assignment. Throws 42804 `argument of WHERE must be type boolean, not type integer`.
ExprPtr coerceToBoolean(BindState& state, ExprPtr expr, std::string_view construct);
/// The addresses that selectCommonType takes.
std::vector<ExprPtr*> pointers(std::vector<ExprPtr>& exprs);
/// The common type of CASE branches, UNION columns, ... Throws 42804 `CASE types text and integer cannot be matched`;
/// with an empty `construct` gives invalidOid instead.
Oid selectCommonType(std::span<ExprPtr* const> exprs, std::string_view construct);
/// The modifier that all expressions share; -1 if the modifiers differ.
int32_t selectCommonTypmod(std::span<ExprPtr* const> exprs, Oid type);
/// The type of expressions that selectCommonType and coerceToCommon have given the type `type`. If lengths of bpchar
/// differ, the values get their blanks.
SqlType unite(std::span<ExprPtr* const> exprs, Oid type);
/// Casts to the type that selectCommonType has chosen. Throws 42846.
ExprPtr coerceToCommon(BindState& state, ExprPtr expr, Oid type, std::string_view construct);
/// Casts to a column's type. Throws 42804 `column "x" is of type integer but expression is of type text`.
ExprPtr coerceForAssignment(BindState& state, ExprPtr expr, const SqlType& target, std::string_view columnName,
                            Clause clause);
/// A literal of type unknown becomes text; other expressions stay the same.
ExprPtr unknownToText(BindState& state, ExprPtr expr);

} // namespace ouzel::sql
