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

/// The surroundings of functions: formats, clock, session, catalog, names. One per running statement, shared by its
/// workers. Read-only while the statement runs; calls of `session` are thread-safe.
struct FunctionContext {
   const SessionFormat* format = nullptr;
   int64_t transactionStart = 0; ///< now(): microseconds since 2000-01-01 UTC
   int64_t statementStart = 0;
   SessionFunctions* session = nullptr; ///< null: no session; functions that need one throw 0A000
   const catalog::Snapshot* catalog = nullptr;
   std::string user = "postgres", sessionUser = "postgres", database = "postgres";
   std::vector<std::string> searchPath{"public"};
   Oid temporarySchema = invalidOid; ///< the session's pg_temp_n; invalidOid: none
   int32_t backendPid = 0;
   bool isInRecovery = false; ///< the server only reads what another server writes

   /// Throws 0A000 if there is no session.
   SessionFunctions& requireSession(const char* feature) const {
      if (!session) throwNotSupported(feature);
      return *session;
   }
};

} // namespace ouzel::executor
