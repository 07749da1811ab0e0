#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/store/open_store.hpp"
#include "storage/base/ids.hpp"

// What goes into a Database and comes out of it.

namespace ouzel::storage {

struct DatabaseOptions {
   std::string dataDirectory; ///< where the object store is (io::openObjectStore); created when missing
   std::string walDirectory;  ///< empty: "<dataDirectory>/wal"; not for a store over a network
   /// False: the log lies in a temporary directory and is lost with the process, which acknowledges a commit after
   /// waitForStore() only. Needs a database whose last writer did the same or was closed.
   bool keepsLog = true;
   uint64_t checkpointWalBytes = 1 << 30; ///< a checkpoint starts when the log grows past this
   io::StoreOptions store;                ///< a key holds for the log, too
   bool readOnly = false;                 ///< to look at a database that nobody serves, its log included
   bool follows = false;                  ///< to show what another process writes: see Database::follow
   int64_t leaseMs = 10'000;              ///< how long a writer that is not heard of keeps others out
   /// Wait for the lease of a writer that may be alive to expire, and open a database whose log is lost as of its last
   /// checkpoint.
   bool takeOver = false;
   /// Called once, by any thread, when another server has taken over; nothing commits from then on. Must not wait.
   std::function<void(const std::string&)> onFenced;
};

/// What the catalog gets back at start: its newest image, then the changes committed since, in order.
struct RecoveredCatalog {
   std::string image; ///< empty: a new database
   std::vector<std::string> changes;
   bool isNew = false;
};

/// Makes a newer state visible: is to call its second argument once, together with the catalog of the first (null: it
/// is the same as before).
using FollowCallback = std::function<void(const std::string* catalogImage, const std::function<void()>& publishRows)>;

/// How a transaction ends well.
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
