#pragma once
#include <string>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The operator that `name` means: "+" for + and for OPERATOR(pg_catalog.+). All operators are built in, so in another
/// schema no operator has the name that is given, "public.+". Throws 3F000 if the schema does not exist: call it when
/// the operands are bound, whose errors come first.
std::string operatorName(const BindState& state, const ::List* name, uint32_t position);

} // namespace ouzel::sql
