#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/value/value.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::engine {

/// Services of session/ for the lower folders of the engine: running SQL of the server's own, and the session's
/// prepared statements and cursors. Implemented by SessionImpl. Used by the session's thread.
class SessionServices {
public:
   virtual ~SessionServices() = default;

   /// Runs a query inside the session's transaction and returns its rows.
   virtual std::vector<std::vector<Value>> query(const std::string& sql) = 0;
   /// Runs an INSERT, UPDATE or DELETE inside the session's transaction, with its constraints and referential actions.
   virtual void modify(const std::string& sql) = 0;
   /// Runs the constraint checks that were deferred to the end of the transaction.
   virtual void runDeferredChecks() = 0;
   /// Empties and drops the temporary tables whose ON COMMIT says so.
   virtual void endTemporaryRows() = 0;
   /// Opens the files that a call of read_csv, read_json or read_parquet names. Throws 42501 and the errors of opening.
   virtual io::ExternalTablePtr openExternalTable(std::string_view function, const io::ExternalRequest& request) = 0;
   /// Rows of pg_prepared_statements and pg_cursors.
   virtual std::vector<catalog::SystemState::PreparedStatement> preparedStatements() const = 0;
   virtual std::vector<catalog::SystemState::Cursor> cursors() const = 0;
   /// Whether an open cursor or portal reads or writes the relation.
   virtual bool isReading(Oid relation) const = 0;
};

} // namespace ouzel::engine
