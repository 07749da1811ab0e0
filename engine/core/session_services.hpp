#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/value/value.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::engine {

/// What the lower folders of the engine ask of the session above them: to run SQL of their own, and what it keeps for
/// its client. Implemented by session/. Used by the session's thread.
class SessionServices {
public:
   virtual ~SessionServices() = default;

   /// Runs a query inside the session's transaction and returns its rows.
   virtual std::vector<std::vector<Value>> query(const std::string& sql) = 0;
   /// Runs an INSERT, UPDATE or DELETE inside the session's transaction, with all that follows from it.
   virtual void modify(const std::string& sql) = 0;
   /// Checks what statements have left to the end of the transaction.
   virtual void runDeferredChecks() = 0;
   /// Opens what read_csv and its like name. Throws 42501 and what opening throws.
   virtual io::ExternalTablePtr openExternalTable(std::string_view function, const io::ExternalRequest& request) = 0;
   /// Rows of pg_prepared_statements and pg_cursors.
   virtual std::vector<catalog::SystemState::PreparedStatement> preparedStatements() const = 0;
   virtual std::vector<catalog::SystemState::Cursor> cursors() const = 0;
};

} // namespace ouzel::engine
