#pragma once
#include <memory>
#include <string>

#include "io/file/file.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/database/database_types.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/wal/temporary_log.hpp"

namespace ouzel::storage {

/// Where a database lies, and the right to write there: the object store, the directory of the log, the lock on it, the
/// lease. Set once; what it hands out is thread-safe. The destructor releases no lease: that is what a crash leaves.
class DatabaseFiles {
public:
   /// Open the store; to write, lock the directory and claim the lease. Throws 55006 when another process has the
   /// database open, 58P01 when there is none to read.
   explicit DatabaseFiles(const DatabaseOptions& options);

   const DatabaseOptions& options() const { return options_; }
   const std::string& walDirectory() const { return walDirectory_; }
   io::ObjectStore& store() const { return *store_; }
   WriterLease* lease() const { return lease_.get(); } ///< null: opened read-only
   /// Throws 25006 when opened read-only.
   WriterLease& writerLease() const;

   /// Let the next writer claim the database at once. A lease that cannot be released expires.
   void releaseLease();
   /// Remove what others, or lost answers, have left unfinished in the store, unless a predecessor may still be
   /// putting. What cannot be removed stays until the next start. REQUIRES: the lease is held and this process puts
   /// nothing.
   void removeLeftovers();

private:
   void lockDirectory();
   void claim();

   const DatabaseOptions options_;
   std::unique_ptr<TemporaryLog> temporaryLog_; ///< null: the log is kept
   std::string walDirectory_;
   io::File lockFile_;
   bool isLocked_ = false; ///< else a process that may be gone has the lock, and the lease decides
   std::unique_ptr<io::ObjectStore> store_;
   std::unique_ptr<WriterLease> lease_;
};

} // namespace ouzel::storage
