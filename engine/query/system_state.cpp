#include "engine/query/system_state.hpp"

#include <cmath>

#include "catalog/pg_catalog/functions.hpp"
#include "common/client/session_control.hpp"
#include "common/memory/process_allocator.hpp"
#include "common/number/decimal.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/database_metrics.hpp"
#include "engine/core/privileges.hpp"
#include "engine/large_object/pages.hpp"
#include "io/object_store/store_statistics.hpp"
#include "sql/bind/binder.hpp"
#include "sql/deparse/deparse.hpp"

namespace ouzel::engine {

SessionSystemState::SessionSystemState(SessionCore& core, const catalog::Snapshot& catalog,
                                       const storage::Snapshot& snapshot)
   : core_(core), database_(core.database), catalog_(catalog), snapshot_(snapshot), sessionSettings_(core.settings) {}

namespace {

std::optional<std::string> unlessEmpty(std::string_view text) {
   return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

const char* typeName(SettingType type) {
   switch (type) {
   case SettingType::Bool: return "bool";
   case SettingType::Integer: return "integer";
   case SettingType::Real: return "real";
   case SettingType::String: return "string";
   case SettingType::Enum: return "enum";
   }
   return "string";
}

} // namespace

std::vector<catalog::SystemState::Setting> SessionSystemState::settings() const {
   std::vector<Setting> out;
   for (const SettingInfo& info : settingTable()) {
      if (info.isHidden || (info.isPrivileged && !mayExamineSettings(core_))) continue;
      Setting setting;
      setting.name = info.name;
      setting.value = sessionSettings_.values()[info.index];
      if (info.name == "log_file_mode") setting.value = displaySetting(info, setting.value);
      setting.unit = unlessEmpty(info.unit);
      setting.category = info.category;
      setting.description = info.description;
      setting.extraDescription = unlessEmpty(info.extraDescription);
      setting.context = info.context;
      setting.type = typeName(info.type);
      setting.minimum = unlessEmpty(info.minimum);
      setting.maximum = unlessEmpty(info.maximum);
      setting.choices.assign(info.enumValues.begin(), info.enumValues.end());
      setting.bootValue = setting.resetValue = info.initial;
      setting.source = setting.value == info.initial ? "default" : "session";
      out.push_back(std::move(setting));
   }
   return out;
}

std::vector<AccessRuleRow> SessionSystemState::accessRules() const {
   const SessionControl* control = database_.sessionControl;
   return control != nullptr ? control->accessRules() : std::vector<AccessRuleRow>();
}

std::vector<UserMapRow> SessionSystemState::userMaps() const {
   const SessionControl* control = database_.sessionControl;
   return control != nullptr ? control->userMaps() : std::vector<UserMapRow>();
}

std::vector<catalog::SystemState::Copy> SessionSystemState::copies() const {
   std::map<int32_t, Oid> databases; // by process
   {
      const MutexLock lock(database_.activityMutex);
      for (const auto& [pid, session] : database_.activity)
         databases[pid] = session.databaseOid;
   }
   std::vector<Copy> out;
   database_.copies.forEach([&](const CopyProgress& progress) {
      const CopyDescription& about = progress.description;
      out.push_back({.pid = about.processId,
                     .database = databases[about.processId],
                     .relation = about.relation,
                     .command = about.isFrom ? "COPY FROM" : "COPY TO",
                     .type = about.isFile ? "FILE" : "PIPE",
                     .bytesProcessed = static_cast<int64_t>(progress.bytes),
                     .bytesTotal = static_cast<int64_t>(about.bytesTotal),
                     .tuplesProcessed = static_cast<int64_t>(progress.tuples),
                     .tuplesExcluded = static_cast<int64_t>(progress.excluded())});
   });
   return out;
}

std::vector<catalog::SystemState::Progress> SessionSystemState::progress() const {
   struct Owner {
      Oid database = invalidOid;
      std::string user;
   };
   std::map<int32_t, Owner> owners; // by process
   {
      const MutexLock lock(database_.activityMutex);
      for (const auto& [pid, session] : database_.activity)
         owners[pid] = {session.databaseOid, session.user};
   }
   constexpr const char* states[] = {"waiting", "running", "finishing", "ended"};
   std::vector<Progress> out;
   for (const executor::QueryProgressList::Entry& entry : database_.progress.list()) {
      const executor::QueryProgress::View view = entry.progress->view();
      const Owner& owner = owners[entry.processId];
      const auto role = catalog_.findRole(owner.user);
      for (size_t i = 0; i < view.pipelines.size(); ++i) {
         const executor::QueryProgress::PipelineView& pipeline = view.pipelines[i];
         out.push_back({.pid = entry.processId,
                        .database = owner.database,
                        .role = role ? role->oid : invalidOid,
                        .pipeline = static_cast<int32_t>(i + 1),
                        .source = pipeline.source,
                        .state = states[static_cast<size_t>(pipeline.state)],
                        .rowsDone = static_cast<int64_t>(pipeline.rows),
                        .rowsExpected = static_cast<int64_t>(pipeline.rowsExpected),
                        .share = pipeline.share,
                        .seconds = pipeline.seconds,
                        .queryShare = view.share,
                        .querySeconds = view.seconds,
                        .querySecondsLeft = view.secondsLeft < 0 ? std::nullopt : std::optional(view.secondsLeft)});
      }
   }
   return out;
}

std::optional<uint32_t> SessionSystemState::preparedNumber(const std::string& name) const {
   return database_.prepared ? database_.prepared->numberOf(name) : std::nullopt;
}

std::vector<int16_t> SessionSystemState::generatedFrom(const catalog::Relation& relation,
                                                       const catalog::Column& generated) const {
   const auto script = sql::ParsedScript::parseExpression(generated.defaultExpr);
   const catalog::SearchPath path = core_.searchPath();
   const auto bound = sql::bindExpression(*script.expression(), sql::ExpressionUse::GeneratedColumn, &relation,
                                          generated.type, generated.name, core_.bindContext(path, nullptr));
   std::vector<int16_t> read;
   for (const sql::GetColumn& input : bound.inputs)
      read.push_back(input.attribute);
   return read;
}

std::string SessionSystemState::defaultOf(const catalog::Relation& domain) const {
   const catalog::Column& value = domain.columns[0];
   SqlType base = value.type;
   base.domain = invalidOid;
   const catalog::SearchPath path = core_.searchPath();
   const std::string text = catalog::defaultText(value);
   return sql::deparse::expressionText(catalog::expressionOf(text, nullptr).first, nullptr, &base,
                                       core_.bindContext(path, nullptr), {})
       .text;
}

std::string_view SessionSystemState::nodeOfDefault(const catalog::Relation& relation,
                                                   const catalog::Column& column) const {
   const catalog::SearchPath path = core_.searchPath();
   const catalog::RelationPtr table = core_.transaction.catalog().relation(relation.oid);
   const std::string text = catalog::defaultText(column);
   try {
      return sql::deparse::rootNode(catalog::expressionOf(text, nullptr).first, table, &column.type,
                                    core_.bindContext(path, nullptr));
   } catch (const SqlError& error) { // what cannot be printed, as of pg_get_expr()
      if (error.state() == sqlstate::queryCanceled) throw;
      return {};
   }
}

double SessionSystemState::rowCount(catalog::StorageId id) const {
   const auto table = database_.storage->find(id);
   return table ? static_cast<double>(table->estimatedRows(snapshot_)) : -1;
}

catalog::SystemState::TableValues SessionSystemState::tableValues(catalog::StorageId id) const {
   TableValues values;
   const auto table = database_.storage->find(id);
   if (!table) return values;
   const auto statistics = table->statistics(snapshot_);
   values.rows = static_cast<double>(statistics->rowCount);
   for (const storage::ColumnStatistics& column : statistics->columns)
      values.columns.push_back({column.nullFraction, column.distinct, column.averageWidth});
   return values;
}

int64_t SessionSystemState::bytes(catalog::StorageId id) const {
   const auto table = database_.storage->find(id);
   return table ? static_cast<int64_t>(table->storedBytes()) : 0;
}

namespace {

std::string decimalOf(int64_t value, uint8_t scale) {
   return std::string(decimal::fromInt64(value, scale).view());
}

} // namespace

std::vector<catalog::SystemState::JsonPath> SessionSystemState::jsonPaths(catalog::StorageId id,
                                                                          uint32_t column) const {
   using storage::NodeKind;
   const auto table = database_.storage->find(id);
   if (!table) return {};
   const storage::DocumentSummary documents = table->documentSummary(snapshot_, column);
   std::vector<JsonPath> paths(documents.size());
   for (uint32_t i = 0; i < documents.size(); ++i) {
      JsonPath& path = paths[i];
      if (i > 0) {
         path.keys = paths[documents.path(i).parent].keys;
         path.keys.push_back(documents.path(i).key);
      }
      const storage::PathSummary& values = documents.values(i);
      const auto count = [&](NodeKind kind) { return static_cast<int64_t>(values.count(kind)); };
      path.objects = count(NodeKind::Object);
      path.arrays = count(NodeKind::Array) + count(NodeKind::EmptyArray);
      path.strings = count(NodeKind::String);
      path.numbers = count(NodeKind::Number);
      path.booleans = count(NodeKind::Boolean);
      path.nulls = count(NodeKind::Null);
      if (path.numbers > 0 && values.areAlike) {
         path.numberMin = decimalOf(values.smallest, values.scale);
         path.numberMax = decimalOf(values.largest, values.scale);
      }
      if (path.strings > 0 && values.areDates) {
         path.dateMin = values.earliest;
         path.dateMax = values.latest;
      }
      if (values.sketch) path.distinct = std::llround(values.sketch->distinct.estimate());
   }
   return paths;
}

std::vector<std::pair<std::string, int64_t>> SessionSystemState::memory() const {
   const MemoryUse use = measureMemory(database_);
   const auto bytes = [](uint64_t number) { return static_cast<int64_t>(number); };
   std::vector<std::pair<std::string, int64_t>> rows = {
       {"cache", bytes(use.cache)},     {"cache kept", bytes(use.kept)},
       {"delta", bytes(use.delta)},     {"statements", bytes(use.statements)},
       {"queries", bytes(use.queries)}, {"used", bytes(use.used)},
       {"peak", bytes(use.peak)},       {"withheld", bytes(use.withheld)},
       {"limit", bytes(use.limit)},     {"resident", bytes(residentBytes())}};
   const ProcessAllocator& allocator = processAllocator();
   rows.emplace_back(std::string("allocated by ") + allocator.name,
                     bytes(allocator.allocatedBytes ? allocator.allocatedBytes() : 0));
   return rows;
}

std::vector<catalog::SystemState::SpillDevice> SessionSystemState::spillDevices() const {
   std::vector<SpillDevice> out;
   for (const io::SpillManager::Device& device : database_.spill->devices()) {
      const auto count = [](auto number) { return static_cast<int64_t>(number); };
      const auto known = [&](double bandwidth) {
         return bandwidth > 0 ? std::optional(count(bandwidth)) : std::nullopt;
      };
      out.push_back({device.name, count(device.bytesAllocated), count(device.bytesInUse), count(device.rawBytesWritten),
                     count(device.bytesWritten), count(device.rawBytesRead), count(device.bytesRead),
                     known(device.writeBandwidth), known(device.readBandwidth),
                     device.roundNanos > 0 ? std::optional(device.roundNanos / 1000) : std::nullopt,
                     count(device.writeRequests), count(device.readRequests), count(device.failures),
                     count(device.readRounds), static_cast<double>(device.writeWaitNanos) / 1e6,
                     static_cast<double>(device.readWaitNanos) / 1e6});
   }
   return out;
}

std::vector<catalog::SystemState::CompressionDecision> SessionSystemState::compressionDecisions() const {
   const auto devices = database_.spill->devices();
   const auto& levels = io::spillLevelNames();
   std::vector<CompressionDecision> out;
   for (const io::SpillManager::Decision& d : database_.spill->decisions())
      out.push_back({d.at, static_cast<int32_t>(d.lane), devices[d.device].name, levels[d.levelBefore],
                     levels[d.levelAfter], d.cpuNanos, d.ioNanos});
   return out;
}

void SessionSystemState::largeObjectPages(Oid lower, Oid upper, const LargeObjectPage& page) const {
   auto id = catalog_.largeObjectPages();
   if (id == catalog::noStorage) // made after the snapshot, perhaps for this transaction
      id = database_.catalog->newest().inDatabase(catalog_.database()).largeObjectPages();
   const auto table = id == catalog::noStorage ? nullptr : database_.storage->find(id);
   if (!table) return;
   forEachLargeObjectPage(
       *table, snapshot_, lower, upper,
       [&](Oid object, int32_t number, storage::RowId, std::string_view data) { page(object, number, data); });
}

std::vector<catalog::SystemState::StoreRequests> SessionSystemState::storeRequests() const {
   const auto statistics = database_.storage->storeStatistics();
   if (!statistics) return {};
   std::vector<StoreRequests> out;
   for (size_t i = 0; i < io::requestKinds; ++i) {
      const io::RetrieverStatistics::Kind& kind = statistics->kinds[i];
      const auto count = [](uint64_t number) { return static_cast<int64_t>(number); };
      StoreRequests row{io::requestKindNames[i],
                        count(kind.requests),
                        count(kind.bytes),
                        count(kind.errors),
                        count(kind.retries),
                        count(kind.hedges),
                        count(kind.hedgesWon),
                        count(kind.throttled),
                        count(kind.active),
                        0,
                        {},
                        {},
                        {}};
      row.estimatedCost = statistics->estimatedCost(static_cast<io::RequestKind>(i));
      if (static_cast<io::RequestKind>(i) == io::RequestKind::Get) { // other kinds have no limit
         row.limit = count(statistics->limit);
         if (statistics->bandwidth > 0) row.bandwidth = static_cast<int64_t>(statistics->bandwidth);
         if (statistics->baseLatencyMs > 0) row.latencyMs = statistics->baseLatencyMs;
      }
      out.push_back(std::move(row));
   }
   return out;
}

std::optional<catalog::SystemState::ObjectCacheUse> SessionSystemState::objectCache() const {
   const auto cache = database_.storage->cacheStatistics();
   if (!cache) return std::nullopt;
   const auto count = [](uint64_t number) { return static_cast<int64_t>(number); };
   return ObjectCacheUse{count(cache->size),         count(cache->bytesUsed), count(cache->regions),
                         count(cache->hits),         count(cache->hitBytes),  count(cache->misses),
                         count(cache->missBytes),    count(cache->joins),     count(cache->fills),
                         count(cache->droppedFills), count(cache->evictions), count(cache->corruptions),
                         count(cache->errors)};
}

std::optional<SessionSystemState::SequenceValue>
SessionSystemState::sequenceValue(const catalog::Relation& sequence) const {
   const auto restarted = core_.transaction.restartedSequences.current(sequence.oid);
   const storage::Counter counter = restarted ? *restarted : database_.sequences->current(sequence);
   return SequenceValue{counter.value, counter.isCalled};
}

} // namespace ouzel::engine
