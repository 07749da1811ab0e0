#include "storage/database/table_registry.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::storage {

using Kind = Transaction::StorageChange::Kind;

std::shared_ptr<Table> TableRegistry::create(Transaction& transaction, std::vector<ColumnDefinition> columns,
                                             uint32_t place) {
   const StorageId id = context_.ids.newStorage(place);
   auto table = std::make_shared<Table>(std::make_unique<TableCore>(context_, id, std::move(columns)));
   {
      const MutexLock lock(tablesMutex_);
      const bool isNew = tables_.try_emplace(id, Entry{table}).second;
      CHECK(isNew); // storage ids are never used again
   }
   transaction.addStorageChange({Kind::Create, table, {}, [this, id] { erase(id); }});
   return table;
}

void TableRegistry::drop(Transaction& transaction, StorageId id) {
   auto table = find(id);
   if (!table) throwInternal("dropped storage does not exist");
   transaction.addStorageChange({Kind::Drop, std::move(table), {}, nullptr});
}

void TableRegistry::addColumn(Transaction& transaction, StorageId id, ColumnDefinition column) {
   auto table = find(id);
   if (!table) throwInternal("altered storage does not exist");
   TableCore& core = table->core();
   {
      const MutexLock lock(core.mutex);
      core.addColumn(column);
      core.sealDelta(); // rows with the new column go to a new segment
   }
   transaction.addStorageChange({Kind::AddColumn, std::move(table), std::move(column), nullptr});
}

std::shared_ptr<Table> TableRegistry::find(StorageId id) const {
   const MutexLock lock(tablesMutex_);
   const auto it = tables_.find(id);
   return it == tables_.end() ? nullptr : it->second.table;
}

std::vector<std::shared_ptr<Table>> TableRegistry::all() const {
   const MutexLock lock(tablesMutex_);
   std::vector<std::shared_ptr<Table>> all;
   for (const auto& [id, entry] : tables_)
      all.push_back(entry.table);
   return all;
}

void TableRegistry::publish(const Transaction::StorageChange& change) {
   TableCore& core = change.table->core();
   const MutexLock lock(tablesMutex_);
   const auto it = tables_.find(core.id);
   DCHECK(it == tables_.end() || it->second.table == change.table);
   const MutexLock coreLock(core.mutex);
   if (change.kind == Kind::Drop) {
      core.isDropped = true;
      if (it != tables_.end()) tables_.erase(it); // `change` keeps the table alive
   } else if (it != tables_.end()) {
      DCHECK(change.kind == Kind::Create || it->second.isCommitted);
      it->second.isCommitted = true;
      it->second.committedColumns = static_cast<uint32_t>(core.columns->size());
   }
}

TableRegistry::Captured TableRegistry::captureOne(const Entry& entry, TableCore& core) {
   DCHECK(&core == &entry.table->core());
   Captured captured{entry.table, core.columns, {}};
   CHECK(entry.committedColumns <= core.columns->size());
   if (entry.committedColumns < core.columns->size())
      captured.columns = std::make_shared<std::vector<ColumnDefinition>>(
          core.columns->begin(), core.columns->begin() + static_cast<ptrdiff_t>(entry.committedColumns));
   for (const SegmentPtr& segment : *core.segments)
      if (segment->retiredAt == 0) captured.segments.push_back(segment);
   return captured;
}

std::vector<TableRegistry::Captured> TableRegistry::capture() {
   std::vector<Captured> captured;
   const MutexLock lock(tablesMutex_);
   for (auto& [id, entry] : tables_) {
      if (!entry.isCommitted) continue;
      TableCore& core = entry.table->core();
      const MutexLock coreLock(core.mutex);
      core.sealDelta();
      captured.push_back(captureOne(entry, core));
   }
   return captured;
}

std::vector<TableRegistry::Captured> TableRegistry::committed() const {
   std::vector<Captured> captured;
   const MutexLock lock(tablesMutex_);
   for (auto& [id, entry] : tables_) {
      if (!entry.isCommitted) continue;
      TableCore& core = entry.table->core();
      const MutexLock coreLock(core.mutex);
      captured.push_back(captureOne(entry, core));
   }
   return captured;
}

void TableRegistry::putCommitted(const std::shared_ptr<Table>& table) {
   const auto columns = static_cast<uint32_t>(table->columns()->size());
   const MutexLock lock(tablesMutex_);
   tables_[table->id()] = {table, true, columns};
}

std::shared_ptr<Table> TableRegistry::findCommitted(StorageId id) const {
   const MutexLock lock(tablesMutex_);
   const auto it = tables_.find(id);
   return it == tables_.end() || !it->second.isCommitted ? nullptr : it->second.table;
}

std::vector<StorageId> TableRegistry::withdrawExcept(const std::set<StorageId>& alive) {
   std::vector<StorageId> withdrawn;
   const MutexLock lock(tablesMutex_);
   for (auto& [id, entry] : tables_)
      if (!alive.contains(id) && std::exchange(entry.isCommitted, false)) withdrawn.push_back(id);
   return withdrawn;
}

std::shared_ptr<Table> TableRegistry::erase(StorageId id) {
   const MutexLock lock(tablesMutex_);
   const auto it = tables_.find(id);
   CHECK(it != tables_.end());
   std::shared_ptr<Table> table = std::move(it->second.table);
   tables_.erase(it);
   return table;
}

} // namespace ouzel::storage
