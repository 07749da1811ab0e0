#pragma once
#include <string>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The operator that `name` means: "+" for + and for OPERATOR(pg_catalog.+), "public.+" for one in another schema,
/// where only users have operators. Stored texts have their OIDs for schemas. Throws 3F000 if the schema does not
/// exist: call it when the operands are bound, whose errors come first.
std::string operatorName(const BindState& state, const ::List* name, uint32_t position);

/// Where the text of a view or a default is made: an operator of a user gets its OID, so that the text means it under
/// any search_path. `location`: of the operator in the source. `left`: invalidOid for a prefix operator.
void recordOperator(const BindState& state, const ::List* name, int32_t location, Oid left, Oid right);

} // namespace ouzel::sql
