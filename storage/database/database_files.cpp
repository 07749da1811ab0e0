#include "storage/database/database_files.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

DatabaseFiles::DatabaseFiles(const DatabaseOptions& options)
   : options_(options),
     walDirectory_(options.walDirectory.empty() ? options.dataDirectory + "/wal" : options.walDirectory) {
   if (!options.keepsLog && !options.follows) {
      temporaryLog_ = std::make_unique<TemporaryLog>();
      walDirectory_ = temporaryLog_->path();
   }
   if ((options.readOnly || options.follows) && !io::isRemoteStore(options.dataDirectory) &&
       !io::exists(options.dataDirectory))
      throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + options.dataDirectory + "\"");
   if (!options.follows) lockDirectory();
   store_ = io::openObjectStore(options.dataDirectory, options.store);
   if (options.readOnly || options.follows) return;
   claim();
   if (isLocked_) removeLeftovers();
}

void DatabaseFiles::lockDirectory() {
   const std::string& directory = io::isRemoteStore(options_.dataDirectory) ? walDirectory_ : options_.dataDirectory;
   io::makeDirectories(directory);
   lockFile_ = io::File(directory + "/ouzel.lock", io::File::Mode::Write);
   // The lock answers at once in most cases, but the lease decides: a process that is stopped keeps its lock.
   isLocked_ = lockFile_.tryLock();
   if (!isLocked_ && !options_.takeOver)
      throw SqlError(sqlstate::objectInUse, "data directory \"" + directory + "\" is in use")
          .hint("Another server runs on it. Stop that server, or name another directory.");
}

void DatabaseFiles::claim() {
   LeaseOptions options;
   options.durationMs = options_.leaseMs;
   options.takesOver = options_.takeOver;
   options.onFenced = options_.onFenced;
   const std::optional<Manifest> newest = Manifest::load(*store_);
   const uint64_t epochBefore = newest ? newest->epoch : 0;
   lease_ = std::make_unique<WriterLease>(*store_, std::move(options), epochBefore);
   CHECK(lease_->epoch() > epochBefore);
}

WriterLease& DatabaseFiles::writerLease() const {
   // A second check: the engine already refuses statements that write.
   if (!lease_) throw SqlError(sqlstate::readOnlySqlTransaction, "cannot write to a database opened read-only");
   return *lease_;
}

void DatabaseFiles::releaseLease() {
   try {
      if (lease_) lease_->release();
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, std::string("could not release the writer's lease: ") + error.what());
   }
}

void DatabaseFiles::removeLeftovers() {
   CHECK(lease_ != nullptr);
   if (lease_->mayPredecessorLive()) return;
   try {
      store_->removeLeftovers();
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, std::string("could not remove unfinished objects: ") + error.what());
   }
}

} // namespace ouzel::storage
