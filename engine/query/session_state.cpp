#include <map>

#include "common/sync/mutex.hpp"
#include "engine/query/system_state.hpp"

// Sessions, what they wait for, and their locks: pg_stat_activity and pg_locks.

namespace ouzel::engine {

namespace {

std::optional<std::string> unlessEmpty(std::string_view text) {
   return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

/// As pg_locks.locktype, and as the wait event of who waits for it.
const char* lockTypeName(LockKind kind) {
   switch (kind) {
   case LockKind::Relation: return "relation";
   case LockKind::Transaction: return "transactionid";
   case LockKind::Row: return "tuple";
   case LockKind::Key: return "key";
   case LockKind::Advisory: return "advisory";
   case LockKind::Database:
   case LockKind::LargeObject: return "object";
   }
   return "object";
}

} // namespace

std::vector<catalog::SystemState::Activity> SessionSystemState::activity() const {
   std::map<int32_t, LockKind> waits; // by process: what it waits for
   for (const LockManager::View& view : database_.locks.list())
      if (!view.isGranted) waits[view.processId] = view.tag.kind;
   const MutexLock lock(database_.activityMutex);
   const auto time = [](int64_t micros) { return micros ? std::optional<int64_t>(micros) : std::nullopt; };
   std::vector<Activity> out;
   for (const auto& [pid, session] : database_.activity) {
      Activity row;
      row.database = session.databaseOid;
      if (const auto role = catalog_.findRole(session.user)) row.role = role->oid;
      row.pid = pid;
      row.applicationName = session.applicationName;
      row.clientAddress = unlessEmpty(session.endpoints.clientAddress);
      row.clientPort = session.endpoints.clientPort;
      row.backendStart = session.backendStart;
      row.transactionStart = time(session.transactionStart);
      row.queryStart = time(session.queryStart);
      row.stateChange = time(session.stateChange);
      row.state = session.state;
      if (const auto wait = waits.find(pid); wait != waits.end()) {
         row.waitEventType = "Lock";
         row.waitEvent = lockTypeName(wait->second);
      } else if (session.state.starts_with("idle")) {
         row.waitEventType = "Client";
         row.waitEvent = "ClientRead";
      }
      row.query = session.query;
      out.push_back(std::move(row));
   }
   return out;
}

std::vector<catalog::SystemState::Lock> SessionSystemState::locks() const {
   std::map<uint64_t, Oid> relationOf; // by storage
   for (const auto& database : catalog_.databases())
      for (const auto& relation : catalog_.relationsOfDatabase(database->oid))
         if (relation->storage != catalog::noStorage)
            relationOf[static_cast<uint64_t>(relation->storage)] = relation->oid;
   std::vector<Lock> out;
   std::map<int32_t, std::string> owners; // of sessions with locks
   for (const LockManager::View& view : database_.locks.list()) {
      Lock row;
      if (view.processId != 0) row.pid = view.processId;
      row.mode = lockModeName(view.mode);
      row.isGranted = view.isGranted;
      row.owner = view.processId == 0 ? "-1/" + std::to_string(view.transaction)
                                      : std::to_string(view.processId) + "/" + std::to_string(view.transaction);
      row.database = view.database;
      if (view.processId != 0) owners[view.processId] = row.owner;
      row.type = lockTypeName(view.tag.kind);
      switch (view.tag.kind) {
      case LockKind::Relation: row.relation = static_cast<Oid>(view.tag.object); break;
      case LockKind::Transaction:
         row.database = invalidOid;
         row.transactionId = static_cast<uint32_t>(view.tag.object);
         break;
      case LockKind::Row:
         if (const auto found = relationOf.find(view.tag.object); found != relationOf.end())
            row.relation = found->second;
         break;
      case LockKind::Key:
         row.relation = static_cast<Oid>(view.tag.object);
         row.classId = static_cast<Oid>(view.tag.detail >> 32);
         row.objectId = static_cast<Oid>(view.tag.detail);
         break;
      case LockKind::Advisory:
         row.classId = static_cast<Oid>(view.tag.detail >> 32);
         row.objectId = static_cast<Oid>(view.tag.detail);
         row.objectSubId = static_cast<int16_t>(view.tag.object & 3);
         break;
      case LockKind::Database:
         row.database = invalidOid;
         row.classId = Oid{catalog::class_oid::pgDatabase};
         row.objectId = static_cast<Oid>(view.tag.object);
         row.objectSubId = int16_t{0};
         break;
      case LockKind::LargeObject:
         row.classId = Oid{catalog::class_oid::pgLargeObject};
         row.objectId = static_cast<Oid>(view.tag.detail);
         row.objectSubId = int16_t{0};
         break;
      }
      out.push_back(std::move(row));
   }
   addOwnLocks(owners, out);
   return out;
}

/// Each transaction has a lock on itself.
void SessionSystemState::addOwnLocks(const std::map<int32_t, std::string>& owners, std::vector<Lock>& locks) const {
   const MutexLock lock(database_.activityMutex);
   for (const auto& [pid, session] : database_.activity) {
      if (session.transactionStart == 0) continue;
      Lock row;
      row.type = "virtualxid";
      row.isOwn = true;
      row.pid = pid;
      const auto known = owners.find(pid);
      row.owner = known != owners.end() ? known->second : std::to_string(pid) + "/0";
      row.mode = "ExclusiveLock";
      locks.push_back(std::move(row));
   }
}

} // namespace ouzel::engine
