#include "engine/core/large_objects.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_core.hpp"
#include "engine/large_object/pages.hpp"

namespace ouzel::engine {

namespace {

using catalog::LargeObjectPtr;

constexpr int32_t writeMode = 0x20000, readMode = 0x40000; ///< INV_WRITE and INV_READ of libpq's lo_open()

/// The largest bytea of PostgreSQL.
constexpr int64_t byteaBytesMax = (int64_t{1} << 30) - 5;

catalog::Snapshot newestCatalog(SessionCore& core) {
   return core.database.catalog->newest().inDatabase(core.options.databaseOid);
}

/// Makes the table of pages, in a transaction of its own: sessions that make their first objects at once do not wait
/// for one another until one of them commits, and a rollback leaves an empty table.
catalog::StorageId makeTable(SessionCore& core) {
   const Oid database = core.options.databaseOid;
   const MutexLock lock(core.database.largeObjectsMutex);
   if (const auto made = newestCatalog(core).largeObjectPages(); made != catalog::noStorage) return made;
   storage::Database& storage = *core.database.storage;
   const auto carrier = storage.begin();
   const uint32_t place = database == catalog::postgresDatabase ? 0 : database;
   const auto table = storage.createTable(*carrier, catalog::largeObjectColumns(), place);
   catalog::CatalogEditor editor(newestCatalog(core), [&] { return storage.allocateOid(); });
   editor.setLargeObjectPages(database, table->id());
   auto change = core.database.catalog->prepare(editor);
   storage::CommitRequest request;
   request.catalogChange = change.record();
   request.publish = [&change](storage::Timestamp) { change.publish(); };
   storage.commit(*carrier, std::move(request));
   return table->id();
}

catalog::StorageId storageOf(SessionCore& core) {
   const auto known = core.transaction.catalog().largeObjectPages();
   return known != catalog::noStorage ? known : newestCatalog(core).largeObjectPages(); // made by another transaction
}

LargeObjectPtr requireObject(const catalog::Snapshot& snapshot, Oid object) {
   LargeObjectPtr found = snapshot.largeObject(object);
   if (!found) throwNoLargeObject(object);
   return found;
}

class CoreLargeObjects final : public executor::LargeObjectFunctions {
public:
   explicit CoreLargeObjects(SessionCore& core) : core_(core) {}

   Oid create(Oid wanted) override {
      beginWriting("lo_create()");
      if (wanted != invalidOid) lockLargeObject(core_, wanted);
      const Oid made = core_.transaction.editor().createLargeObject(wanted, core_.role());
      if (wanted == invalidOid) lockLargeObject(core_, made);
      return made;
   }

   void unlink(Oid object) override {
      beginWriting("lo_unlink()");
      requireLargeObjectOwner(core_, *requireObject(core_.transaction.catalog(), object));
      lockLargeObject(core_, object);
      descriptors().closeAllOf(object);
      dropLargeObject(core_, *requireObject(core_.transaction.catalog(), object));
   }

   int32_t open(Oid object, int32_t mode, const catalog::Snapshot& statement) override {
      if ((mode & (writeMode | readMode)) == 0)
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid flags for opening a large object: " + std::to_string(mode));
      return descriptors().open(opened(object, (mode & writeMode) != 0, statement));
   }
   void close(int32_t descriptor) override { descriptors().close(descriptor); }

   std::string read(int32_t descriptor, int32_t count) override {
      LargeObjectDescriptor& open = descriptors().require(descriptor);
      std::string bytes = readFrom(open, open.position, count);
      open.position += static_cast<int64_t>(bytes.size());
      return bytes;
   }
   int32_t write(int32_t descriptor, std::string_view bytes) override {
      LargeObjectDescriptor& open = requireWriting(descriptor);
      writeTo(open.object, open.position, bytes);
      open.position += static_cast<int64_t>(bytes.size());
      return static_cast<int32_t>(bytes.size());
   }
   int64_t seek(int32_t descriptor, int64_t offset, int32_t whence) override {
      LargeObjectDescriptor& open = descriptors().require(descriptor);
      int64_t target = 0;
      switch (whence) {
      case 0: break;
      case 1: target = open.position; break;
      case 2: target = sizeOf(open); break;
      default: throw SqlError(sqlstate::invalidParameterValue, "invalid whence setting: " + std::to_string(whence));
      }
      target = static_cast<int64_t>(static_cast<uint64_t>(target) + static_cast<uint64_t>(offset)); // may wrap
      return open.position = requirePosition(target, "seek");
   }
   int64_t tell(int32_t descriptor) override { return descriptors().require(descriptor).position; }
   void truncate(int32_t descriptor, int64_t size) override {
      const LargeObjectDescriptor& open = requireWriting(descriptor);
      requirePosition(size, "truncation");
      startWriting(open.object).truncate(core_.transaction.storage(), size);
   }

   std::string get(Oid object, int64_t offset, std::optional<int32_t> count,
                   const catalog::Snapshot& statement) override {
      const LargeObjectDescriptor open = opened(object, false, statement);
      const int64_t size = sizeOf(open);
      const int64_t rest = size > offset ? size - std::max<int64_t>(offset, 0) : 0;
      const int64_t wanted = count ? std::min<int64_t>(*count, rest) : rest;
      if (wanted > byteaBytesMax)
         throw SqlError(sqlstate::programLimitExceeded, "large object read request is too large");
      return readFrom(open, requirePosition(offset, "seek"), wanted);
   }
   void put(Oid object, int64_t offset, std::string_view bytes) override {
      opened(object, true, core_.transaction.catalog());
      writeTo(object, requirePosition(offset, "seek"), bytes);
   }

   Oid importFile(const std::string& path, Oid wanted) override {
      const File file(std::fopen(path.c_str(), "rb"), &std::fclose);
      if (!file) throwFileError("could not open server file \"" + path + "\"");
      const Oid object = create(wanted);
      std::string bytes(chunkBytes, '\0');
      for (int64_t offset = 0;;) {
         const size_t count = std::fread(bytes.data(), 1, bytes.size(), file.get());
         if (count == 0) break;
         writeTo(object, offset, std::string_view(bytes).substr(0, count));
         offset += static_cast<int64_t>(count);
      }
      if (std::ferror(file.get())) throwFileError("could not read server file \"" + path + "\"");
      return object;
   }
   void exportFile(Oid object, const std::string& path, const catalog::Snapshot& statement) override {
      const LargeObjectDescriptor open = opened(object, false, statement);
      // As in PostgreSQL others may read the file: who exports it wants to use it.
      const File file(std::fopen(path.c_str(), "wb"), &std::fclose);
      if (!file) throwFileError("could not create server file \"" + path + "\"");
      if (::fchmod(::fileno(file.get()), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) != 0)
         throwFileError("could not create server file \"" + path + "\"");
      for (int64_t offset = 0;;) {
         const std::string bytes = readFrom(open, offset, chunkBytes);
         if (bytes.empty()) break;
         if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size())
            throwFileError("could not write server file \"" + path + "\"");
         offset += static_cast<int64_t>(bytes.size());
      }
      if (std::fflush(file.get()) != 0) throwFileError("could not write server file \"" + path + "\"");
   }

private:
   using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
   static constexpr int64_t chunkBytes = 4 << 20; ///< of files, at once

   LargeObjectDescriptors& descriptors() { return core_.transaction.largeObjects; }

   /// A server that only reads has nowhere to put them. READ ONLY transactions may write them, as in PostgreSQL 15.
   void beginWriting(const char* function) {
      if (core_.database.following)
         throw SqlError(sqlstate::readOnlySqlTransaction,
                        std::string("cannot execute ") + function + " in a read-only transaction");
      core_.transaction.useId();
   }

   LargeObjectDescriptor opened(Oid object, bool writes, const catalog::Snapshot& statement) {
      const LargeObjectPtr found = requireObject(writes ? core_.transaction.catalog() : statement, object);
      const uint32_t wanted = catalog::privilege::select | (writes ? catalog::privilege::update : 0);
      if (!core_.settings.boolean("lo_compat_privileges") &&
          !catalog::mayUse(core_.transaction.catalog(), core_.role(), *found, wanted))
         throw SqlError(sqlstate::insufficientPrivilege,
                        "permission denied for large object " + std::to_string(object));
      if (writes) beginWriting("lo_open(INV_WRITE)");
      LargeObjectDescriptor descriptor;
      descriptor.object = object;
      descriptor.writes = writes;
      descriptor.snapshot = core_.transaction.snapshot();
      descriptor.level = core_.transaction.savepointCount();
      return descriptor;
   }
   LargeObjectDescriptor& requireWriting(int32_t number) {
      LargeObjectDescriptor& open = descriptors().require(number);
      if (!open.writes)
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "large object descriptor " + std::to_string(number) + " was not opened for writing");
      return open;
   }
   static int64_t requirePosition(int64_t position, const char* kind) {
      if (position < 0 || position > largeObjectBytesMax)
         throw SqlError(sqlstate::invalidParameterValue,
                        std::string("invalid large object ") + kind + " target: " + std::to_string(position));
      return position;
   }

   storage::Snapshot snapshotOf(const LargeObjectDescriptor& open) {
      return open.writes ? core_.transaction.storage().snapshot() : open.snapshot;
   }
   std::string readFrom(const LargeObjectDescriptor& open, int64_t offset, int64_t count) {
      const auto table = largeObjectTable(core_);
      if (!table || count <= 0) return {};
      return LargeObjectPages(*table, snapshotOf(open), open.object).read(offset, count);
   }
   int64_t sizeOf(const LargeObjectDescriptor& open) {
      const auto table = largeObjectTable(core_);
      return table ? LargeObjectPages(*table, snapshotOf(open), open.object).size() : 0;
   }
   /// From here on no other transaction writes the object.
   LargeObjectPages startWriting(Oid object) {
      lockLargeObject(core_, object);
      requireObject(core_.transaction.catalog(), object); // another transaction may have dropped it
      if (core_.transaction.editor().base().largeObject(object) && !newestCatalog(core_).largeObject(object))
         throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent delete");
      const auto storage = storageOf(core_);
      table_ = core_.database.storage->find(storage != catalog::noStorage ? storage : makeTable(core_));
      if (!table_) throwInternal("the pages of large objects are missing");
      return LargeObjectPages(*table_, core_.transaction.storage().snapshot(), object);
   }
   void writeTo(Oid object, int64_t offset, std::string_view bytes) {
      if (offset > largeObjectBytesMax - static_cast<int64_t>(bytes.size()))
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid large object write request size: " + std::to_string(bytes.size()));
      if (!bytes.empty()) startWriting(object).write(core_.transaction.storage(), offset, bytes);
   }

   [[noreturn]] static void throwFileError(const std::string& what) {
      const int error = errno;
      const SqlState state = error == ENOENT || error == ENOTDIR                   ? sqlstate::undefinedFile
                             : error == EACCES || error == EPERM || error == EROFS ? sqlstate::insufficientPrivilege
                             : error == ENOSPC                                     ? sqlstate::diskFull
                             : error == EISDIR                                     ? sqlstate::wrongObjectType
                                                                                   : sqlstate::ioError;
      throw SqlError(state, what + ": " + std::strerror(error));
   }

   SessionCore& core_;
   std::shared_ptr<storage::Table> table_; ///< that was written last
};

} // namespace

std::unique_ptr<executor::LargeObjectFunctions> makeLargeObjectFunctions(SessionCore& core) {
   return std::make_unique<CoreLargeObjects>(core);
}

std::shared_ptr<storage::Table> largeObjectTable(SessionCore& core) {
   const auto id = storageOf(core);
   return id == catalog::noStorage ? nullptr : core.database.storage->find(id);
}

void lockLargeObject(SessionCore& core, Oid object) {
   TransactionContext& transaction = core.transaction;
   transaction.useId();
   if (transaction.locks().acquire(transaction.lockOwner(), LockTag::largeObject(core.options.databaseOid, object),
                                   LockMode::Exclusive, transaction.lockWait()))
      transaction.seeNewestObjects();
}

void dropLargeObject(SessionCore& core, const catalog::LargeObject& object) {
   if (const auto table = largeObjectTable(core))
      LargeObjectPages(*table, core.transaction.storage().snapshot(), object.oid).remove(core.transaction.storage());
   core.transaction.editor().dropLargeObject(object);
}

void throwNoLargeObject(Oid object) {
   throw SqlError(sqlstate::undefinedObject, "large object " + std::to_string(object) + " does not exist");
}

void requireLargeObjectOwner(SessionCore& core, const catalog::LargeObject& object) {
   if (core.settings.boolean("lo_compat_privileges") || actsFor(core, object.owner)) return;
   throw SqlError(sqlstate::insufficientPrivilege, "must be owner of large object " + std::to_string(object.oid));
}

} // namespace ouzel::engine
