#pragma once
#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

/// Cast without asking whether it is allowed. REQUIRES: canCoerce says so.
ExprPtr coerce(BindState& state, ExprPtr expr, Oid target, int32_t typmod, CoercionContext context);
/// Length coercion of a value that has the type already: varchar(n), numeric(p, s).
ExprPtr applyTypmod(ExprPtr expr, int32_t typmod, CoercionContext context);
/// Cast with length coercion; null if there is no such cast.
ExprPtr tryCoerce(BindState& state, ExprPtr& expr, const SqlType& target, CoercionContext context);
/// 42804 `argument of LIMIT must be type bigint, not type text` unless there is an assignment cast.
ExprPtr coerceToType(BindState& state, ExprPtr expr, Oid type, std::string_view construct);
/// 42804 `argument of WHERE must be type boolean, not type integer` unless there is such a cast.
ExprPtr coerceToBoolean(BindState& state, ExprPtr expr, std::string_view construct);
/// The addresses that selectCommonType takes.
std::vector<ExprPtr*> pointers(std::vector<ExprPtr>& exprs);
/// The type CASE branches, UNION columns, ... share. Throws 42804 `CASE types text and integer cannot be matched`.
Oid selectCommonType(std::span<ExprPtr* const> exprs, std::string_view construct);
/// The modifier that all of them share, -1 if they differ.
int32_t selectCommonTypmod(std::span<ExprPtr* const> exprs, Oid type);
/// The cast to a type that selectCommonType chose. Throws 42846.
ExprPtr coerceToCommon(BindState& state, ExprPtr expr, Oid type, std::string_view construct);
/// The cast to a column's type. Throws 42804 `column "x" is of type integer but expression is of type text`.
ExprPtr coerceForAssignment(BindState& state, ExprPtr expr, const SqlType& target, std::string_view columnName,
                            Clause clause);
/// A literal whose type nothing decided is text.
ExprPtr unknownToText(BindState& state, ExprPtr expr);

} // namespace ouzel::sql
