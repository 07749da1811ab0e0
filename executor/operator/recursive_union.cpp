#include <unordered_map>

#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/plan_builder.hpp"

// WITH RECURSIVE. The base fills the working table; then the step runs over it, its rows becoming the next working
// table, until a round brings nothing. The operators of the step are made anew for each round.

namespace ouzel::executor {

namespace {

struct Recursion {
   const sql::plan::Node* node = nullptr;
   PlanBuilder* builder = nullptr;
   RowBuffer result;  ///< all rows so far
   RowBuffer working; ///< rows of the last round
   RowBuffer fresh;   ///< rows of the round being run
   std::vector<Representation> columns;
   std::vector<uint32_t> identity;
   uint64_t rowsWanted = UINT64_MAX;
   /// UNION: hashes of all rows in `result`, to (batch, row).
   std::unordered_multimap<uint64_t, std::pair<uint32_t, uint32_t>> seen;

   void endRound(QueryContext& context);
   void startRound();

private:
   void appendAll(QueryContext& context);
   bool isNew(const Batch& batch, uint32_t row, uint64_t hash) const;
};

bool sameValue(const Vector& a, uint32_t aRow, const Vector& b, uint32_t bRow) {
   if (a.isNull(aRow) || b.isNull(bRow)) return a.isNull(aRow) && b.isNull(bRow);
   const size_t size = physicalSize(a.type);
   return valueEquality(a.type)(static_cast<const char*>(a.data) + a.positionOf(aRow) * size,
                                static_cast<const char*>(b.data) + b.positionOf(bRow) * size);
}

bool Recursion::isNew(const Batch& batch, uint32_t row, uint64_t hash) const {
   const auto [begin, end] = seen.equal_range(hash);
   for (auto it = begin; it != end; ++it) {
      const Batch& other = result.batches()[it->second.first]->batch;
      bool same = true;
      for (size_t column = 0; column < columns.size() && same; ++column)
         same = sameValue(batch.columns[column], row, other.columns[column], it->second.second);
      if (same) return false;
   }
   return true;
}

/// Move what is new in `fresh` to `result`; the same rows become the working table.
void Recursion::appendAll(QueryContext& context) {
   BatchBuilder next(columns, context.memory());
   working.clear();
   RowIndex one;
   for (const auto& owned : fresh.batches()) {
      const Batch& batch = owned->batch;
      uint64_t hashes[batchRowsMax];
      for (uint32_t i = 0; i < batch.rowCount; ++i)
         hashes[i] = 0;
      for (const Vector& column : batch.columns)
         hashCombineVector(column, batch.selection, hashes);
      for (uint32_t row = 0; row < batch.rowCount; ++row) {
         context.checkCancelled();
         if (!node->unionAll && !isNew(batch, row, hashes[row])) continue;
         Batch single = batch;
         one = static_cast<RowIndex>(row);
         single.selection = Selection::list(&one, 1);
         next.append(single, identity, 0);
         // Each kept row gets a place in `result` at once, so that later rows of this round are compared with it.
         if (!node->unionAll) {
            BatchBuilder kept(columns, context.memory(), 1);
            kept.append(single, identity, 0);
            seen.emplace(hashes[row], std::pair(static_cast<uint32_t>(result.batches().size()), 0u));
            result.add(kept.take());
         }
         if (next.isFull()) working.add(next.take());
      }
   }
   if (auto rest = next.take()) working.add(std::move(rest));
   fresh.clear();
   if (!node->unionAll) return;
   BatchBuilder copy(columns, context.memory());
   for (const auto& owned : working.batches())
      for (uint32_t taken = 0; taken < owned->batch.rowCount;) {
         taken += copy.append(owned->batch, identity, taken);
         if (copy.isFull()) result.add(copy.take());
      }
   if (auto rest = copy.take()) result.add(std::move(rest));
}

void Recursion::endRound(QueryContext& context) {
   appendAll(context);
   if (working.rowCount() > 0 && result.rowCount() < rowsWanted) startRound();
}

void Recursion::startRound() {
   builder->workingTables[node->cte] = &working;
   std::vector<Stage> stages = builder->produce(*node->children[1]);
   auto* sink = builder->own<BufferSink>(fresh, slotsOf(node->appendInputs[1], node->children[1]->output), columns);
   builder->addPipeline(std::move(stages), sink, UINT32_MAX);
   builder->addAction([this] { endRound(builder->context()); });
}

} // namespace

std::vector<Stage> buildRecursiveUnion(PlanBuilder& builder, const sql::plan::Node& node) {
   auto* recursion = builder.own<Recursion>();
   recursion->node = &node;
   recursion->builder = &builder;
   recursion->columns = representationsOf(node.output, builder.context().columns());
   for (uint32_t i = 0; i < node.output.size(); ++i)
      recursion->identity.push_back(i);
   if (const auto wanted = builder.rowsWanted.find(&node); wanted != builder.rowsWanted.end())
      recursion->rowsWanted = wanted->second;
   std::vector<Stage> base = builder.produce(*node.children[0]);
   auto* sink = builder.own<BufferSink>(recursion->fresh, slotsOf(node.appendInputs[0], node.children[0]->output),
                                        recursion->columns);
   builder.addPipeline(std::move(base), sink, UINT32_MAX);
   builder.addAction([recursion] { recursion->endRound(recursion->builder->context()); });
   Stage stage;
   stage.source = builder.own<BufferSource>(recursion->result, recursion->identity, true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

std::vector<Stage> buildRecursiveScan(PlanBuilder& builder, const sql::plan::Node& node) {
   Stage stage;
   stage.source = builder.own<BufferSource>(*builder.workingTables.at(node.cte), node.cteSlots, true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
