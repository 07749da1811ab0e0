#include "engine/trigger/fire.hpp"

#include <algorithm>
#include <map>

#include "engine/core/trigger_call.hpp"
#include "engine/query/kept_rows.hpp"
#include "engine/trigger/at_once.hpp"
#include "engine/trigger/row_shape.hpp"
#include "engine/trigger/transition_rows.hpp"
#include "sql/algebra/fired_triggers.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

using catalog::RelationPtr;
using catalog::Trigger;
using sql::FiredTriggers;
namespace bit = catalog::trigger_bit;

namespace {

struct Found {
   RelationPtr table; ///< null: the table or the trigger is gone
   const Trigger* trigger = nullptr;
};

Found find(SessionCore& core, Oid table, Oid trigger) {
   const RelationPtr relation = core.transaction.catalog().relation(table);
   if (!relation) return {};
   for (const Trigger& one : relation->triggers)
      if (one.oid == trigger) return {relation, &one};
   return {};
}

/// The trigger of a part that comes from `trigger` of a table above; that trigger itself if the part has it.
const Trigger* findIn(const catalog::Snapshot& snapshot, const catalog::Relation& part, Oid trigger) {
   for (const Trigger& one : part.triggers) {
      const Trigger* at = &one;
      RelationPtr owner;
      const catalog::Relation* table = &part;
      while (at && at->oid != trigger && at->parent != invalidOid && !table->parents.empty()) {
         const RelationPtr above = snapshot.relation(table->parents[0]);
         const Trigger* next = nullptr;
         if (above)
            for (const Trigger& other : above->triggers)
               if (other.oid == at->parent) next = &other;
         at = next;
         owner = above;
         table = owner.get();
      }
      if (at && at->oid == trigger) return &one;
   }
   return nullptr;
}

void runStatement(SessionCore& core, const FiredTriggers::Call& call, const TriggeredRows* written,
                  const RunCommand& runCommand) {
   const Found found = find(core, call.table, call.trigger);
   if (!found.trigger) return;
   TransitionTables transitions;
   if (written && found.trigger->hasTransitionTables())
      transitions = transitionsOf(*found.trigger, *found.table, call.event, *written);
   runTrigger(
       core, {*found.trigger, *found.table, call.event, {}, {}, transitions.relations.empty() ? nullptr : &transitions},
       runCommand);
}

/// Fires the AFTER ROW triggers of the rows that one operator has written, in the order of the rows.
class RowTriggers {
public:
   RowTriggers(SessionCore& core, const TriggeredRows& written, const RunCommand& runCommand)
      : core_(core), written_(written), fired_(*written.dml->triggers), runCommand_(runCommand),
        target_(core.transaction.catalog().relation(fired_.relation)) {}

   void run() {
      if (fired_.rows.empty() || !target_ || isDoneAtOnce()) return;
      for (uint64_t at = 0; at < written_.rows->count(); ++at)
         runRow(at);
      for (auto& [key, deferred] : deferred_)
         core_.transaction.defer({target_->oid, invalidOid, 0, std::move(deferred)});
   }

private:
   struct Row {
      uint32_t event;
      Oid table;
      std::vector<bool> conditions; ///< by call
   };

   /// One trigger alone, and rows of one kind: the order of what it does is that of the rows.
   bool isDoneAtOnce() {
      const FiredTriggers::Call& call = fired_.rows[0];
      if (fired_.rows.size() > 1 || call.table != target_->oid || written_.dml->table.parts || fired_.clause >= 0 ||
          written_.rows->count() < 2)
         return false;
      const Found found = find(core_, call.table, call.trigger);
      return found.trigger && !core_.transaction.defers(*found.trigger) && !found.trigger->hasTransitionTables() &&
             fireAtOnce(core_, found.table, *found.trigger, call.event, call.condition, written_, runCommand_);
   }

   /// A row that has gone to another part is deleted in one and inserted into the other.
   void runRow(uint64_t at) {
      uint64_t first = 0;
      const Batch& batch = written_.rows->batchOf(at, first);
      const auto row = static_cast<uint32_t>(at - first);
      const uint32_t event = eventOf(written_, batch, row);
      Oid place = static_cast<Oid>(batch.columns.back().value<int64_t>(row));
      if (place == invalidOid) place = target_->oid;
      Oid from = place;
      if (event == bit::update && fired_.part >= 0)
         from = static_cast<Oid>(batch.columns[static_cast<size_t>(fired_.part)].value<int64_t>(row));
      std::vector<bool> holds;
      for (const FiredTriggers::Call& call : fired_.rows) {
         const Vector* condition = call.condition < 0 ? nullptr : &batch.columns[static_cast<size_t>(call.condition)];
         holds.push_back(!condition || (!condition->isNull(row) && Value::fromVector(*condition, row).i64 != 0));
      }
      if (from == place) return runEvent(at, {event, place, std::move(holds)});
      runEvent(at, {bit::del, from, holds});
      runEvent(at, {bit::insert, place, std::move(holds)});
   }

   void runEvent(uint64_t at, const Row& row) {
      for (size_t i = 0; i < fired_.rows.size(); ++i) {
         const FiredTriggers::Call& call = fired_.rows[i];
         if (call.event != row.event || call.table != row.table || !row.conditions[i]) continue;
         const Found found = find(core_, call.table, call.trigger);
         if (!found.trigger) continue;
         if (core_.transaction.defers(*found.trigger)) {
            defer(call, at);
            continue;
         }
         runOne(found, call.event, at);
      }
   }

   void defer(const FiredTriggers::Call& call, uint64_t at) {
      auto& deferred = deferred_[{call.trigger, call.event}];
      if (!deferred) {
         deferred = std::make_shared<TransactionContext::DeferredTrigger>();
         deferred->target = target_->oid;
         deferred->table = call.table;
         deferred->trigger = call.trigger;
         deferred->event = call.event;
         deferred->rows = written_.rows;
         deferred->oldRow = fired_.oldRow;
         deferred->newRow = fired_.newRow;
      }
      deferred->numbers.push_back(at);
   }

   void runOne(const Found& found, uint32_t event, uint64_t at);

   SessionCore& core_;
   const TriggeredRows& written_;
   const FiredTriggers& fired_;
   const RunCommand& runCommand_;
   const RelationPtr target_;
   std::map<std::pair<Oid, uint32_t>, std::shared_ptr<TransactionContext::DeferredTrigger>> deferred_;
};

/// OLD and NEW of a kept row, as the table of a trigger has them.
struct RowImages {
   std::optional<std::string> oldRow, newRow;
   RowImages(KeptRows& rows, uint64_t at, uint32_t event, int32_t oldColumn, int32_t newColumn, const RowShape& shape) {
      uint64_t first = 0;
      const Batch& batch = rows.batchOf(at, first); // the trigger may read other rows: copies
      const auto row = static_cast<uint32_t>(at - first);
      const auto image = [&](int32_t column) -> std::optional<std::string> {
         if (column < 0) return std::nullopt;
         const Vector& records = batch.columns[static_cast<size_t>(column)];
         if (records.isNull(row)) return std::nullopt;
         return shape.convert(records.value<StringView>(row).view());
      };
      if (event != bit::insert) oldRow = image(oldColumn);
      if (event != bit::del) newRow = image(newColumn);
   }
};

void RowTriggers::runOne(const Found& found, uint32_t event, uint64_t at) {
   const RowImages images(*written_.rows, at, event, fired_.oldRow, fired_.newRow, RowShape(*target_, *found.table));
   TransitionTables transitions;
   if (found.trigger->hasTransitionTables()) transitions = transitionsOf(*found.trigger, *found.table, event, written_);
   runTrigger(core_,
              {*found.trigger, *found.table, event, images.oldRow, images.newRow,
               transitions.relations.empty() ? nullptr : &transitions},
              runCommand_);
}

} // namespace

void fireBefore(SessionCore& core, QueryExecution& query, const RunCommand& runCommand) {
   for (const TriggeredRows& written : query.triggered())
      for (const FiredTriggers::Call& call : written.dml->triggers->before)
         runStatement(core, call, nullptr, runCommand);
}

void fireAfter(SessionCore& core, QueryExecution& query, const RunCommand& runCommand) {
   for (const TriggeredRows& written : query.triggered()) {
      RowTriggers(core, written, runCommand).run();
      for (const FiredTriggers::Call& call : written.dml->triggers->after)
         runStatement(core, call, &written, runCommand);
   }
}

void fireDeferred(SessionCore& core, const TransactionContext::DeferredTrigger& deferred,
                  const RunCommand& runCommand) {
   for (const uint64_t at : deferred.numbers) {
      const Found found = find(core, deferred.table, deferred.trigger);
      const RelationPtr target = core.transaction.catalog().relation(deferred.target);
      if (!found.trigger || !target) return;
      const RowImages images(*deferred.rows, at, deferred.event, deferred.oldRow, deferred.newRow,
                             RowShape(*target, *found.table));
      runTrigger(core, {*found.trigger, *found.table, deferred.event, images.oldRow, images.newRow}, runCommand);
   }
}

std::optional<std::string> runRowTrigger(SessionCore& core, const executor::RowTriggerCall& call,
                                         const RunCommand& runCommand) {
   const auto unchanged = [&] { return std::string(call.newRow ? *call.newRow : *call.oldRow); };
   if (call.table == invalidOid) return unchanged(); // the statement fails where it puts the row
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const RelationPtr target = snapshot.relation(call.target), table = snapshot.relation(call.table);
   if (!target || !table) throwInternal("the table of a trigger does not exist");
   const Trigger* trigger = findIn(snapshot, *table, call.trigger);
   if (!trigger || trigger->enabled == 'D') return unchanged();
   const RowShape shape(*target, *table);
   std::optional<std::string> oldRow, newRow;
   if (call.oldRow) oldRow = shape.convert(*call.oldRow);
   if (call.newRow) newRow = shape.convert(*call.newRow);
   auto made = runTrigger(core, {*trigger, *table, call.event, oldRow, newRow}, runCommand);
   if (!made || shape.isSame()) return made;
   return RowShape(*table, *target).convert(*made);
}

void fireTruncate(SessionCore& core, std::span<const RelationPtr> tables, bool isBefore, const RunCommand& runCommand) {
   const bool isReplica = core.settings.value("session_replication_role") == "replica";
   for (const RelationPtr& table : tables)
      for (const Trigger& trigger : table->triggers) {
         const bool fires = trigger.enabled == 'A' || trigger.enabled == (isReplica ? 'R' : 'O');
         if (fires && trigger.has(bit::truncate) && trigger.has(bit::before) == isBefore)
            runTrigger(core, {trigger, *table, bit::truncate}, runCommand);
      }
}

} // namespace ouzel::engine
