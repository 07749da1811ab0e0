#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "common/value/vector.hpp"
#include "executor/pipeline/query_context.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/plan/plan.hpp"
#include "storage/table/scan.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::executor {

/// The stored tables that one table scan reads: one, or the parts of a partitioned table or of a table with heirs.
/// Lanes read them one after another; each hands out its row groups to all lanes.
class ScanSources {
public:
   ScanSources(const sql::plan::TableScan& plan, const sql::ColumnTable& columns) : plan_(plan), columns_(columns) {}

   /// Starts the scan of a table without parts before the others of the query end.
   void foresee(QueryContext& context, const storage::ScanSpec& spec);
   /// Starts the scans, or goes on with that of foresee(), whose specification had `foreseenZones` zone predicates.
   /// `keep`: leaves out parts of the reference.
   void start(QueryContext& context, const storage::ScanSpec& spec, size_t foreseenZones,
              const storage::Snapshot& snapshot, const std::function<void(sql::TableRef&)>& keep);

   size_t size() const { return sources_.size(); }
   storage::ScanSource& operator[](size_t i) { return *sources_[i]; }
   /// Rows of the source's table were read, before any filter.
   void countRows(size_t source, uint64_t rows);
   bool isReadingAhead() const;
   uint32_t morsels() const;
   double consumed() const; ///< the part of the morsels that were handed out or skipped
   /// Whether storage has no such column: it is the OID of the part that is read, or NULL where the part lacks it.
   bool isConstant(size_t source, uint32_t column) const {
      return !constants_[source].empty() && constants_[source].has(column);
   }
   Vector constant(size_t source, uint32_t column) const;
   void describe(OperatorProfile& profile) const;

private:
   struct Constants {
      int64_t relation = 0;       ///< the part's OID
      std::vector<bool> isAbsent; ///< by column; empty: it has all
      std::vector<bool> isOid;
      bool empty() const { return isOid.empty(); }
      bool has(uint32_t column) const { return column < isOid.size() && (isOid[column] || isAbsent[column]); }
   };
   static storage::ScanSpec specOf(const sql::TablePart* part, const storage::ScanSpec& whole);
   void add(QueryContext& context, const sql::TablePart* part, const storage::ScanSpec& spec,
            const storage::Snapshot& snapshot);

   // PROPERTIES
   const sql::plan::TableScan& plan_;
   const sql::ColumnTable& columns_;
   // STATE
   sql::TableRef table_; ///< with the parts that are left
   std::vector<std::unique_ptr<storage::ScanSource>> sources_;
   struct Used {
      std::shared_ptr<storage::TableUse> table; ///< of the transaction; null: there is none
      storage::UseCounter* rows = nullptr;      ///< in it
   };
   /// Counts the scan, if `spec` says where.
   static Used useOf(const storage::ScanSpec& spec);
   std::shared_ptr<storage::TableUse> foreseenUse_;
   std::vector<Used> used_;           ///< by source
   std::vector<Constants> constants_; ///< by source
   bool isForeseen_ = false;
};

} // namespace ouzel::executor
