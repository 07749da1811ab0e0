#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/type/session_format.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// Files of foreign formats seen as tables: what binding asks of them, and how a query reads them. CSV and Parquet
// implement this (csv/, parquet/); sql/bind keeps an ExternalTable in the plan,
// executor/operator/scan/external_scan.cpp runs its scans. Nothing here knows of names in SQL, privileges or plans.

namespace ouzel {
class SqlError;
}

namespace ouzel::io {

struct ExternalColumn {
   std::string name;
   SqlType type;
   /// Not empty: why this column cannot be read; it has a type all the same, and only reading it is an error.
   std::string problem{};
};

/// A named argument of read_csv or read_parquet, as text. Lists have several values.
struct ExternalOption {
   std::string name;
   std::vector<std::string> values;
};

/// What a query asks for: patterns of paths, options, and columns where the query names them itself.
struct ExternalRequest {
   std::vector<std::string> patterns;
   std::vector<ExternalOption> options;
   std::vector<std::string> names; ///< of the columns; empty: as the file says
   std::vector<SqlType> types;     ///< of the columns; empty: as the file says
   SessionFormat format{};         ///< texts of dates and times are read with it
};

/// What rows must satisfy to be of interest: `lower` <= column <= `upper`, inclusive, where they are not NULL values.
/// Values are in storedRepresentation(type of the column). A scan may give rows that fail it.
struct ExternalRange {
   uint32_t column = 0; ///< of the table
   Value lower, upper;
};

struct ExternalScanSpec {
   std::vector<uint32_t> columns; ///< of the table, in the order of the batches
   std::vector<ExternalRange> ranges;
   Reservation* memory = nullptr; ///< everything large is charged here; outlives the scan
   bool keepsOrder = false;       ///< one reader will read everything in the order of the files
   std::function<void()> wake;    ///< called by any thread when readers that wait can go on
};

/// One worker's view of a scan. Used by one thread.
class ExternalReader {
public:
   virtual ~ExternalReader() = default;
   /// The next rows, at most `rowsMax` <= batchRowsMax; false at the end of everything. Vectors have the
   /// storedRepresentation of their column's type and are valid until the next call.
   virtual bool next(Batch& out, uint32_t rowsMax) = 0;
   /// After next() gave no rows: more rows will come, and ExternalScanSpec::wake says when.
   virtual bool isWaiting() const { return false; }
};

/// A scan that workers share. Thread-safe. Errors name the file.
class ExternalScan {
public:
   virtual ~ExternalScan() = default;
   /// How many readers find work at once; 0: there are no rows.
   virtual uint32_t readersMax() const = 0;
   virtual std::unique_ptr<ExternalReader> makeReader() = 0;
   /// Facts for EXPLAIN ANALYZE.
   virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

/// Files of one format with one schema, as they were when they were opened. Immutable, thread-safe; shared by the plans
/// that read it.
class ExternalTable {
public:
   virtual ~ExternalTable() = default;
   virtual std::string_view formatName() const = 0; ///< "CSV", "Parquet"
   const std::vector<ExternalColumn>& columns() const { return columns_; }
   const std::vector<std::string>& files() const { return files_; }
   /// Exact or a guess: for the optimizer, never for correctness.
   double estimatedRows() const { return estimatedRows_; }
   /// Throws 0A000 when a column is asked for that cannot be read. REQUIRES: the table outlives the scan.
   virtual std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const = 0;

protected:
   std::vector<ExternalColumn> columns_;
   std::vector<std::string> files_;
   double estimatedRows_ = 0;
};
using ExternalTablePtr = std::shared_ptr<const ExternalTable>;

/// Rows with line numbers that arrive while a statement stores them (COPY FROM). The last column is the row's line.
class LineInput : public ExternalTable {
public:
   /// Keeps the error of a row that cannot be stored. Readers give no later rows, earlier ones go on: the session
   /// throws the error of the first bad line when all have ended. Thread-safe.
   virtual void refuse(uint64_t line, const SqlError& error) const = 0;
};

} // namespace ouzel::io
