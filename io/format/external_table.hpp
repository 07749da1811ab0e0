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
#include "io/store/object_access.hpp"

// Files of foreign formats as tables: the interface that binding and scans use. csv/, json/ and parquet/ implement it;
// sql/bind keeps an ExternalTable in the plan, and executor/operator/scan/external_scan.cpp runs its scans.
// This interface knows no SQL names, privileges or plans.

namespace ouzel {
class SqlError;
}

namespace ouzel::io {

struct ExternalColumn {
   std::string name;
   SqlType type;
   /// Not empty: the reason why this column cannot be read. The column still has a type, and only reading it is an
   /// error.
   std::string problem{};
};

/// A named argument of read_csv, read_json or read_parquet, as text. Lists have several values.
struct ExternalOption {
   std::string name;
   std::vector<std::string> values;
};

/// Arguments of such a function: patterns of paths, options, and columns where the query names them itself.
struct ExternalRequest {
   std::vector<std::string> patterns;
   std::vector<ExternalOption> options;
   std::vector<std::string> names; ///< of the columns; empty: as the file says
   std::vector<SqlType> types;     ///< of the columns; empty: as the file says
   SessionFormat format{};         ///< for parsing dates and times
   ObjectAccessPtr access{};       ///< keys to objects; null: the server's own
};

/// A condition on rows that the query needs: `lower` <= column <= `upper`, both inclusive; a bound that is NULL is
/// open. Bounds are in storedRepresentation(type of the column). A scan may also return rows that fail the condition.
struct ExternalRange {
   uint32_t column = 0; ///< of the table
   Value lower, upper;
};

/// Names a table of another server and its columns, for those who write queries to it.
struct RemoteRelation {
   std::string schema, name;
   std::vector<std::string> columns; ///< in the order of ExternalTable::columns()
};

struct ExternalScanSpec {
   std::vector<uint32_t> columns; ///< of the table, in the order of the batches
   std::vector<ExternalRange> ranges;
   std::string query{};           ///< for a table of another server: what it is asked, with these columns
   Reservation* memory = nullptr; ///< large memory is charged here; outlives the scan
   bool keepsOrder = false;       ///< a single reader returns all rows in the files' order
   std::function<void()> wake;    ///< called by any thread when readers that wait can go on
};

/// Returns a scan's rows to one worker. Used by one thread.
class ExternalReader {
public:
   virtual ~ExternalReader() = default;
   /// Sets `out` to the next rows, at most `rowsMax` <= batchRowsMax; false when no rows are left. Vectors have the
   /// storedRepresentation of their column's type and are valid until the next call.
   virtual bool next(Batch& out, uint32_t rowsMax) = 0;
   /// After next() gave no rows: more rows will come, and ExternalScanSpec::wake says when.
   virtual bool isWaiting() const { return false; }
};

/// A scan that workers share. Thread-safe. Errors name the file.
class ExternalScan {
public:
   virtual ~ExternalScan() = default;
   /// How many readers can work in parallel; 0: there are no rows.
   virtual uint32_t readersMax() const = 0;
   virtual std::unique_ptr<ExternalReader> makeReader() = 0;
   /// Facts for EXPLAIN ANALYZE.
   virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

/// Files of one format and one schema, listed when the table was opened. Immutable, thread-safe; shared by the plans
/// that read it.
class ExternalTable {
public:
   virtual ~ExternalTable() = default;
   virtual std::string_view formatName() const = 0; ///< "CSV", "JSON", "Parquet", "Foreign"
   /// Null: the rows are not those of another server.
   virtual const RemoteRelation* remote() const { return nullptr; }
   const std::vector<ExternalColumn>& columns() const { return columns_; }
   const std::vector<std::string>& files() const { return files_; }
   const ObjectAccessPtr& access() const { return access_; }
   /// Exact or estimated: only the optimizer may rely on it.
   double estimatedRows() const { return estimatedRows_; }
   /// Throws 0A000 when a column is asked for that cannot be read. REQUIRES: the table outlives the scan.
   virtual std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const = 0;

protected:
   std::vector<ExternalColumn> columns_;
   std::vector<std::string> files_;
   ObjectAccessPtr access_; ///< as in ExternalRequest
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
