#include "engine/core/statistics_functions.hpp"

#include <fmt/format.h>

#include "catalog/object/membership.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/log/log.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/database_metrics.hpp"

// Functions that reset statistics, or write them to the log.

namespace ouzel::engine {

namespace {

void resetTable(SessionCore& core, catalog::StorageId storage) {
   if (storage == catalog::noStorage) return;
   if (const auto table = core.database.storage->find(storage)) table->use().reset();
}

} // namespace

void resetStatistics(SessionCore& core, const std::string& part, Oid object) {
   Database::Internals& database = core.database;
   const catalog::Snapshot& catalog = core.transaction.catalog();
   if (part == "database") {
      for (const catalog::RelationPtr& relation : catalog.relations())
         resetTable(core, relation->storage);
      database.uses.reset(catalog.database());
   } else if (part == "table") {
      if (const catalog::RelationPtr relation = catalog.relation(object)) resetTable(core, relation->storage);
   } else if (part == "function") {
      database.functionUses.reset(object);
   } else {
      database.serverUses.reset(part, database.storage->logUse(), database.storage->checkpointUse());
   }
}

bool logMemory(SessionCore& core, int32_t processId) {
   {
      const MutexLock lock(core.database.activityMutex);
      if (!core.database.activity.contains(processId)) return false;
   }
   const MemoryUse use = measureMemory(core.database);
   logLine(LogLevel::Log,
           fmt::format("memory: {} bytes used of {}, at most {}; cache {}, delta {}, statements {}, queries {}",
                       use.used, use.limit, use.peak, use.cache, use.delta, use.statements, use.queries));
   return true;
}

} // namespace ouzel::engine
