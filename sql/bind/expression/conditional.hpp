#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// CASE, with or without a test value.
ExprPtr bindCase(BindState& state, Scope& scope, const ::CaseExpr& node);
/// COALESCE.
ExprPtr bindCoalesce(BindState& state, Scope& scope, const ::CoalesceExpr& node);
/// GREATEST and LEAST.
ExprPtr bindMinMax(BindState& state, Scope& scope, const ::MinMaxExpr& node);
/// NULLIF.
ExprPtr bindNullIf(BindState& state, Scope& scope, const ::A_Expr& node);
/// IS NULL and IS NOT NULL; a row value is tested field by field.
ExprPtr bindNullTest(BindState& state, Scope& scope, const ::NullTest& node);
/// IS [NOT] TRUE, FALSE and UNKNOWN.
ExprPtr bindBooleanTest(BindState& state, Scope& scope, const ::BooleanTest& node);
/// Functions written without parentheses: CURRENT_DATE, CURRENT_USER, ...
ExprPtr bindSqlValue(BindState& state, Scope& scope, const ::SQLValueFunction& node);

} // namespace ouzel::sql
