#include "catalog/object/codec.hpp"
#include "common/error/check.hpp"
#include "engine/command/command.hpp"
#include "engine/core/prepared_transactions.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_services.hpp"
#include "engine/remote/remote_servers.hpp"
#include "sql/parse/node_access.hpp"

// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED: two-phase commit.

namespace ouzel::engine {

namespace {

constexpr size_t nameSize = 200; ///< with the zero byte that PostgreSQL ends it with

/// Undoes a claim, unless the transaction is finished.
class Claim {
public:
   Claim(PreparedTransactions& all, const std::string& name) : entry(all.claim(name)), all_(all), name_(name) {}
   ~Claim() {
      if (!isFinished) all_.keep(name_, std::move(entry));
   }
   Claim(const Claim&) = delete;
   Claim& operator=(const Claim&) = delete;

   /// Makes the transaction again. Throws 55P03 and XX001.
   void again(const catalog::PreparedTransaction& prepared) {
      PreparedTransactions::Entry made = all_.made(prepared, entry.locks.get());
      entry = std::move(made);
   }

   PreparedTransactions::Entry entry;
   bool isFinished = false;

private:
   PreparedTransactions& all_;
   const std::string name_;
};

catalog::PreparedTransactionPtr requirePrepared(SessionCore& core, const std::string& name) {
   const catalog::Snapshot newest = core.database.catalog->newest();
   auto prepared = newest.findPrepared(name);
   if (!prepared)
      throw SqlError(sqlstate::undefinedObject, "prepared transaction with identifier \"" + name + "\" does not exist");
   if (!actsFor(core, prepared->owner))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to finish prepared transaction")
          .hint("Must be superuser or the user that prepared the transaction.");
   if (prepared->database != core.options.databaseOid)
      throw SqlError(sqlstate::featureNotSupported, "prepared transaction belongs to another database")
          .hint("Connect to the database where the transaction was prepared to finish it.");
   return prepared;
}

} // namespace

std::string prepareTransaction(CommandContext& context, const ::TransactionStmt& statement) {
   SessionCore& core = context.core;
   TransactionContext& transaction = core.transaction;
   const std::string name = statement.gid;
   DCHECK(transaction.inBlock());
   try {
      if (name.size() >= nameSize)
         throw SqlError(sqlstate::invalidParameterValue, "transaction identifier \"" + name + "\" is too long");
      requireWritable(core, "PREPARE TRANSACTION");
      if (core.services.remoteServers().isUsed()) // what it has seen there ends with the session
         throw SqlError(sqlstate::featureNotSupported,
                        "cannot PREPARE a transaction that has operated on postgres_fdw foreign tables");
      catalog::PreparedTransaction prepared;
      prepared.name = name;
      prepared.owner = core.role();
      prepared.database = core.options.databaseOid;
      transaction.prepare(std::move(prepared));
   } catch (...) {
      transaction.rollback(); // as in PostgreSQL, the block is over
      throw;
   }
   return "PREPARE TRANSACTION";
}

std::string finishPrepared(CommandContext& context, const ::TransactionStmt& statement) {
   SessionCore& core = context.core;
   const bool commits = statement.kind == TRANS_STMT_COMMIT_PREPARED;
   const char* tag = commits ? "COMMIT PREPARED" : "ROLLBACK PREPARED";
   refuseInBlock(context, tag);
   requireWritable(core, tag);
   requirePrepared(core, statement.gid);
   Database::Internals& database = core.database;
   Claim claim(*database.prepared, statement.gid);
   // Another session may have finished it meanwhile, and prepared another one of this name. From now on nobody can.
   const auto prepared = requirePrepared(core, statement.gid);
   if (commits && !claim.entry.storage) claim.again(*prepared);
   // The object goes with the same commit that shows the rows.
   uint64_t lsn = 0;
   try {
      catalog::CatalogEditor editor(database.catalog->newest().inDatabase(prepared->database),
                                    [&] { return database.storage->allocateOid(); });
      editor.dropPrepared(*prepared);
      if (commits && !prepared->objects.empty()) editor.repeat(catalog::decodeChanges(prepared->objects));
      auto change = database.catalog->prepare(editor);
      storage::CommitRequest request;
      request.catalogChange = change.record();
      request.publish = [&change](storage::Timestamp) { change.publish(); };
      const auto remover = commits ? nullptr : database.storage->begin();
      storage::Transaction& written = commits ? *claim.entry.storage : *remover;
      database.storage->commit(written, std::move(request));
      lsn = written.commitLsn();
   } catch (...) {
      if (claim.entry.storage && !claim.entry.storage->isOpen()) claim.again(*prepared);
      throw;
   }
   if (!commits && claim.entry.storage) database.storage->abort(*claim.entry.storage);
   claim.isFinished = true;
   if (claim.entry.locks) {
      claim.entry.locks->transaction.store(0);
      database.locks.releaseAll(*claim.entry.locks);
   }
   database.prepared->forget(prepared->name);
   core.transaction.waitUntilStored(lsn);
   return tag;
}

} // namespace ouzel::engine
