#pragma once
#include <memory>
#include <vector>

#include "executor/operator/join/hash_join_matcher.hpp"
#include "executor/operator/join/hash_join_spill.hpp"

namespace ouzel::executor {

/// Looks up batches of the probe side in the table and gives joined rows. Probe columns are passed on under a selection
/// or as dictionaries; build columns are gathered for the joined rows. A probe row whose partition of the build side is
/// on disk is put aside, in a buffer of HashJoinSpill. Shared by workers.
class HashJoinProbe final : public StreamingOperator {
public:
   HashJoinProbe(const HashJoinShape& shape, const HashJoinTable& table, HashJoinSpill& spill)
      : shape_(shape), table_(table), spill_(spill) {}
   LocalStatePtr makeLocal(QueryContext& context) override;
   OperatorStatus process(QueryContext& context, LocalState& local, const Batch& in, Batch& out) override;

private:
   const HashJoinShape& shape_;
   const HashJoinTable& table_;
   HashJoinSpill& spill_;
};

} // namespace ouzel::executor
