#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "executor/expression/program.hpp"
#include "executor/operator/sort/external_sort.hpp"
#include "executor/pipeline/operator.hpp"

namespace ouzel::executor {

/// How a sort's rows come from its input. Stored are columns of the input, then extra expressions, then values of
/// inexact keys that are neither.
struct SortInput {
   SortRowLayout layout;
   std::vector<uint32_t> columnSlots;               ///< input slots of the first stored columns
   std::shared_ptr<const ExpressionProgram> extras; ///< of the next ones; null: none
   std::vector<uint32_t> computedKeys;              ///< key numbers of the last ones
   std::shared_ptr<const ExpressionProgram> keys;
};

/// A key to sort by: an expression over the input.
struct SortOrder {
   const sql::Expr* expr = nullptr;
   bool descending = false;
   bool nullsFirst = false;
};
std::vector<SortOrder> sortOrders(const std::vector<sql::SortKey>& keys);

/// `stored`: columns of `inputLayout` to keep with each row; they become stored columns 0, 1, ..., followed by
/// `extras`.
SortInput makeSortInput(const std::vector<sql::ColumnId>& inputLayout, const std::vector<sql::ColumnId>& stored,
                        const std::vector<SortOrder>& keys, const sql::ColumnTable& columns,
                        std::span<const sql::Expr* const> extras = {});

/// Collects rows into runs, by lane, and sorts them. How many first rows are wanted is set by an overriding prepare().
class SortSink : public Sink {
public:
   SortSink(SortInput input, ExternalSort& sort) : input_(std::move(input)), sort_(sort) {}
   void prepare(QueryContext& context) override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;
   uint32_t finishTasks(QueryContext& context, uint32_t round) override;
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override;
   void finish(QueryContext& context) override;
   void describe(OperatorProfile& profile) const override;

protected:
   SortInput input_;
   ExternalSort& sort_;
   uint64_t keepRows_ = SortRun::keepAll;
   uint64_t rowsWanted_ = SortRun::keepAll; ///< the same for sorts that do not throw rows away while they collect
};

/// Gives rows [offset, offset + limit) of a sort in order, the first `columnCount` stored columns.
class SortedSource final : public Source {
public:
   SortedSource(ExternalSort& sort, uint32_t columnCount) : sort_(sort), columnCount_(columnCount) {}
   /// Before the first rows are asked for.
   void setRange(uint64_t offset, uint64_t limit) {
      offset_ = offset;
      limit_ = limit;
   }
   void prepare(QueryContext&) override { given_ = 0; }
   uint32_t workersMax() const override { return 1; }
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;

private:
   SourceStatus nextMerged(QueryContext& context, LocalState& local, Batch& out);

   ExternalSort& sort_;
   const uint32_t columnCount_;
   uint64_t offset_ = 0, limit_ = UINT64_MAX;
   uint64_t given_ = 0; // there is one worker at a time
};

/// Flat vectors that rows of a sorted buffer are gathered into.
class GatherSpace {
public:
   GatherSpace(const std::vector<Representation>& columns, uint32_t count, Reservation& memory);
   /// Put these rows' stored columns [0, count) into out.columns.
   void gather(const SortBuffer& buffer, std::span<const RowAddress> rows, Batch& out);
   void gather(std::span<const RowRef> rows, const std::vector<uint8_t>& hasNulls, Batch& out);

private:
   Arena arena_;
   std::vector<PhysicalType> types_;
   std::vector<void*> data_;
   std::vector<ValidityWord*> validity_;
};

} // namespace ouzel::executor
