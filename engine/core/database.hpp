#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/store/open_store.hpp"

// The process-wide part of the engine: stored data, catalog, workers, memory, and who is connected.

namespace ouzel::engine {

struct DatabaseOptions {
   std::string dataDirectory;
   /// Empty: inside the data directory; of a bucket: there is no log that outlives the process, and every commit waits
   /// for the bucket, which the settings have to say (ouzel.commit).
   std::string walDirectory;
   io::StoreOptions store;          ///< a key holds for the log, too; the cache's ledger is the database's
   uint64_t checkpointWalBytes = 0; ///< a checkpoint starts when the log grows past this; 0: storage's default
   int64_t leaseMs = 10'000;        ///< of the writer; storage/manifest/writer_lease.hpp
   bool readOnly = false;           ///< show what the checkpoints of another server publish; needs no log
   bool takeOver = false;           ///< from a writer that may be alive, once its lease has expired
   std::function<void(const std::string&)> onFenced; ///< once, when another server has taken over; must not wait
   uint32_t threads = 0;                             ///< 0: one worker per core
   size_t memoryLimit = 0;                           ///< bytes; 0: 80 % of the machine's (or the container's) memory
   /// Gives freed memory back to the system. Set: the process is the database's own, and what it has resident is kept
   /// within memoryLimit and a small constant.
   void (*purgeMemory)() = nullptr;
   std::vector<std::string> spillDirectories;                 ///< none: one inside the data directory
   std::vector<std::pair<std::string, std::string>> settings; ///< defaults of session settings, from the configuration
};

/// Opened once per process; thread-safe. Sessions must end before it does.
class Database {
public:
   /// Creates the data directory with database and superuser `postgres` when it is empty. Throws SqlError (55000
   /// another server uses it, XX001 damaged, 58030 I/O).
   static std::unique_ptr<Database> open(const DatabaseOptions& options);
   /// Verifies every checksum of a database (its directories are what matters); reports each problem; returns how many
   /// there were.
   static uint64_t check(const DatabaseOptions& options, const std::function<void(const std::string&)>& report);
   ~Database();

   /// Checkpoint and close cleanly; sessions have ended.
   void close();
   /// SCRAM verifier of a role; empty: no password. Throws 28000 when there is no such role or it must not log in.
   std::string passwordVerifier(const std::string& role);
   /// Set at start when a password was given on the command line, before there are sessions. A database that is only
   /// read keeps it for itself.
   void setPasswordVerifier(const std::string& role, const std::string& verifier);

   struct Internals; ///< engine's own view of it: internals.hpp
   Internals& internals() { return *internals_; }

private:
   Database();
   std::unique_ptr<Internals> internals_;
};

} // namespace ouzel::engine
