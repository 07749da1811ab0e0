#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

/// ROW(...), which is compared field by field. Other rows, whose fields have names, are compared as values, in which
/// NULLs are equal.
bool isRowConstructor(const Expr& expr);
/// A Row as a value of its type: a call that makes the bytes of row.hpp. Other expressions stay as they are.
ExprPtr rowValue(BindState& state, ExprPtr expr);

/// A Row of type record as a value of a row type: each field is cast to its column's type. Throws 42846, with the field
/// that does not fit.
ExprPtr coerceRow(BindState& state, ExprPtr row, Oid target, CoercionContext context);

/// A field of a row, and the row's column if it has a row type.
struct RowMember {
   std::string name;
   ExprPtr expr;
};
/// The fields of a Row, or of a value of a row type, which each of them then computes anew. Throws 42809 for a type
/// that is not a row type, 42601 for a record whose fields are not known.
std::vector<RowMember> membersOf(BindState& state, ExprPtr row);
/// The field of this name. Throws 42703.
ExprPtr selectField(BindState& state, ExprPtr row, std::string_view name);
/// A value of a row type with another field: `base` is the value, or NULL. Throws 42703.
ExprPtr replaceField(BindState& state, ExprPtr base, Oid type, std::string_view name, ExprPtr value, uint32_t position);

} // namespace ouzel::sql
