#pragma once
#include <span>
#include <string_view>

#include "common/value/sql_type.hpp"

// The contract between lowering, which chooses representations, and the kernels, which expect them.
//
// Scaled numerics (I64 or I128 with a common scale) have these kernels, chosen by lowering when bounds prove that no
// overflow can happen; the registry knows them under the pg_proc prosrc and the physical types of the arguments:
//   numeric_add, numeric_sub  both arguments and the result of one scale and one physical type (ll->l, ww->w)
//   numeric_mul               scales add up; ll->l, ll->w, lw->w, wl->w, ww->w
//   numeric_uminus, numeric_abs   l->l, w->w; ouzel_greatest and ouzel_least: all of one scale and one physical type
// Comparisons, hash keys, sort keys, min and max need equal representations on both sides. Every other function of
// numeric takes and gives Decimal; lowering inserts Convert nodes.

namespace ouzel::sql {

/// The representation of an aggregate's result, from the representations of the arguments:
/// sum over numeric I64/I128 scale s -> I128 scale s (lowering checks by row count that it cannot overflow, else
/// converts the argument to Decimal); sum(int2/int4) -> I64; sum(int8) -> I128 scale 0 (SQL numeric); avg of ints and
/// numerics -> Decimal; min/max/any -> as the argument; count -> I64; everything else storedRepresentation(resultType).
Representation aggregateResult(std::string_view name, const SqlType& resultType, std::span<const Representation> args);

} // namespace ouzel::sql
