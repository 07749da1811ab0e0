#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "common/error/sql_error.hpp"
#include "executor/expression/evaluator.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/table/table.hpp"
#include "storage/version/write_conflict.hpp"

// SELECT ... FOR UPDATE. First all rows are found and stored. Then they are locked in order, as many as a LIMIT above
// wants. Then the locked rows are given. So no row has reached the client when a conflict restarts the statement.

namespace ouzel::executor {

namespace {

class RowLocker {
public:
   RowLocker(PlanBuilder& builder, const sql::plan::Node& node, BatchStore& found, BatchStore& locked,
             const uint64_t* wanted)
      : context_(builder.context()), node_(node), found_(found), locked_(locked), limit_(wanted) {
      const ColumnSlots slots(std::span(node.children[0]->output));
      for (const sql::RowLock& lock : node.as<sql::plan::LockRows>().locks)
         addTarget(lock, slots);
   }

   void run() {
      if (limit_) wanted_ = *limit_;
      const auto& output = node_.children[0]->output;
      BatchBuilder builder(representationsOf(output, context_.columns()), locked_.memory(context_));
      std::vector<uint32_t> identity(output.size());
      for (uint32_t i = 0; i < identity.size(); ++i)
         identity[i] = i;
      BatchStore::Reader reader(found_, context_, true);
      reader.expect(0, found_.batchCount());
      for (size_t i = 0; i < found_.batchCount(); ++i) {
         context_.checkCancelled();
         const Batch& batch = reader.batch(i);
         // With a LIMIT rows are locked one by one, so that no row is locked that is not given.
         const uint32_t step = wanted_ == UINT64_MAX ? batchRowsMax : 1;
         for (uint32_t first = 0; first < batch.rowCount && wanted_ > 0; first += step) {
            const uint32_t count = lock(batch, first, std::min(step, batch.rowCount - first));
            if (wanted_ != UINT64_MAX) wanted_ -= count;
            Batch kept = batch;
            kept.selection = Selection::list(rows_.data(), count);
            for (uint32_t taken = 0; taken < count;) {
               taken += builder.append(kept, identity, taken);
               if (builder.isFull()) locked_.add(builder.take());
            }
            context_.addWritten(count, false);
         }
      }
      if (auto rest = builder.take()) locked_.add(std::move(rest));
   }

private:
   struct Part {
      storage::Table* table;
      storage::Table::RowLocking locking;
   };
   struct Target {
      const sql::RowLock& lock;
      uint32_t slot;
      std::map<Oid, Part> parts;       ///< by their OIDs; one without parts: by invalidOid
      std::optional<uint32_t> oidSlot; ///< of the column with the part of a row
   };

   void addTarget(const sql::RowLock& lock, const ColumnSlots& slots) {
      Target& target = targets_.emplace_back(Target{lock, *slots.find(lock.rowId), {}, {}});
      if (!lock.table.parts) {
         target.parts.emplace(invalidOid, partOf(lock, 0, lock.table.storageId));
         return;
      }
      target.oidSlot = slots.find(lock.tableOid);
      const std::vector<sql::TablePart>& parts = lock.table.parts->parts;
      for (size_t i = 0; i < parts.size(); ++i)
         if (parts[i].wrapper.empty()) // no row of a foreign table gets here
            target.parts.emplace(parts[i].relation->oid,
                                 partOf(lock, i, static_cast<uint64_t>(parts[i].relation->storage)));
   }

   Part partOf(const sql::RowLock& lock, size_t i, uint64_t storageId) {
      Part part{context_.execution.table(storageId),
                {.strength = lock.strength, .skip = lock.wait == sql::LockWaitPolicy::Skip}};
      for (const int16_t attribute : lock.keys.at(i))
         part.locking.key.push_back(static_cast<uint32_t>(attribute - 1));
      return part;
   }

   /// Lock rows [first, first + count) of the batch in all tables. Sets rows_ to the locked rows, and returns their
   /// number.
   uint32_t lock(const Batch& batch, uint32_t first, uint32_t count) {
      std::vector<RowIndex>& rows = rows_;
      rows.clear();
      for (uint32_t i = 0; i < count; ++i)
         rows.push_back(static_cast<RowIndex>(first + i));
      for (const Target& target : targets_) {
         if (!target.oidSlot) {
            lockIn(target, invalidOid, batch, rows);
            continue;
         }
         std::map<Oid, std::vector<RowIndex>> byPart;
         for (const RowIndex row : rows)
            if (!batch.columns[*target.oidSlot].isNull(row))
               byPart[static_cast<Oid>(Value::fromVector(batch.columns[*target.oidSlot], row).i64)].push_back(row);
         std::vector<RowIndex> unlocked;
         for (auto& [part, own] : byPart) {
            const std::vector<RowIndex> before = own;
            lockIn(target, part, batch, own);
            std::set_difference(before.begin(), before.end(), own.begin(), own.end(), std::back_inserter(unlocked));
         }
         std::erase_if(
             rows, [&](RowIndex row) { return std::find(unlocked.begin(), unlocked.end(), row) != unlocked.end(); });
      }
      return static_cast<uint32_t>(rows.size());
   }

   /// Locks rows in one table; leaves those in `rows` that are locked now, and those of no row of the table.
   void lockIn(const Target& target, Oid part, const Batch& batch, std::vector<RowIndex>& rows) {
      const Vector& column = batch.columns[target.slot];
      ids_.clear();
      for (const RowIndex row : rows)
         if (!column.isNull(row)) ids_.push_back(static_cast<storage::RowId>(column.value<int64_t>(row)));
      isLocked_.assign(ids_.size(), 0);
      lockIds(target, target.parts.at(part));
      size_t next = 0;
      std::erase_if(rows, [&](RowIndex row) { return !column.isNull(row) && !isLocked_[next++]; });
   }

   void lockIds(const Target& target, const Part& part) {
      try {
         part.table->lockRows(*context_.execution.transaction, *context_.execution.snapshot, ids_, part.locking,
                              isLocked_);
      } catch (const storage::WriteConflict& conflict) {
         if (target.lock.wait != sql::LockWaitPolicy::Error || conflict.holder == 0) throw;
         throw SqlError(sqlstate::lockNotAvailable,
                        "could not obtain lock on row in relation \"" + target.lock.table.name + "\"");
      }
   }

   QueryContext& context_;
   const sql::plan::Node& node_;
   BatchStore& found_;
   BatchStore& locked_;
   const uint64_t* const limit_; ///< how many rows a LIMIT above takes, known when this runs; null: all
   uint64_t wanted_ = UINT64_MAX;
   std::vector<Target> targets_;
   std::vector<RowIndex> rows_;
   std::vector<storage::RowId> ids_;
   std::vector<uint8_t> isLocked_;
};

} // namespace

std::vector<Stage> buildLockRows(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   const auto& columns = node.children[0]->output;
   auto* found = builder.own<BatchStore>();
   auto* locked = builder.own<BatchStore>();
   found->allowSpilling(builder.context());
   locked->allowSpilling(builder.context());
   std::vector<uint32_t> slots;
   for (uint32_t i = 0; i < columns.size(); ++i)
      slots.push_back(i);
   builder.addPipeline(
       std::move(stages),
       builder.own<BatchStoreSink>(*found, slots, representationsOf(columns, builder.context().columns())),
       builder.profileOf(node));
   const auto limited = builder.rowsWanted.find(&node);
   const uint64_t* wanted = limited == builder.rowsWanted.end() ? nullptr : limited->second;
   auto* locker = builder.own<RowLocker>(builder, node, *found, *locked, wanted);
   builder.addAction([locker] { locker->run(); });
   Stage stage;
   stage.source = builder.own<BatchStoreSource>(*locked, slotsOf(node.output, columns), true, true);
   std::vector<Stage> out;
   out.push_back(std::move(stage));
   return out;
}

} // namespace ouzel::executor
