#pragma once
#include <map>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "engine/core/session_core.hpp"
#include "engine/core/session_services.hpp"

namespace ouzel::engine {

/// The rows of pg_settings, pg_stat_activity and the other state views, for one statement. Used by the statement's
/// workers.
class SessionSystemState final : public catalog::SystemState {
public:
   SessionSystemState(SessionCore& core, const catalog::Snapshot& catalog, const storage::Snapshot& snapshot);

   Oid role() const override { return core_.role(); }
   std::vector<Setting> settings() const override;
   std::vector<Activity> activity() const override;
   std::vector<AccessRuleRow> accessRules() const override;
   std::vector<UserMapRow> userMaps() const override;
   std::vector<Copy> copies() const override;
   std::vector<Progress> progress() const override;
   std::vector<Lock> locks() const override;
   std::optional<uint32_t> preparedNumber(const std::string& name) const override;
   std::vector<PreparedStatement> preparedStatements() const override { return core_.services.preparedStatements(); }
   std::vector<Cursor> cursors() const override { return core_.services.cursors(); }
   std::vector<int16_t> generatedFrom(const catalog::Relation& relation,
                                      const catalog::Column& generated) const override;
   std::string defaultOf(const catalog::Relation& domain) const override;
   std::string_view nodeOfDefault(const catalog::Relation& relation, const catalog::Column& column) const override;
   double rowCount(catalog::StorageId id) const override;
   TableValues tableValues(catalog::StorageId id) const override;
   int64_t bytes(catalog::StorageId id) const override;
   TableUse tableUse(catalog::StorageId id) const override;
   TableUse transactionTableUse(catalog::StorageId id) const override;
   DatabaseUse databaseUse(Oid database) const override;
   std::optional<FunctionUse> functionUse(Oid function) const override;
   std::optional<FunctionUse> transactionFunctionUse(Oid function) const override;
   ServerUse serverUse() const override;
   int64_t resetAt(const std::string& part) const override;
   std::vector<std::pair<std::string, std::string>> configuration() const override;
   std::vector<TimeZone> timeZones() const override;
   std::vector<TimeZone> timeZoneAbbreviations() const override;
   std::vector<JsonPath> jsonPaths(catalog::StorageId id, uint32_t column) const override;
   std::vector<std::pair<std::string, int64_t>> memory() const override;
   std::vector<SpillDevice> spillDevices() const override;
   std::vector<CompressionDecision> compressionDecisions() const override;
   void largeObjectPages(Oid lower, Oid upper, const LargeObjectPage& page) const override;
   std::vector<StoreRequests> storeRequests() const override;
   std::optional<ObjectCacheUse> objectCache() const override;
   std::optional<SequenceValue> sequenceValue(const catalog::Relation& sequence) const override;

private:
   template <typename Key, typename Value, typename Read>
   Value kept(std::map<Key, Value> KeptStatistics::Numbers::*part, Key key, const Read& read) const;
   TableUse newestTableUse(catalog::StorageId id) const;
   DatabaseUse newestDatabaseUse(Oid database) const;
   std::optional<FunctionUse> newestFunctionUse(Oid function) const;
   KeptStatistics::Numbers newestNumbers() const;
   void addOwnLocks(const std::map<int32_t, std::string>& owners, std::vector<Lock>& locks) const;

   SessionCore& core_; ///< its session waits while a statement reads rows
   Database::Internals& database_;
   const catalog::Snapshot& catalog_;
   const storage::Snapshot snapshot_;
   const Settings& sessionSettings_; ///< not changed while a statement that reads rows runs
};

} // namespace ouzel::engine
