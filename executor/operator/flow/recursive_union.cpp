#include <optional>
#include <unordered_map>

#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"
#include "common/type/order_key.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/pipeline/plan_builder.hpp"

// WITH RECURSIVE. The base term fills the working table. A round runs the recursive term over the working table; its
// new rows become the next working table. The recursion ends with a round that gives no new row. The operators of the
// recursive term are made anew for each round, which destroys those of the round before:
//
//    pipeline (base or recursive term) -> fresh
//    action endRound(): new rows of fresh -> result and working; if there are any: startRound(), which adds both steps

namespace ouzel::executor {

namespace {

struct Recursion {
   const sql::plan::Node* node = nullptr;
   const sql::plan::RecursiveUnion* plan = nullptr;
   PlanBuilder* builder = nullptr;
   BatchStore result;  ///< all rows so far
   BatchStore working; ///< new rows of the previous round: the working table
   BatchStore fresh;   ///< rows of the current round
   std::vector<Representation> columns;
   std::vector<SqlType> types;
   std::vector<uint32_t> identity;
   uint64_t rowsWanted = UINT64_MAX;
   std::optional<size_t> roundStart; ///< PlanBuilder::ownedCount() before the operators of the recursive term
   static constexpr size_t bytesPerSeen = 64;
   std::unique_ptr<Reservation> seenMemory;
   std::unique_ptr<BatchBuilder> kept;         ///< the last rows of `result`, as its next batch
   std::unique_ptr<BatchStore::Reader> reader; ///< of `result`, for comparing
   /// UNION: hashes of all rows in `result` and `kept`, to (batch, row).
   std::unordered_multimap<uint64_t, std::pair<uint32_t, uint32_t>> seen;

   void endRound(QueryContext& context);
   void startRound();

private:
   void appendAll(QueryContext& context);
   bool isNew(QueryContext& context, const Batch& batch, uint32_t row, uint64_t hash);
   void appendRows(BatchBuilder& open, const Batch& rows, BatchStore& to) const;
};

bool sameValue(const Vector& a, uint32_t aRow, const Vector& b, uint32_t bRow, const SqlType& type) {
   if (a.isNull(aRow) || b.isNull(bRow)) return a.isNull(aRow) && b.isNull(bRow);
   if (const StringOrder order = keyedOrder(type))
      return order(a.value<StringView>(aRow), b.value<StringView>(bRow)) == 0;
   const size_t size = physicalSize(a.type);
   return valueEquality(a.type)(static_cast<const char*>(a.data) + a.positionOf(aRow) * size,
                                static_cast<const char*>(b.data) + b.positionOf(bRow) * size);
}

bool Recursion::isNew(QueryContext& context, const Batch& batch, uint32_t row, uint64_t hash) {
   const auto [begin, end] = seen.equal_range(hash);
   for (auto it = begin; it != end; ++it) {
      const auto [number, otherRow] = it->second;
      if (number < result.batchCount() && !reader)
         reader = std::make_unique<BatchStore::Reader>(result, context, false);
      const Batch& other = number < result.batchCount() ? reader->batch(number) : *kept->current();
      bool same = true;
      for (size_t column = 0; column < columns.size() && same; ++column)
         same = sameValue(batch.columns[column], row, other.columns[column], otherRow, types[column]);
      if (same) return false;
   }
   return true;
}

/// Copy the new rows of `fresh` to `result` and to `working`, whose old rows are dropped.
void Recursion::appendAll(QueryContext& context) {
   DCHECK(identity.size() == columns.size());
   BatchBuilder next(columns, working.memory(context));
   if (!kept) kept = std::make_unique<BatchBuilder>(columns, result.memory(context));
   working.clear();
   BatchStore::Reader freshRows(fresh, context, false);
   freshRows.expect(0, fresh.batchCount());
   std::vector<RowIndex> newRows;
   for (size_t number = 0; number < fresh.batchCount(); ++number) {
      context.checkCancelled();
      Batch batch = freshRows.batch(number);
      uint64_t hashes[batchRowsMax] = {};
      Reservation keyMemory(context.memory());
      Arena keys(&keyMemory); // of values that do not compare by their bytes
      for (size_t column = 0; column < columns.size(); ++column)
         hashCombineVector(hasOrderKey(types[column]) && !plan->all
                               ? orderKeys(types[column], batch.columns[column], batch.rowCount, keys)
                               : batch.columns[column],
                           batch.selection, hashes);
      newRows.clear();
      for (uint32_t row = 0; row < batch.rowCount; ++row) {
         if (!plan->all && !isNew(context, batch, row, hashes[row])) continue;
         newRows.push_back(static_cast<RowIndex>(row));
         if (plan->all) continue;
         // Each new row gets its place in `result` at once, so that later rows of this round are compared with it.
         seen.emplace(hashes[row], std::pair(static_cast<uint32_t>(result.batchCount()),
                                             kept->current() ? kept->current()->rowCount : 0u));
         batch.selection = Selection::list(&newRows.back(), 1);
         kept->append(batch, identity, 0);
         if (kept->isFull()) result.add(kept->take());
      }
      // The table `seen` of a UNION is not spilled: it takes about 64 bytes per row (README says so).
      if (!plan->all) {
         if (!seenMemory) seenMemory = std::make_unique<Reservation>(context.memory());
         seenMemory->grow(newRows.size() * bytesPerSeen);
      }
      batch.selection = Selection::list(newRows);
      appendRows(next, batch, working);
      if (plan->all) appendRows(*kept, batch, result);
   }
   if (auto rest = next.take()) working.add(std::move(rest));
   fresh.clear();
   DCHECK(working.rowCount() <= result.rowCount() + (kept->current() ? kept->current()->rowCount : 0));
}

void Recursion::appendRows(BatchBuilder& open, const Batch& rows, BatchStore& to) const {
   for (uint32_t taken = 0; taken < rows.liveRows();) {
      taken += open.append(rows, identity, taken);
      if (open.isFull()) to.add(open.take());
   }
}

void Recursion::endRound(QueryContext& context) {
   appendAll(context);
   const uint64_t rows = result.rowCount() + (kept->current() ? kept->current()->rowCount : 0);
   if (working.rowCount() > 0 && rows < rowsWanted) return startRound();
   // The recursion has ended: `kept` is the last batch of the result.
   reader.reset();
   if (auto rest = kept->take()) result.add(std::move(rest));
}

void Recursion::startRound() {
   if (!roundStart) roundStart = builder->ownedCount();
   builder->destroySince(*roundStart);
   builder->workingTables[plan->cte] = &working;
   std::vector<Stage> stages = builder->produce(*node->children[1]);
   auto* sink = builder->own<BatchStoreSink>(fresh, slotsOf(plan->inputs[1], node->children[1]->output), columns);
   builder->addPipeline(std::move(stages), sink, UINT32_MAX);
   builder->addAction([this] { endRound(builder->context()); });
}

} // namespace

std::vector<Stage> buildRecursiveUnion(PlanBuilder& builder, const sql::plan::Node& node) {
   auto* recursion = builder.own<Recursion>();
   recursion->node = &node;
   recursion->plan = &node.as<sql::plan::RecursiveUnion>();
   recursion->builder = &builder;
   for (BatchStore* buffer : {&recursion->result, &recursion->working, &recursion->fresh})
      buffer->allowSpilling(builder.context());
   recursion->columns = representationsOf(node.output, builder.context().columns());
   for (uint32_t i = 0; i < node.output.size(); ++i) {
      recursion->identity.push_back(i);
      recursion->types.push_back(builder.context().columns()[node.output[i]].type);
   }
   if (const auto wanted = builder.rowsWanted.find(&node); wanted != builder.rowsWanted.end())
      recursion->rowsWanted = wanted->second;
   std::vector<Stage> base = builder.produce(*node.children[0]);
   auto* sink = builder.own<BatchStoreSink>(
       recursion->fresh, slotsOf(recursion->plan->inputs[0], node.children[0]->output), recursion->columns);
   builder.addPipeline(std::move(base), sink, UINT32_MAX);
   builder.addAction([recursion] { recursion->endRound(recursion->builder->context()); });
   Stage stage;
   stage.source = builder.own<BatchStoreSource>(recursion->result, recursion->identity, true, true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

std::vector<Stage> buildRecursiveScan(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& scan = node.as<sql::plan::RecursiveScan>();
   Stage stage;
   stage.source = builder.own<BatchStoreSource>(*builder.workingTables.at(scan.cte), scan.slots, true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
