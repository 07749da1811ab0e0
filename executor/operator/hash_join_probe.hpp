#pragma once
#include <memory>
#include <vector>

#include "executor/operator/hash_join_table.hpp"

namespace ouzel::executor {

/// What probing needs to know of a join. Immutable.
struct HashJoinShape {
   /// A column of the joined rows. The node's output comes first, then what only the residual predicate reads.
   struct Column {
      enum class From : uint8_t { Probe, Build, Mark } from;
      uint32_t source; ///< slot of the probe batches, or column of the built rows
      PhysicalType type;
      bool isResidual; ///< read by the residual predicate
   };

   sql::JoinKind kind = sql::JoinKind::Inner;
   bool nullAware = false;
   std::shared_ptr<const ExpressionProgram> probeKeys;
   std::shared_ptr<const ExpressionProgram> residual; ///< null: none
   std::vector<Column> columns;
   uint32_t outputCount = 0;
};

/// Looks up batches of the probe side in the table and gives joined rows. Probe columns are passed on under a selection
/// or as dictionaries, build columns are gathered for the rows that are left. Shared by workers.
class HashJoinProbe final : public StreamingOperator {
public:
   HashJoinProbe(const HashJoinShape& shape, const HashJoinTable& table) : shape_(shape), table_(table) {}
   LocalStatePtr makeLocal(QueryContext& context) override;
   OperatorStatus process(QueryContext& context, LocalState& local, const Batch& in, Batch& out) override;

private:
   const HashJoinShape& shape_;
   const HashJoinTable& table_;
};

/// A constant NULL of any type.
Vector nullConstant(PhysicalType type);

} // namespace ouzel::executor
