#pragma once
#include <memory>

#include "executor/operator/join/hash_join_spill.hpp"

namespace ouzel::executor {

/// The stage after the probe: joins the spilled partitions. Workers join partitions of their own, and share
/// those that are left when there are fewer partitions than workers.
class HashJoinPartitions final : public Source {
public:
   /// `shape`: its probe columns are slots of the rows put aside by HashJoinProbe.
   HashJoinPartitions(const HashJoinShape& shape, HashJoinTable& table, HashJoinSpill& spill);
   void prepare(QueryContext& context) override;
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   void describe(OperatorProfile& profile) const override;

private:
   const HashJoinShape& shape_;
   HashJoinShape chunkShape_; ///< for tables that hold a chunk of a partition
   HashJoinTable& table_;
   HashJoinSpill& spill_;
};

} // namespace ouzel::executor
