#pragma once
#include <memory>

#include "executor/operator/join/hash_join_spill.hpp"

namespace ouzel::executor {

/// After the probe: joins the partitions that are on disk, each worker one at a time.
class HashJoinPartitions final : public Source {
public:
   /// `shape`: over batches of the rows put aside.
   HashJoinPartitions(const HashJoinShape& shape, HashJoinTable& table, HashJoinSpill& spill);
   void prepare(QueryContext& context) override;
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   void describe(OperatorProfile& profile) const override;

private:
   const HashJoinShape& shape_;
   HashJoinShape chunkShape_; ///< for tables that hold some rows of a partition
   HashJoinTable& table_;
   HashJoinSpill& spill_;
};

} // namespace ouzel::executor
