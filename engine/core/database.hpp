#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "io/store/open_store.hpp"

// The process-wide part of the engine: stored data, catalog, workers, memory, and who is connected.

namespace ouzel {
class SessionControl;
} // namespace ouzel

namespace ouzel::engine {

struct DatabaseOptions {
   std::string dataDirectory;
   /// Directory of the log. Empty: inside the data directory. Empty for a database in a bucket: no log outlives the
   /// process, every commit waits for the bucket, and the default of ouzel.commit must be object_store.
   std::string walDirectory;
   io::StoreOptions store;          ///< its key encrypts the log too; open() sets the cache's ledger
   uint64_t checkpointWalBytes = 0; ///< a checkpoint starts when the log grows past this; 0: storage's default
   int64_t leaseMs = 10'000;        ///< of the writer's lease; storage/manifest/writer_lease.hpp
   bool readOnly = false;           ///< show what the checkpoints of another server publish; needs no log
   bool takeOver = false;           ///< take over from a writer that may be alive, once its lease has expired
   std::function<void(const std::string&)> onFenced; ///< called once, when another server takes over; must not block
   uint32_t threads = 0;                             ///< 0: one worker per core
   size_t memoryLimit = 0;                           ///< bytes; 0: 80 % of the machine's (or the container's) memory
   /// Returns freed memory to the system. Null: resident memory is not watched. Set: the process holds only this
   /// database, and its resident memory is kept within memoryLimit and a small constant.
   void (*purgeMemory)() = nullptr;
   std::vector<std::string> spillTargets;                     ///< empty: one directory chosen by open()
   std::vector<std::pair<std::string, std::string>> settings; ///< defaults of session settings, from the configuration
};

/// One database, opened once per process. Thread-safe. Sessions end before the Database is destroyed.
class Database {
public:
   /// Creates the data directory with database and superuser `postgres` when it is empty. Throws SqlError (55000
   /// another server uses it, XX001 damaged, 58030 I/O).
   static std::unique_ptr<Database> open(const DatabaseOptions& options);
   /// The configuration was read again: open sessions adopt these values when their transaction has ended. Settings
   /// that need a restart keep their values. `prepare` gets the values that will hold; when it throws, nothing changes.
   /// Afterwards the log tells what has changed. Thread-safe.
   void setDefaults(const std::vector<std::pair<std::string, std::string>>& settings,
                    const std::function<void(const std::vector<std::pair<std::string, std::string>>&)>& prepare);
   /// Throws 42704 or 22023 if DatabaseOptions::settings may not have this entry.
   static void checkSetting(const std::string& name, const std::string& value);
   /// Verifies every checksum of a database and that its catalog is sound (of `options`, only the directories and the
   /// store matter); reports each problem; returns how many there were.
   static uint64_t check(const DatabaseOptions& options, const std::function<void(const std::string&)>& report);
   ~Database();

   /// Log sequences without gaps, checkpoint and close. REQUIRES: sessions have ended.
   void close();
   /// SCRAM verifier of a role; empty: the role has no password. Throws 28000 when there is no such role.
   std::string passwordVerifier(const std::string& role);
   /// Whether the time of VALID UNTIL is over.
   bool isPasswordExpired(const std::string& role) const;
   /// False also when there is no such role.
   bool isSuperuser(const std::string& role) const;
   /// Whether `user` is `role` or its member, which superusers are not thereby. False also when one does not exist.
   bool isMember(const std::string& user, const std::string& role) const;
   /// Set a role's verifier at start, before there are sessions: for a password from the command line. A read-only
   /// server keeps the verifier in memory and does not store it.
   void setPasswordVerifier(const std::string& role, const std::string& verifier);

   MemoryLedger& ledger();
   /// What pg_cancel_backend() and pg_terminate_backend() call; null: nothing any more.
   void setSessionControl(SessionControl* control);

   struct Internals; ///< the engine's view of the database: internals.hpp
   Internals& internals() { return *internals_; }

private:
   Database();
   std::unique_ptr<Internals> internals_;
};

} // namespace ouzel::engine
