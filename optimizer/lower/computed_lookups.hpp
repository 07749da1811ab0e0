#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/lower/lowering.hpp"

// Lookups in indexes that compute their keys: those over expressions, and those over a part of the rows.

namespace ouzel::optimizer {

/// An index of a scan whose key columns predicates compare with constants or parameters.
struct ComputedLookup {
   const sql::plan::IndexUse* index;
   std::vector<std::vector<ExprPtr>> values; ///< by key column; not lowered yet
   double lookups = 1;                       ///< keys to look up
};

/// An index that can serve the predicate, which is not lowered yet; nullopt: there is none.
std::optional<ComputedLookup> findComputedLookup(const std::vector<sql::plan::IndexUse>& indexes,
                                                 const std::vector<sql::GetColumn>& columns, const Expr& predicate);
/// Sets the scan's lookup if it costs less than reading the table. `rows`: as of chooseIndex().
void setComputedLookup(plan::TableScan& scan, ComputedLookup lookup, double rows, ExprLowering& exprs);

/// For a join whose probe side is over the scan: which of the join's probe keys are the index's key, in its order.
/// Empty: they are not, or rows that the scan wants may be outside of the index. The keys are lowered.
std::vector<uint32_t> joinKeysOf(const sql::plan::ComputedIndex& index, const plan::TableScan& scan,
                                 const std::vector<const Expr*>& probeKeys);

} // namespace ouzel::optimizer
