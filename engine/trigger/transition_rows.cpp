#include "engine/trigger/transition_rows.hpp"

#include "common/type/row.hpp"
#include "engine/query/kept_rows.hpp"
#include "sql/algebra/fired_triggers.hpp"

namespace ouzel::engine {

namespace bit = catalog::trigger_bit;

namespace {

/// OIDs of transition tables: no other relation has one of these, and the plans of a trigger's function may be used
/// again. A trigger has four.
constexpr Oid firstOid = 0x6000'0000;

Oid firstOf(const catalog::Trigger& trigger) {
   return firstOid + 4 * (trigger.oid & 0x03ff'ffff);
}

/// Whether a trigger of the event sees the row in its tables.
bool isShown(const TriggeredRows& written, const Batch& rows, uint32_t row, uint32_t event) {
   return eventOf(written, rows, row) == event;
}

ScanRows scanOf(const TriggeredRows& written, uint32_t event, int32_t column) {
   return [written, event, column](const std::vector<int16_t>& attributes,
                                   const std::function<void(std::vector<Value>&)>& give) {
      if (column < 0 || !written.rows) return;
      std::vector<Value> all, values;
      for (uint64_t at = 0; at < written.rows->count();) {
         uint64_t first = 0;
         // A row's function may read the table, too, so the batch is asked for again after each row.
         const uint32_t count = written.rows->batchOf(at, first).rowCount;
         for (; at < first + count; ++at) {
            const Batch& batch = written.rows->batchOf(at, first);
            const auto row = static_cast<uint32_t>(at - first);
            if (!isShown(written, batch, row, event)) continue;
            const Vector& records = batch.columns[static_cast<size_t>(column)];
            if (records.isNull(row)) continue;
            all.clear();
            values.clear();
            const RowView view(records.value<StringView>(row).view());
            for (RowView::Cursor field(view); field.next();)
               all.push_back(valueOfField(*field));
            for (const int16_t attribute : attributes)
               values.push_back(all.at(static_cast<size_t>(attribute - 1)));
            give(values);
         }
      }
   };
}

} // namespace

catalog::RelationPtr rowsRelation(const catalog::Relation& table, std::string name, Oid oid, int times) {
   auto relation = std::make_shared<catalog::Relation>();
   relation->oid = oid;
   relation->schema = table.schema;
   relation->name = std::move(name);
   relation->relationKind = catalog::RelationKind::Virtual;
   relation->shownKind = 'r';
   relation->owner = table.owner;
   for (int i = 0; i < times; ++i)
      for (const catalog::Column& column : table.columns) {
         if (column.isDropped) continue;
         catalog::Column& copy = relation->columns.emplace_back();
         copy.name = column.name;
         copy.attribute = static_cast<int16_t>(relation->columns.size());
         copy.type = column.type;
         if (copy.type.oid == oid::numeric) copy.type.typmod = -1;
      }
   return relation;
}

Oid rowsOid(const catalog::Trigger& trigger) {
   return firstOf(trigger) + 2;
}

uint32_t eventOf(const TriggeredRows& written, const Batch& rows, uint32_t row) {
   const sql::Dml& dml = *written.dml;
   if (dml.clause != sql::noColumn) {
      const Vector& clauses = rows.columns[static_cast<size_t>(dml.triggers->clause)];
      switch (dml.actions.at(static_cast<size_t>(clauses.value<int32_t>(row)))) {
      case sql::DmlAction::Update: return bit::update;
      case sql::DmlAction::Delete: return bit::del;
      default: return bit::insert;
      }
   }
   return written.kind == sql::plan::NodeKind::Insert   ? bit::insert
          : written.kind == sql::plan::NodeKind::Update ? bit::update
                                                        : bit::del;
}

TransitionTables transitionsOf(const catalog::Trigger& trigger, const catalog::Relation& table, uint32_t event,
                               const TriggeredRows& written) {
   TransitionTables tables;
   const Oid oid = firstOf(trigger);
   const auto add = [&](const std::string& name, Oid own, int32_t column) {
      if (name.empty()) return;
      tables.relations.push_back(rowsRelation(table, name, own, 1));
      tables.scans.push_back(scanOf(written, event, column));
   };
   add(trigger.oldTable, oid, written.dml->triggers->oldRow);
   add(trigger.newTable, oid + 1, written.dml->triggers->newRow);
   return tables;
}

} // namespace ouzel::engine
