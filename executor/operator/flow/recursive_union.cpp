#include <algorithm>
#include <optional>

#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"
#include "common/type/order_key.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/flow/seen_rows.hpp"
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
   std::optional<size_t> roundStart;           ///< PlanBuilder::ownedCount() before the operators of the recursive term
   std::unique_ptr<BatchBuilder> kept;         ///< the last rows of `result`, as its next batch
   std::unique_ptr<BatchStore::Reader> reader; ///< of `result`, for comparing
   std::unique_ptr<SeenRows> seen;             ///< UNION: the places of all rows in `result` and `kept`

   void endRound(QueryContext& context);
   void startRound();

private:
   /// Fresh rows that are compared with the rows so far at once: what is on disk is read once for all of them. A row's
   /// number is that of its batch times batchRowsMax, and its number in the batch.
   struct Unit {
      static constexpr size_t batchesMax = 64;
      static constexpr size_t bytesPerBatch = batchRowsMax * (2 * sizeof(SeenRows::Probe) + 2 * sizeof(uint64_t));
      explicit Unit(Reservation& memory) : charge(memory) {}

      std::vector<Batch> batches;
      std::vector<std::unique_ptr<OwnedBatch>> copies; ///< of the batches that were on disk
      size_t copiedBytes = 0;
      std::vector<SeenRows::Probe> probes; ///< all rows
      std::vector<uint64_t> hashes;        ///< by row
      std::vector<uint8_t> isSeen;         ///< by row: it is not new

      Reservation charge;

      const Batch& batchOf(uint32_t row) const;
   };
   /// The part of the memory that copies of fresh batches may take.
   static constexpr size_t copiedDivisor = 4, copiedMin = size_t{1} << 20;

   void appendAll(QueryContext& context);
   void hashRows(QueryContext& context, const Batch& batch, uint64_t* hashes) const;
   size_t take(QueryContext& context, BatchStore::Reader& rows, size_t number, Unit& unit);
   void dropSeen(QueryContext& context, Unit& unit);
   void dropRepeated(Unit& unit) const;
   bool isSame(const Batch& a, uint32_t rowA, const Batch& b, uint32_t rowB) const;
   void appendNew(const Batch& batch, const std::vector<RowIndex>& newRows, const uint64_t* hashes);
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

bool Recursion::isSame(const Batch& a, uint32_t rowA, const Batch& b, uint32_t rowB) const {
   for (size_t column = 0; column < columns.size(); ++column)
      if (!sameValue(a.columns[column], rowA, b.columns[column], rowB, types[column])) return false;
   return true;
}

void Recursion::hashRows(QueryContext& context, const Batch& batch, uint64_t* hashes) const {
   std::fill_n(hashes, batch.rowCount, uint64_t{0});
   Reservation keyMemory(context.memory());
   Arena keys(&keyMemory); // of values that do not compare by their bytes
   for (size_t column = 0; column < columns.size(); ++column)
      hashCombineVector(hasOrderKey(types[column])
                            ? orderKeys(types[column], batch.columns[column], batch.rowCount, keys)
                            : batch.columns[column],
                        batch.selection, hashes);
}

const Batch& Recursion::Unit::batchOf(uint32_t row) const {
   return batches[row / batchRowsMax];
}

/// Takes batches of `fresh` from `number` on, as many as memory allows. Returns the number of the next one.
size_t Recursion::take(QueryContext& context, BatchStore::Reader& rows, size_t number, Unit& unit) {
   const size_t copiedMax = std::max(seen->floor() / copiedDivisor, copiedMin);
   for (; number < fresh.batchCount() && unit.batches.size() < Unit::batchesMax && unit.copiedBytes < copiedMax;
        ++number) {
      context.checkCancelled();
      const bool isResident = fresh.batchDiskBytes(number) == 0;
      unit.batches.push_back(rows.batch(number));
      if (isResident) continue;
      // The reader has one batch in memory at a time.
      BatchBuilder copy(columns, fresh.memory(context));
      copy.append(unit.batches.back(), identity, 0);
      unit.copies.push_back(copy.take());
      unit.copiedBytes += unit.copies.back()->arena.chunkBytes();
      unit.batches.back() = unit.copies.back()->batch;
   }
   unit.charge.grow(unit.batches.size() * Unit::bytesPerBatch);
   const size_t end = (unit.batches.size() - 1) * batchRowsMax + unit.batches.back().rowCount;
   unit.hashes.resize(end);
   unit.isSeen.resize(end);
   unit.probes.reserve(end);
   for (uint32_t i = 0; i < unit.batches.size(); ++i) {
      const uint32_t first = i * batchRowsMax;
      hashRows(context, unit.batches[i], unit.hashes.data() + first);
      for (uint32_t row = first; row < first + unit.batches[i].rowCount; ++row)
         unit.probes.push_back({unit.hashes[row], row});
   }
   return number;
}

/// Marks the rows that equal a row of `result` or `kept`. Rows of `result` may be on disk: candidates are compared in
/// the order of their batches.
void Recursion::dropSeen(QueryContext& context, Unit& unit) {
   struct Candidate {
      SeenRows::Place place;
      uint32_t row;
   };
   std::vector<Candidate> candidates;
   seen->find(unit.probes, [&](const SeenRows::Probe& probe, SeenRows::Place place) {
      candidates.push_back({place, probe.row});
   });
   std::sort(candidates.begin(), candidates.end(),
             [](const Candidate& a, const Candidate& b) { return a.place.batch < b.place.batch; });
   uint32_t batch = UINT32_MAX;
   for (const auto& [place, row] : candidates) {
      if (unit.isSeen[row] != 0) continue;
      if (place.batch != batch) context.checkCancelled(); // reading it may take a while
      batch = place.batch;
      if (place.batch < result.batchCount() && !reader)
         reader = std::make_unique<BatchStore::Reader>(result, context, false);
      const Batch& other = place.batch < result.batchCount() ? reader->batch(place.batch) : *kept->current();
      unit.isSeen[row] = isSame(unit.batchOf(row), row % batchRowsMax, other, place.row);
   }
}

/// Marks the rows that equal an earlier row of the unit.
void Recursion::dropRepeated(Unit& unit) const {
   std::vector<SeenRows::Probe>& probes = unit.probes;
   std::sort(probes.begin(), probes.end(),
             [](const auto& a, const auto& b) { return std::pair(a.hash, a.row) < std::pair(b.hash, b.row); });
   for (size_t first = 0, i = 0; i < probes.size(); ++i) {
      if (probes[i].hash != probes[first].hash) first = i;
      const uint32_t row = probes[i].row;
      for (size_t k = first; k < i && unit.isSeen[row] == 0; ++k)
         if (const uint32_t before = probes[k].row; unit.isSeen[before] == 0)
            unit.isSeen[row] =
                isSame(unit.batchOf(row), row % batchRowsMax, unit.batchOf(before), before % batchRowsMax);
   }
}

/// Give new rows their places in `result`.
void Recursion::appendNew(const Batch& batch, const std::vector<RowIndex>& newRows, const uint64_t* hashes) {
   for (uint32_t taken = 0; taken < newRows.size();) {
      const auto number = static_cast<uint32_t>(result.batchCount());
      uint32_t row = kept->current() ? kept->current()->rowCount : 0;
      const uint32_t end = taken + kept->append(batch, identity, taken);
      for (; taken < end; ++taken)
         seen->add(hashes[newRows[taken]], {number, row++});
      if (kept->isFull()) result.add(kept->take());
   }
}

/// Copy the new rows of `fresh` to `result` and to `working`, whose old rows are dropped.
void Recursion::appendAll(QueryContext& context) {
   DCHECK(identity.size() == columns.size());
   BatchBuilder next = working.makeBuilder(columns, context);
   if (!kept) kept = std::make_unique<BatchBuilder>(result.makeBuilder(columns, context));
   working.clear();
   BatchStore::Reader freshRows(fresh, context, false);
   freshRows.expect(0, fresh.batchCount());
   for (size_t number = 0; number < fresh.batchCount();) {
      context.checkCancelled();
      if (plan->all) {
         const Batch& batch = freshRows.batch(number++);
         appendRows(next, batch, working);
         appendRows(*kept, batch, result);
         continue;
      }
      Unit unit(context.memory());
      number = take(context, freshRows, number, unit);
      dropSeen(context, unit);
      dropRepeated(unit);
      std::vector<RowIndex> newRows;
      for (size_t i = 0; i < unit.batches.size(); ++i) {
         newRows.clear();
         for (uint32_t row = 0; row < unit.batches[i].rowCount; ++row)
            if (unit.isSeen[i * batchRowsMax + row] == 0) newRows.push_back(static_cast<RowIndex>(row));
         if (newRows.empty()) continue;
         Batch batch = unit.batches[i];
         batch.selection = Selection::list(newRows);
         appendNew(batch, newRows, unit.hashes.data() + i * batchRowsMax);
         appendRows(next, batch, working);
      }
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
   seen.reset();
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
   if (!recursion->plan->all) {
      QueryContext& context = builder.context();
      recursion->seen = std::make_unique<SeenRows>(context.budget(), context.canSpill() ? &context.spill() : nullptr,
                                                   [&context] { context.checkCancelled(); });
   }
   recursion->columns = representationsOf(node.output, builder.context().columns());
   for (uint32_t i = 0; i < node.output.size(); ++i) {
      recursion->identity.push_back(i);
      recursion->types.push_back(builder.context().columns()[node.output[i]].type);
   }
   if (const auto wanted = builder.rowsWanted.find(&node); wanted != builder.rowsWanted.end())
      recursion->rowsWanted = *wanted->second;
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
