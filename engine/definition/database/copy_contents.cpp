#include "engine/definition/database/copy_contents.hpp"

#include <algorithm>

#include "catalog/object/large_object.hpp"

namespace ouzel::engine {

namespace {

void copyRows(SessionCore& core, storage::Table& from, storage::Table& to) {
   storage::ScanSpec spec;
   for (uint32_t column = 0; column < from.columns()->size(); ++column)
      spec.columns.push_back(column);
   const auto source = from.scan(core.transaction.snapshot(), spec);
   const auto reader = source->makeReader();
   const auto appender = to.appender(core.transaction.storage(), storage::AppendMode::Bulk);
   constexpr size_t bytesAtOnce = 4 << 20;
   storage::Morsel morsel;
   while (source->next(morsel)) {
      core.checkInterrupts();
      reader->open(morsel);
      for (uint32_t first = 0, count = 0; first < reader->rowCount(); first += count) {
         const uint32_t rest = reader->rowCount() - first,
                        vectorEnd = storage::vectorRows - first % storage::vectorRows;
         count = reader->rowsWithin(first, std::min(rest, vectorEnd), bytesAtOnce);
         Batch batch;
         batch.rowCount = count;
         batch.selection = reader->visible(first, count);
         if (batch.selection.count() == 0) continue;
         for (uint32_t column = 0; column < spec.columns.size(); ++column)
            batch.columns.push_back(reader->read(column, first, count, batch.selection));
         appender->append(batch);
      }
   }
   appender->finish();
}

} // namespace

void copyLargeObjects(SessionCore& core, Oid source, Oid target) {
   const auto storage = core.transaction.catalog().inDatabase(source).largeObjectPages();
   if (storage == catalog::noStorage) return;
   const auto from = core.database.storage->find(storage);
   if (!from) throwInternal("the pages of large objects are missing");
   const auto to = core.transaction.createStorage(catalog::largeObjectColumns(), target);
   copyRows(core, *from, *to);
   core.transaction.editor().setLargeObjectPages(target, to->id());
}

void copyContents(SessionCore& core, const catalog::Relation& original, catalog::Relation& copy) {
   if (original.sequence) {
      // Before the commit: a crash in between leaves a counter that the next start forgets.
      core.database.sequences->set(copy.oid, core.database.sequences->current(original));
      core.transaction.usesCounters();
   }
   if (original.storage == catalog::noStorage) return;
   std::vector<storage::ColumnDefinition> columns;
   for (const catalog::Column& column : copy.columns)
      columns.push_back(storage::ColumnDefinition::of(column.type));
   const auto from = core.database.storage->find(original.storage);
   if (!from) // in an old snapshot of the catalog
      throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
   const auto to = core.transaction.createStorage(std::move(columns), copy.database);
   copy.storage = to->id();
   copyRows(core, *from, *to);
}

} // namespace ouzel::engine
