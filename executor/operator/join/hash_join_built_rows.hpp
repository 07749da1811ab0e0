#pragma once
#include <vector>

#include "executor/operator/join/hash_join_matcher.hpp"
#include "executor/operator/join/join_rows.hpp"

namespace ouzel::executor {

bool givesBuiltRowsLast(sql::JoinKind kind);

/// Gives the built rows of pages by their match flags, with NULLs for the probe side: rows with a match (RightSemi) or
/// rows without one (Right, Full, RightAnti). Used by one worker.
class BuiltRowGiver {
public:
   BuiltRowGiver(const HashJoinShape& shape, const HashJoinRows& rows, QueryContext& context);
   void open(const TuplePage& page) { reader_.open(&page, rows_.layout().rowSize()); }
   bool isAtEnd() const { return reader_.isAtEnd(); }
   /// The next batch, perhaps without rows; its strings point into the page.
   void next(Batch& out);

private:
   const HashJoinShape& shape_;
   const HashJoinRows& rows_;
   const uint32_t rowsMax_;
   Arena arena_;
   struct Buffer {
      void* data = nullptr;
      ValidityWord* validity = nullptr;
   };
   std::vector<Buffer> buffers_;
   JoinRowReader reader_;
   const std::byte* found_[batchRowsMax];
};

/// The stage after the probe: gives built rows that are in memory. Workers take pages one at a time.
class BuiltRows final : public Source {
public:
   BuiltRows(const HashJoinShape& shape, HashJoinTable& table) : shape_(shape), table_(table) {}

   void prepare(QueryContext&) override { nextPage_.store(0); }
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;

private:
   const HashJoinShape& shape_;
   HashJoinTable& table_;
   std::atomic<size_t> nextPage_{0};
};

} // namespace ouzel::executor
