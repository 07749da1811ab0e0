#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/sql_type.hpp"
#include "executor/function/session_functions.hpp"

namespace ouzel {
struct SessionFormat; // common/type/session_format.hpp
class Reservation;
} // namespace ouzel
namespace ouzel::catalog {
class Snapshot;
} // namespace ouzel::catalog

namespace ouzel::executor {

/// What functions may ask of the session that runs them. One per running statement, shared by its workers: read-only
/// while the statement runs, except what is documented as thread-safe.
struct FunctionContext {
   const SessionFormat* format = nullptr;
   int64_t transactionStart = 0; ///< now(): microseconds since 2000-01-01 UTC
   int64_t statementStart = 0;
   SessionFunctions* session = nullptr; ///< null: nobody's; what asks a session is 0A000
   const catalog::Snapshot* catalog = nullptr;
   std::string user = "postgres", sessionUser = "postgres", database = "postgres";
   std::vector<std::string> searchPath{"public"};
   int32_t backendPid = 0;
   bool isInRecovery = false; ///< the server shows what another one writes

   /// Throws 0A000 unless there is a session.
   SessionFunctions& requireSession(const char* feature) const {
      if (!session) throwNotSupported(feature);
      return *session;
   }
};

} // namespace ouzel::executor
