#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/object/snapshot.hpp"
#include "common/client/access_rules.hpp"
#include "common/value/value.hpp"
#include "common/value/wanted_rows.hpp"

// System tables whose rows are computed when they are scanned.

namespace ouzel::catalog {

/// State of the server that system tables show and that the catalog does not have. engine/ implements the interface.
/// Any worker of a statement may call a function. The default implementations give no rows.
class SystemState {
public:
   virtual ~SystemState();

   /// Who asks: what belongs to others is hidden from it.
   virtual Oid role() const { return bootstrapRole; }

   struct Setting {
      std::string name, value;
      std::optional<std::string> unit;
      std::string category, description;
      std::optional<std::string> extraDescription;
      std::string context, type, source = "default";
      std::optional<std::string> minimum, maximum;
      std::vector<std::string> choices; ///< of an enum
      std::string bootValue, resetValue;
   };
   virtual std::vector<Setting> settings() const { return {}; }

   struct Activity { ///< times are microseconds since 2000-01-01 UTC
      Oid database = invalidOid, role = invalidOid;
      int32_t pid = 0;
      std::string applicationName;
      std::optional<std::string> clientAddress;
      int32_t clientPort = -1;
      int64_t backendStart = 0;
      std::optional<int64_t> transactionStart, queryStart, stateChange;
      std::optional<std::string> waitEventType, waitEvent;
      std::string state; ///< "active", "idle", "idle in transaction", ...
      std::string query;
      std::string backendType = "client backend";
   };
   virtual std::vector<Activity> activity() const { return {}; }

   virtual std::vector<AccessRuleRow> accessRules() const { return {}; }
   virtual std::vector<UserMapRow> userMaps() const { return {}; }

   struct Copy {
      int32_t pid = 0;
      Oid database = invalidOid, relation = invalidOid;
      std::string command, type; ///< "COPY FROM", "FILE"
      int64_t bytesProcessed = 0, bytesTotal = 0, tuplesProcessed = 0, tuplesExcluded = 0;
   };
   virtual std::vector<Copy> copies() const { return {}; }

   struct Progress { ///< of one pipeline of a running query
      int32_t pid = 0;
      Oid database = invalidOid, role = invalidOid;
      int32_t pipeline = 0;                   ///< from 1, in the order in which they run
      std::string source, state;              ///< "Seq Scan on orders"; "waiting", "running", "finishing", "ended"
      int64_t rowsDone = 0, rowsExpected = 0; ///< of its source
      double share = 0, seconds = 0;          ///< from 0 to 1
      double queryShare = 0, querySeconds = 0;
      std::optional<double> querySecondsLeft;
   };
   virtual std::vector<Progress> progress() const { return {}; }

   struct Lock {
      std::string type = "relation"; ///< or "transactionid", "tuple", "key", "advisory"
      Oid database = invalidOid;
      std::optional<Oid> relation, classId, objectId;
      std::optional<int16_t> objectSubId;
      std::optional<uint32_t> transactionId;
      bool isOwn = false; ///< of type "virtualxid", on the owner itself
      std::string owner;  ///< virtual transaction
      int32_t pid = 0;
      std::string mode; ///< "AccessShareLock"
      bool isGranted = true;
   };
   virtual std::vector<Lock> locks() const { return {}; }

   struct PreparedStatement {
      std::string name, statement;
      int64_t preparedAt = 0;
      std::vector<Oid> parameterTypes;
      bool isFromSql = false;
   };
   virtual std::vector<PreparedStatement> preparedStatements() const { return {}; }

   /// The number of a prepared transaction; empty: it is not known here.
   virtual std::optional<uint32_t> preparedNumber(const std::string& /*name*/) const { return std::nullopt; }

   struct Cursor {
      std::string name, statement;
      bool isHoldable = false, isBinary = false, isScrollable = false;
      int64_t createdAt = 0;
   };
   virtual std::vector<Cursor> cursors() const { return {}; }

   struct TimeZone {
      std::string name, abbreviation;
      int64_t offsetMicros = 0;
      bool isDst = false;
   };
   virtual std::vector<TimeZone> timeZones() const { return {}; }
   virtual std::vector<TimeZone> timeZoneAbbreviations() const { return {}; }

   /// The columns that a generated column is computed from.
   virtual std::vector<int16_t> generatedFrom(const Relation&, const Column& /*generated*/) const { return {}; }
   /// The default of a domain, which has one, as it is shown.
   virtual std::string defaultOf(const Relation& domain) const { return domain.columns[0].defaultExpr; }
   /// PostgreSQL's word for the root of a column's default as a tree of nodes; empty: it is not known.
   virtual std::string_view nodeOfDefault(const Relation&, const Column&) const { return {}; }
   /// Number of rows of a table, -1: unknown; and its bytes.
   virtual double rowCount(StorageId) const { return -1; }
   virtual int64_t bytes(StorageId) const { return 0; }
   /// What is known of the values of a table's columns.
   struct TableValues {
      struct Column {
         double nullFraction = 0;
         double distinct = 0;     ///< values that are not NULL
         double averageWidth = 0; ///< bytes of a value that is not NULL
      };
      double rows = 0;
      std::vector<Column> columns; ///< in the order of attnums, dropped ones too
   };
   virtual TableValues tableValues(StorageId) const { return {}; }
   /// What statements have done with a table.
   struct TableUse {
      int64_t scans = 0, rowsScanned = 0, inserted = 0, updated = 0, deleted = 0, modified = 0, analyses = 0;
      int64_t blocksFound = 0, blocksLoaded = 0; ///< in memory, and from the store
      std::optional<int64_t> analyzedAt;         ///< microseconds since 2000-01-01 UTC
      struct Lookup {
         std::vector<int16_t> columns; ///< attnums; empty: keys are computed
         int64_t scans = 0, rows = 0;
      };
      std::vector<Lookup> lookups; ///< by the values of columns
   };
   /// In transactions that have ended since the server has started.
   virtual TableUse tableUse(StorageId) const { return {}; }
   /// In the transaction that asks.
   virtual TableUse transactionTableUse(StorageId) const { return {}; }
   /// Of a database, since the server has started.
   struct DatabaseUse {
      int64_t commits = 0, rollbacks = 0, sessions = 0, deadlocks = 0;
      std::optional<int64_t> resetAt;
   };
   virtual DatabaseUse databaseUse(Oid /*database*/) const { return {}; }
   struct FunctionUse {
      int64_t calls = 0;
      double totalMillis = 0, selfMillis = 0; ///< self: without the functions that it has called
   };
   /// Empty: no call was counted.
   virtual std::optional<FunctionUse> functionUse(Oid /*function*/) const { return std::nullopt; }
   virtual std::optional<FunctionUse> transactionFunctionUse(Oid /*function*/) const { return std::nullopt; }
   /// The log and checkpoints, since the server has started or their statistics were reset.
   struct ServerUse {
      int64_t logFrames = 0, logBytes = 0, logWrites = 0, logSyncs = 0;
      double logWriteMillis = 0, logSyncMillis = 0;
      int64_t checkpointsScheduled = 0, checkpointsRequested = 0;
      double checkpointMillis = 0;
   };
   virtual ServerUse serverUse() const { return {}; }
   /// When statistics of the whole server were reset, or else the server started; `part` as pg_stat_reset_shared()
   /// names it, or "slru/" and a name.
   virtual int64_t resetAt(const std::string& /*part*/) const { return 0; }
   /// The rows of pg_config: names and settings.
   virtual std::vector<std::pair<std::string, std::string>> configuration() const { return {}; }
   /// State of a sequence: its last value if `isCalled`, else the value that the next call gives.
   struct SequenceValue {
      int64_t value = 0;
      bool isCalled = false;
   };
   virtual std::optional<SequenceValue> sequenceValue(const Relation& /*sequence*/) const { return std::nullopt; }
   /// What the documents of a column have at a path: how many values of which kind. Bounds are those of numbers of
   /// one scale, as decimals, and of texts that all are dates, as days since 2000-01-01.
   struct JsonPath {
      std::vector<std::string> keys;
      int64_t objects = 0, arrays = 0, strings = 0, numbers = 0, booleans = 0, nulls = 0;
      std::optional<std::string> numberMin, numberMax;
      std::optional<int32_t> dateMin, dateMax;
      std::optional<int64_t> distinct; ///< an estimate, of the values that columns hold
   };
   virtual std::vector<JsonPath> jsonPaths(StorageId, uint32_t /*column*/) const { return {}; }
   /// The ledger: the bytes that each owner has charged.
   virtual std::vector<std::pair<std::string, int64_t>> memory() const { return {}; }
   /// One device that queries spill to.
   struct SpillDevice {
      std::string directory;
      int64_t bytesAllocated = 0, bytesInUse = 0, rawBytesWritten = 0, bytesWritten = 0, rawBytesRead = 0,
              bytesRead = 0;
      std::optional<int64_t> writeBandwidth, readBandwidth; ///< bytes per second as measured
      std::optional<double> roundMicros;                    ///< of a request besides its bytes, as measured
      int64_t writeRequests = 0, readRequests = 0, failures = 0, readRounds = 0;
      double writeWaitMillis = 0, readWaitMillis = 0; ///< of workers
   };
   virtual std::vector<SpillDevice> spillDevices() const { return {}; }
   /// Requests of one kind to the bucket that holds the database, since the start of the process.
   struct StoreRequests {
      std::string kind;
      int64_t requests = 0, bytes = 0, errors = 0, retries = 0, hedges = 0, hedgesWon = 0, throttled = 0, active = 0;
      double estimatedCost = 0;         ///< dollars
      std::optional<int64_t> limit;     ///< maximum number of requests under way
      std::optional<int64_t> bandwidth; ///< bytes per second as measured
      std::optional<double> latencyMs;  ///< of a small request, as measured
   };
   virtual std::vector<StoreRequests> storeRequests() const { return {}; }
   /// Counters of the cache of the bucket's objects on a local disk, since the start of the process.
   struct ObjectCacheUse {
      int64_t size = 0, bytesUsed = 0, regions = 0, hits = 0, hitBytes = 0, misses = 0, missBytes = 0, joins = 0,
              fills = 0, droppedFills = 0, evictions = 0, corruptions = 0, errors = 0;
   };
   virtual std::optional<ObjectCacheUse> objectCache() const { return std::nullopt; }
   /// A recent decision of a regulator, which chooses the compression of spilled pages.
   struct CompressionDecision {
      int64_t at = 0; ///< microseconds since 2000-01-01
      int32_t lane = 0;
      std::string directory, levelBefore, levelAfter;
      double cpuNanos = 0, ioNanos = 0; ///< per raw byte
   };
   virtual std::vector<CompressionDecision> compressionDecisions() const { return {}; }

   /// Rows of pg_largeobject, which are passed on as they are read: all, or those of the OIDs from `lower` to `upper`.
   using LargeObjectPage = std::function<void(Oid object, int32_t page, std::string_view data)>;
   virtual void largeObjectPages(Oid /*lower*/, Oid /*upper*/, const LargeObjectPage& /*page*/) const {}
};

/// Inputs of a scan of a system table. The caller keeps the referenced objects for the duration of the scan.
struct SystemContext {
   const Snapshot& snapshot;
   const SystemState* state = nullptr;   ///< may be null
   std::span<const WantedRows> wanted{}; ///< rows that do not have all this may be left out
   const Relation* table = nullptr;      ///< the table that is scanned; scanVirtualTable() sets it

   /// What the scan wants of a column; null: any value.
   const WantedRows* wants(std::string_view column) const;
};

using RowCallback = std::function<void(std::vector<Value>& row)>;

/// Computes the rows of a virtual relation. Calls `row` once per row, with one value for each of `attributes` (attnums
/// in any order). The callback may move the values out. Other columns are not materialised.
void scanVirtualTable(SystemContext context, const Relation& relation, std::span<const int16_t> attributes,
                      const RowCallback& row);

} // namespace ouzel::catalog
