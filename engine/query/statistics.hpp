#pragma once
#include "catalog/object/snapshot.hpp"
#include "engine/core/computed_indexes.hpp"
#include "optimizer/optimizer.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/database/database.hpp"

namespace ouzel::engine {

/// The optimizer's view of stored tables under one snapshot: storage's statistics and the catalog's keys. Lives as long
/// as one planning.
class TableStatisticsProvider final : public optimizer::StatisticsProvider {
public:
   TableStatisticsProvider(storage::Database& storage, const catalog::Snapshot& catalog,
                           const storage::Snapshot& snapshot, ComputedIndexes& computed)
      : storage_(storage), catalog_(catalog), snapshot_(snapshot), computed_(computed) {}

   std::shared_ptr<const storage::TableStatistics> statistics(const sql::TableRef& table) override;
   storage::PathSummary pathSummary(const sql::TableRef& table, int16_t attribute,
                                    std::span<const std::string> keys) override {
      const auto found = table.parts ? nullptr : storage_.find(static_cast<storage::StorageId>(table.storageId));
      if (found) return found->pathSummary(snapshot_, static_cast<uint32_t>(attribute - 1), keys);
      storage::PathSummary unknown;
      unknown.isExact = false;
      return unknown;
   }
   std::vector<std::vector<int16_t>> uniqueKeys(const sql::TableRef& table) override;
   double virtualRows(const sql::TableRef& table) override;
   std::shared_ptr<const optimizer::ExtendedStatistics> extended(const sql::TableRef& table) override;
   std::vector<sql::plan::IndexUse> indexes(const sql::TableRef& table) override;

private:
   storage::Database& storage_;
   const catalog::Snapshot& catalog_;
   const storage::Snapshot snapshot_;
   ComputedIndexes& computed_;
   /// Of tables with parts: what was put together last, and for which parts.
   struct OfParts {
      std::shared_ptr<const sql::TableParts> parts;
      std::shared_ptr<const std::vector<uint32_t>> kept;
      std::shared_ptr<const storage::TableStatistics> statistics;
   };
   std::vector<OfParts> ofParts_;
};

} // namespace ouzel::engine
