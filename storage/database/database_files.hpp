#pragma once
#include <memory>
#include <string>

#include "io/file/file.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/database/database_types.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/wal/temporary_log.hpp"

namespace ouzel::storage {

/// The files of a database, and the right to write to them: the object store, the directory of the log, the lock on it,
/// the lease. Set by the constructor; the store and the lease are thread-safe. The destructor does not release the
/// lease, as after a crash.
class DatabaseFiles {
public:
   /// Open the store; when opened to write, lock the directory and claim the lease. Throws 55006 when another process
   /// has the database open, 58P01 when there is no database to read.
   explicit DatabaseFiles(const DatabaseOptions& options);

   const DatabaseOptions& options() const { return options_; }
   const std::string& walDirectory() const { return walDirectory_; }
   io::ObjectStore& store() const { return *store_; }
   WriterLease* lease() const { return lease_.get(); } ///< null: opened read-only
   /// Throws 25006 when opened read-only.
   WriterLease& writerLease() const;

   /// Let the next writer claim the database at once. A lease that could not be released expires.
   void releaseLease();
   /// Remove unfinished uploads from the store, unless the holder of the lease before may still be writing. Logs a
   /// warning when that fails; the next start tries again. REQUIRES: the lease is held and this process puts no object.
   void removeLeftovers();

private:
   void lockDirectory();
   void claim();

   const DatabaseOptions options_;
   std::unique_ptr<TemporaryLog> temporaryLog_; ///< null: the log is kept
   std::string walDirectory_;
   io::File lockFile_;
   bool isLocked_ = false; ///< false: a process that may be stopped has the lock, and the lease decides
   std::unique_ptr<io::ObjectStore> store_;
   std::unique_ptr<WriterLease> lease_;
};

} // namespace ouzel::storage
