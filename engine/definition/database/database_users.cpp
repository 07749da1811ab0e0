#include "engine/definition/database/database_users.hpp"

#include "catalog/object/membership.hpp"
#include "common/client/session_control.hpp"
#include "engine/core/privileges.hpp"

namespace ouzel::engine {

namespace {

struct OtherSession {
   int32_t processId;
   Oid role;
};

std::vector<OtherSession> otherSessions(SessionCore& core, Oid database) {
   std::vector<OtherSession> others;
   const MutexLock lock(core.database.activityMutex);
   for (const auto& [processId, session] : core.database.activity)
      if (session.databaseOid == database && processId != core.options.processId)
         others.push_back({processId, session.role});
   return others;
}

} // namespace

void requireUnused(SessionCore& core, Oid database, const std::string& message) {
   constexpr int64_t patienceMicros = 5'000'000, sliceMicros = 50'000; // clients take a moment to go
   size_t count = otherSessions(core, database).size();
   for (int64_t waited = 0; count > 0 && waited < patienceMicros; waited += sliceMicros) {
      core.sleep(sliceMicros);
      count = otherSessions(core, database).size();
   }
   if (count == 0) return core.transaction.editor().rebase(core.database.catalog->newest());
   throw SqlError(sqlstate::objectInUse, message)
       .detail(count == 1 ? "There is 1 other session using the database."
                          : "There are " + std::to_string(count) + " other sessions using the database.");
}

void endSessions(SessionCore& core, Oid database) {
   constexpr Oid signalBackend = 4200; // the predefined role pg_signal_backend
   const std::vector<OtherSession> others = otherSessions(core, database);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const Oid self = core.role();
   if (!catalog::isSuperuser(snapshot, self))
      for (const OtherSession& other : others) {
         if (catalog::isSuperuser(snapshot, other.role))
            throw SqlError(sqlstate::insufficientPrivilege, "must be a superuser to terminate superuser process");
         if (!catalog::inheritsFrom(snapshot, self, other.role) &&
             !catalog::inheritsFrom(snapshot, self, signalBackend))
            throw SqlError(sqlstate::insufficientPrivilege,
                           "must be a member of the role whose process is being terminated or member of "
                           "pg_signal_backend");
      }
   SessionControl* control = core.database.sessionControl;
   for (const OtherSession& other : others)
      if (control) control->terminate(other.processId);
}

void requireCreatesDatabases(SessionCore& core, const std::string& message) {
   const auto role = core.transaction.catalog().role(core.role());
   if (!role || !(role->isSuperuser || role->createsDatabases))
      throw SqlError(sqlstate::insufficientPrivilege, message);
}

void requireMayBecomeOwner(SessionCore& core, Oid owner) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (catalog::isSuperuser(snapshot, core.role()) || catalog::isMemberOf(snapshot, core.role(), owner)) return;
   throw SqlError(sqlstate::insufficientPrivilege, "must be member of role \"" + snapshot.role(owner)->name + "\"");
}

} // namespace ouzel::engine
