#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/store/open_store.hpp"
#include "storage/base/ids.hpp"

// Arguments and results of Database: options, commit requests, the recovered catalog.

namespace ouzel::storage {

struct DatabaseOptions {
   std::string dataDirectory; ///< where the object store is (io::openObjectStore); created when missing
   std::string walDirectory;  ///< empty: "<dataDirectory>/wal"; not for a store over a network
   /// False: the log lies in a temporary directory and is lost with the process; commits are acknowledged after
   /// waitForStore(). REQUIRES: the last writer did the same, or closed the database.
   bool keepsLog = true;
   uint64_t checkpointWalBytes = 1 << 30; ///< a checkpoint starts when the log grows past this
   io::StoreOptions store;                ///< its key encrypts the log, too
   bool readOnly = false;                 ///< to read a database that no process writes to, its log included
   bool follows = false;                  ///< to show the checkpoints of another process: see Database::follow
   int64_t leaseMs = 10'000;              ///< how long the lease of a writer that does not renew it keeps others out
   /// Wait for the lease of a writer that may be alive to expire. Open a database whose log is lost as of its last
   /// checkpoint.
   bool takeOver = false;
   /// How long blocks that a checkpoint has replaced stay in the store, for servers that only read.
   int64_t replacedBlocksNanos = 0;
   /// Called once, by any thread, when another server has taken over; nothing commits from then on. Must not wait.
   std::function<void(const std::string&)> onFenced;
};

/// The catalog's bytes at a start: its newest image, then the changes committed since, in order.
struct RecoveredCatalog {
   std::string image; ///< empty: a new database
   std::vector<std::string> changes;
   bool isNew = false;
};

/// Makes a newer state visible. Must call `publishRows` once, together with publishing the catalog of `catalogImage`
/// (null: the catalog has not changed).
using FollowCallback = std::function<void(const std::string* catalogImage, const std::function<void()>& publishRows)>;

/// Arguments of a commit.
struct CommitRequest {
   /// Opaque to storage: replayed to the catalog after a crash until an image contains it.
   std::string catalogChange;
   /// Called at the commit point, in commit order, when the commit is durable and before any snapshot can see it.
   /// Must not throw or wait.
   std::function<void(Timestamp)> publish;
   /// Wait for the log to reach the disk (synchronous_commit).
   bool synchronous = true;
};

} // namespace ouzel::storage
